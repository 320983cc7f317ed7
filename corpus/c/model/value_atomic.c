// expect: holds
// says: !before it has a value
#include <stdatomic.h>
int main(void) { atomic_int n; atomic_init(&n, 1); return atomic_load(&n) - 1; }
