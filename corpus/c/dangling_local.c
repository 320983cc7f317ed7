// The address of a local outlives its function.
// expect: violated memory
// vm: what is wrong is not a matter of threads
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
static int *escape(void) {
    int local = 1;
    int *address = &local;
    return address;
}
int main(void) {
    int *p = escape();
    return *p;
    return 0;
}
