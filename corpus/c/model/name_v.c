// Names have all characters that the compiler allows.
// expect: violated assertion
#include "verifier.h"
int a$b;
int main(void) {
    assert(a$b == 1);
}
