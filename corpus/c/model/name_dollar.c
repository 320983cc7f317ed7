// Names have all characters that the compiler allows.
// expect: holds
#include "verifier.h"
#define a$m 3
struct s$t {
    int f$1;
};
_Bool main$tmp;
static int $(int x$) {
    return x$;
}
int main(void) {
    struct s$t v = {.f$1 = a$m};
    int $x = v.f$1;
    goto l$;
    assert(0);
    l$:assert($x == 3);
    assert($(2) == 2);
    assert(sizeof(__func__) == 5);
    return main$tmp;
}
