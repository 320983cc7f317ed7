// The greatest number and one more; of an unsigned one, 0.
// expect: violated overflow
// expect -DUNSIGNED: holds
// vm: what is wrong is not a matter of threads
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
#ifdef UNSIGNED
    unsigned big = UINT_MAX;
    assert(big + 1 == 0);
#else
    int big = INT_MAX;
    big++;
#endif
    return 0;
}
