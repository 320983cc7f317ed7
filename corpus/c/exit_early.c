// What comes after the end does not count.
// expect: holds
// vm: what is wrong is not a matter of threads
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    exit(3);
    assert(0);
    return 0;
}
