// Names have all characters that the compiler allows.
// expect: holds
#include "verifier.h"
int f(void) {
    return 1;
}
int(*g)(void) = f;
void h(void) {
}
void(*k)(void) = h;
int main(void) {
    k();
    assert(g() == 1);
}
