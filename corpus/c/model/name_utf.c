// Names have all characters that the compiler allows.
// expect: holds
#include "verifier.h"
int größe;
int main(void) {
    größe = 1;
    assert(größe == 1);
}
