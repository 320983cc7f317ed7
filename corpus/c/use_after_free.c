// What was freed is read.
// expect: violated memory
// vm: what is wrong is not a matter of threads
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    int *p = malloc(sizeof *p);
    *p = 1;
    free(p);
    return *p;
    return 0;
}
