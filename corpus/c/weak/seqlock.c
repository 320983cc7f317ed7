// Two words behind a sequence number that is odd while they are written (Boehm, MSPC 2012). Without
// the fences, a reader may see one of them new and one old, with the same number before and after.
// expect: holds
// expect -DNO_WRITER_FENCE: violated assertion
// expect -DNO_READER_FENCE: violated assertion
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int number, left, right;

static void *writer(void *unused) {
    int now = atomic_load_explicit(&number, memory_order_relaxed);
    atomic_store_explicit(&number, now + 1, memory_order_relaxed);
#ifndef NO_WRITER_FENCE
    atomic_thread_fence(memory_order_release);
#endif
    atomic_store_explicit(&left, 1, memory_order_relaxed);
    atomic_store_explicit(&right, 1, memory_order_relaxed);
    atomic_store_explicit(&number, now + 2, memory_order_release);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    int before = atomic_load_explicit(&number, memory_order_acquire);
    int one = atomic_load_explicit(&left, memory_order_relaxed);
    int other = atomic_load_explicit(&right, memory_order_relaxed);
#ifndef NO_READER_FENCE
    atomic_thread_fence(memory_order_acquire);
#endif
    int after = atomic_load_explicit(&number, memory_order_relaxed);
    if (before == after && before % 2 == 0)
        assert(one == other);
    pthread_join(thread, 0);
    return 0;
}
