// What was freed is freed again.
// expect: violated memory
// vm: what is wrong is not a matter of threads
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    int *p = malloc(sizeof *p), *q = p;
    free(p);
    free(q);
    return 0;
}
