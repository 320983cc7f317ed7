// A number is called.
// expect: violated memory
// vm: what is wrong is not a matter of threads
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    void (*f)(void) = (void (*)(void))1234;
    f();
    return 0;
}
