// expect: holds
// says: !before it has a value
int f(int a) { int r; if (a) r = 1; else r = 2; return r; }
int main(void) { return f(1) - 1; }
