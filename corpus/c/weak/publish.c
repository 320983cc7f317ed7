// A record that is filled and then published by its address, as read-copy-update does.
// expect: holds
// expect -DRELAXED_PUBLISH: violated race
// expect -DRELAXED_READ: violated race
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#ifdef RELAXED_PUBLISH
#define PUBLISH memory_order_relaxed
#else
#define PUBLISH memory_order_release
#endif
#ifdef RELAXED_READ
#define READ memory_order_relaxed
#else
#define READ memory_order_acquire
#endif

static struct record { int a, b; } old = {1, 1}, new;
static _Atomic(struct record *) current = &old;

static void *updater(void *unused) {
    new.a = 2;
    new.b = 2;
    atomic_store_explicit(&current, &new, PUBLISH);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, updater, 0);
    struct record *seen = atomic_load_explicit(&current, READ);
    assert(seen->a == seen->b);
    pthread_join(thread, 0);
    return 0;
}
