// expect: holds
// says: !before it has a value
int main(void) { int s, a = 1; switch (a) { case 1: s = 1; break; default: s = 2; } return s - 1; }
