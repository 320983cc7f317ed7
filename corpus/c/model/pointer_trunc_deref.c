// Conversions between pointers and integers keep truth, identity and alignment.
// expect: violated memory
#include "verifier.h"
int main(void) {
    int x = 1;
    int n = (int)(long)&x;
    int *p = (int *)(long)n;
    return *p;
}
