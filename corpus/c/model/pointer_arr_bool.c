// Conversions between pointers and integers keep truth, identity and alignment.
// expect: holds
#include "verifier.h"
int a[3];
int main(void) {
    if (!a)assert(0);
    char *s = "x";
    assert(s);
    if (s && a)return 0;
    assert(0);
}
