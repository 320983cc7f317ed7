// Nothing is written to.
// expect: violated memory
// vm: what is wrong is not a matter of threads
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    struct { int a, b; } *p = NULL;
    p->b = 1;
    return 0;
}
