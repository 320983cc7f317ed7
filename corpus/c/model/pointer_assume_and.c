// Conversions between pointers and integers keep truth, identity and alignment.
// expect: violated assertion
#include "verifier.h"
struct n {
    struct n*next;
};
int main(void) {
    struct n*p = malloc(sizeof*p);
    p->next = 0;
    __VERIFIER_assume(p && !p->next);
    assert(p->next);
}
