// A definition with empty parentheses has no parameters, and an old one has those that it declares.
// expect: holds
#include "verifier.h"
int f() {
    int a = 3, b = 4;
    return a+b;
}
void *w() {
    int z = 1;
    int *p = &z;
    *p = 2;
    assert(z == 2);
    return 0;
}
int main() {
    int l = f();
    assert(l == 7);
    assert(f(1, 2) == 7);
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    pthread_join(t, 0);
    int(*g)() = f;
    assert(g() == 7);
    assert(g(9) == 7);
}
