// expect: holds
// says: before it has a value
int main(void) { int i = 0, s; while (i < 3) { s = i; i++; } return s - 2; }
