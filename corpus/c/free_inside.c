// The middle of a block is freed.
// expect: violated memory
// vm: what is wrong is not a matter of threads
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char *p = malloc(4);
    free(p + 1);
    return 0;
}
