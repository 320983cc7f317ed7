// A definition with empty parentheses has no parameters, and an old one has those that it declares.
// expect: holds
#include "verifier.h"
int f();
int g(void);
int main() {
    int loc = f();
    assert(loc == 1 && g() == 2);
}
int f() {
    int q = 1;
    return q;
}
int g() {
    int r = 2;
    return r;
}
