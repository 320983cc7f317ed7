// Numbers by recursion, and a table of functions.
// expect: holds
// vm: what is wrong is not a matter of threads
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
static int factorial(int n) {
    return n < 2 ? 1 : n * factorial(n - 1);
}
static int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
int main(void) {
    int (*table[2])(int) = { factorial, fibonacci };
    assert(table[0](5) == 120);
    assert(table[1](10) == 55);
    return 0;
}
