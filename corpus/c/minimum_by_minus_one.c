// The one quotient that does not fit.
// expect: violated overflow
// vm: what is wrong is not a matter of threads
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    long small = LONG_MIN, minus_one = -1;
    return (int)(small / minus_one);
    return 0;
}
