// expect: holds
// says: !before it has a value
int main(void) { int s, a = 1; if (a) goto one; s = 2; goto end; one: s = 1; end: return s - 1; }
