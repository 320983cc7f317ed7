// expect: holds
// says: before it has a value
int f(int a) { int r; if (a) r = 1; return a ? r : 0; }
int main(void) { return f(1) - 1; }
