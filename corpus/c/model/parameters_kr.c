// A definition with empty parentheses has no parameters, and an old one has those that it declares.
// expect: holds
#include "verifier.h"
int f(a, p, c)int a;
char *p;
char c;
{
    return *p == c?a:0;
}
int g(x) {
    return x+1;
}
long h(l)long l;
{
    return l;
}
int main() {
    char c = 7;
    assert(f(5, &c, 7) == 5);
    assert(g(2) == 3);
    assert(h(1L<<40) == 1L<<40);
}
