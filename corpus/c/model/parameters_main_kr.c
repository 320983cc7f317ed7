// A definition with empty parentheses has no parameters, and an old one has those that it declares.
// expect: holds
#include "verifier.h"
main(argc, argv)int argc;
char **argv;
{
    int x = 2;
    assert(argc == 1 && x == 2);
    return 0;
}
