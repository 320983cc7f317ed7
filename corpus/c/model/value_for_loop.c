// expect: holds
// says: !before it has a value
int main(void) { int i, s; s = 0; for (i = 0; i < 3; i++) s += i; return s - 3; }
