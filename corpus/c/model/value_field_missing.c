// expect: holds
// says: before it has a value
struct pair { int a, b; };
int main(void) { struct pair p; p.a = 1; return (p.a + p.b) * 0; }
