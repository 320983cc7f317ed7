// A shift by the width of the type.
// expect: violated overflow
// vm: what is wrong is not a matter of threads
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    unsigned one = 1, width = 32;
    return (int)(one << width);
    return 0;
}
