// A definition with empty parentheses has no parameters, and an old one has those that it declares.
// expect: holds
#include "verifier.h"
struct foo {
    int x;
    int y;
};
struct foo f;
int main() {
    struct foo q = {.x = 42, .y = 42};
    f = q;
    assert(f.x == 42 && f.y == 42);
}
