// Conversions between pointers and integers keep truth, identity and alignment.
// expect: violated memory
#include "verifier.h"
int main(void) {
    int *p = (int *)-1;
    return *p;
}
