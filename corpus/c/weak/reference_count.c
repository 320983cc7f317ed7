// The last owner destroys what all have used: giving up an owner releases, and the last one acquires,
// as in Rust's `Arc` and Boost's `shared_ptr`.
// expect: holds
// expect -DNO_ACQUIRE: violated race
// expect -DNO_RELEASE: violated race
#include <pthread.h>
#include <stdatomic.h>
#ifdef NO_RELEASE
#define GIVE memory_order_relaxed
#else
#define GIVE memory_order_release
#endif

static atomic_int owners = 2;
static int data[2];

static void drop(void) {
    if (atomic_fetch_sub_explicit(&owners, 1, GIVE) == 1) {
#ifndef NO_ACQUIRE
        atomic_thread_fence(memory_order_acquire);
#endif
        data[0] = data[1] = -1;
    }
}

static void *work(void *unused) {
    data[1]++;
    drop();
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    data[0]++;
    drop();
    pthread_join(thread, 0);
    return 0;
}
