// An index that is one too far.
// expect: violated memory
// expect -DFIXED: holds
// vm: what is wrong is not a matter of threads
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
static int numbers[4];
int main(void) {
#ifdef FIXED
    for (int i = 0; i < 4; i++)
#else
    for (int i = 0; i <= 4; i++)
#endif
        numbers[i] = i;
    return 0;
}
