// The smallest number has no opposite.
// expect: violated overflow
// vm: what is wrong is not a matter of threads
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    int small = INT_MIN;
    return -small > 0;
    return 0;
}
