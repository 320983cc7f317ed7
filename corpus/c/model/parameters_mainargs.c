// A definition with empty parentheses has no parameters, and an old one has those that it declares.
// expect: holds
#include "verifier.h"
int main(int argc, char **argv) {
    assert(argc == 1);
    assert(argv[0]);
    assert(!argv[1]);
}
