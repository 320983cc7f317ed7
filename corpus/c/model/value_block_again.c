// expect: holds
// says: before it has a value
int main(void) { int r = 0; for (int i = 0; i < 2; i++) { int s; if (i == 0) s = 0; r += s * 0; } return r; }
