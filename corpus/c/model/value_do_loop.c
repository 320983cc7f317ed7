// expect: holds
// says: !before it has a value
int main(void) { int i = 0, s; do { s = i; i++; } while (i < 3); return s - 2; }
