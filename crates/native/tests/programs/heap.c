/* Every thread allocates, frees and is given memory by others. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic(int *) slot;

static void *work(void *number) {
    int *mine = malloc(sizeof *mine);
    *mine = (int)(long)number;
    int *other = atomic_exchange(&slot, mine);
    if (other) {
        assert(*other == 1 || *other == 2);
        free(other);
    }
    char *more = calloc(10, 10);
    assert(more[99] == 0);
    memset(more, 1, 100);
    more = realloc(more, 1000);
    assert(more[99] == 1);
    free(more);
    int *again = malloc(sizeof *again);
    *again = 3;
    free(again);
    return 0;
}

int main(void) {
    pthread_t one, two;
    void *aligned;
    assert(posix_memalign(&aligned, 256, 10) == 0 && (unsigned long)aligned % 256 == 0);
    free(aligned);
    pthread_create(&one, 0, work, (void *)1);
    pthread_create(&two, 0, work, (void *)2);
    pthread_join(one, 0);
    pthread_join(two, 0);
    free(atomic_load(&slot));
    return 0;
}
