// Thread-specific storage under the names of C11: destructors run where a thread returns or exits.
// expect: holds
// expect -DKEPT: violated assertion
// vm: destructors
#include "threads.h"
#include <stdlib.h>
#include <threads.h>

static tss_t key;
static atomic_int destroyed;
static void destroy(void *value) {
    destroyed += *(int *)value;
    free(value);
}
static int work(void *how) {
    int *value = malloc(sizeof *value);
    *value = 1;
    assert(tss_get(key) == NULL);
    assert(tss_set(key, value) == thrd_success);
    assert(tss_get(key) == value);
    if (how)
        thrd_exit(7);
    return 7;
}
int main(void) {
    thrd_t one, two;
    int first, second;
#ifdef KEPT
    assert(tss_create(&key, NULL) == thrd_success);
#else
    assert(tss_create(&key, destroy) == thrd_success);
#endif
    thrd_create(&one, work, NULL);
    thrd_create(&two, work, &key);
    thrd_join(one, &first);
    thrd_join(two, &second);
    assert(first == 7 && second == 7);
    assert(destroyed == 2);
    tss_delete(key);
    return 0;
}
