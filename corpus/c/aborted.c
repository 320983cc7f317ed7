// A program that gives up.
// expect: violated panic
// vm: what is wrong is not a matter of threads
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    abort();
    return 0;
}
