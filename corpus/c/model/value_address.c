// expect: holds
// says: before it has a value
static void set(int *to) { *to = 1; }
int main(void) { int s; set(&s); return s - 1; }
