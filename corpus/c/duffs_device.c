// A loop that is entered in its middle.
// expect: holds
// vm: what is wrong is not a matter of threads
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    int n = 7, sum = 0;
    switch (n % 4) {
    case 0:
        do {
            sum++;
    case 3:
            sum++;
    case 2:
            sum++;
    case 1:
            sum++;
        } while ((n -= 4) > 0);
    }
    assert(sum == 7);
    return 0;
}
