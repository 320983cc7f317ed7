// A string constant is written to.
// expect: violated memory
// vm: what is wrong is not a matter of threads
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char *text = "constant";
    text[0] = 'K';
    return 0;
}
