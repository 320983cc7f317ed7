// A definition with empty parentheses has no parameters, and an old one has those that it declares.
// expect: holds
#include "verifier.h"
int n;
int main() {
    int x = n;
    if (n++==0)main();
    assert(x<2);
    return 0;
}
