// expect: holds
// says: before it has a value
int main(void) { int s, a = 1; if (a || (s = 2)) return 0; return s; }
int other(void) { int s, a = 1; return a && (s = 1) ? 0 : s; }
