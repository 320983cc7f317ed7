// expect: holds
// says: !before it has a value
int main(void) { int r; return __builtin_add_overflow(1, 2, &r) + r - 3; }
