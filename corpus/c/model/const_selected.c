// A selection by type tells what pointers to `const` and to others are.
// expect: holds
#include <assert.h>
int k, a[2];
const int c = 1;
typedef const int number;
int main(void) {
    const int *p = &k;
    int *const q = &k;
    assert(_Generic(&k, const int *: 1, int *: 2) == 2);
    assert(_Generic(&c, const int *: 1, int *: 2) == 1);
    assert(_Generic(p, int *: 2, const int *: 1) == 1);
    assert(_Generic(q, const int *: 1, int *: 2) == 2);
    assert(_Generic(&p, int **: 2, const int **: 1) == 1);
    assert(_Generic((number *)0, int *: 2, number *: 1) == 1);
    assert(_Generic(c, int: 1, default: 2) == 1);
    assert(_Generic(a, const int *: 1, int *: 2) == 2);
    p = c ? &c : &k;
    return *p - 1;
}
