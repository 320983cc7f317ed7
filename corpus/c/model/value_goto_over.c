// expect: holds
// says: before it has a value
int main(void) { int s; goto end; s = 1; end: s = s * 0; return s; }
