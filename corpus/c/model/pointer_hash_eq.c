// Conversions between pointers and integers keep truth, identity and alignment.
// expect: holds
#include "verifier.h"
int x, y;
int main(void) {
    int h = (int)(long)&x;
    h ^= (int)(long)&y;
    assert(h != 0);
    short s = (short)(long)&x;
    (void)s;
    switch ((long)&x) {
        case 0:assert(0);
    }
    while (&x) {
        break;
    }
    for (int *p = &x;p;p = 0);
    assert((&x?1:0));
}
