// A division by a number that may be 0.
// expect: violated panic
// vm: what is wrong is not a matter of threads
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    int zero = 0;
    return 1 / zero;
    return 0;
}
