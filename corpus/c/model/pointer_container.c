// Conversions between pointers and integers keep truth, identity and alignment.
// expect: holds
#include "verifier.h"
#include <stddef.h>
struct s {
    int a;
    int b;
};
int main(void) {
    struct s s = {1, 2};
    int *b = &s.b;
    struct s*p = (struct s*)((char *)b-offsetof(struct s, b));
    assert(p->a == 1);
    struct s*q = (struct s*)((uintptr_t)b-4);
    assert(q->a == 1);
}
