// Whatever two small numbers are, their sum is no greater than twice the greater one.
// expect: holds
// expect -DWRONG: violated assertion
// vm: what is wrong is not a matter of threads
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
extern _Bool __VERIFIER_nondet_bool(void);
int main(void) {
    unsigned char a = __VERIFIER_nondet_bool() * 3, b = __VERIFIER_nondet_bool() * 2;
#ifdef WRONG
    assert(a + b != 5);
#else
    assert(a + b <= 2 * (a > b ? a : b));
#endif
    return 0;
}
