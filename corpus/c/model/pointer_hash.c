// Conversions between pointers and integers keep truth, identity and alignment.
// expect: holds
#include "verifier.h"
int tab[8];
int main(void) {
    int *p = malloc(4), *q = malloc(4);
    tab[((uintptr_t)p>>4)%8] = 1;
    assert(tab[((uintptr_t)p>>4)%8] == 1);
    free(p);
    free(q);
}
