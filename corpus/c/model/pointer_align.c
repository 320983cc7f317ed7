// Conversions between pointers and integers keep truth, identity and alignment.
// expect: holds
#include "verifier.h"
struct s {
    char c;
    long l;
};
struct s g;
int main(void) {
    int *p = malloc(8);
    assert((uintptr_t)p%8 == 0);
    assert(((uintptr_t)&g&7) == 0);
    assert((uintptr_t)&g.l%8 == 0);
    char a[4];
    assert((uintptr_t)&a[1]-(uintptr_t)&a[0] == 1);
    free(p);
}
