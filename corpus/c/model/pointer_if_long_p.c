// Conversions between pointers and integers keep truth, identity and alignment.
// expect: violated assertion
#include "verifier.h"
int x;
int main(void) {
    int *p = &x;
    if ((long)p)assert(0);
}
