/* C11 threads: mutex and condition variable. */
#include <assert.h>
#include <threads.h>

static mtx_t mutex;
static cnd_t condvar;
static int ready;

static int work(void *unused) {
    (void)unused;
    mtx_lock(&mutex);
    ready = 1;
    cnd_signal(&condvar);
    mtx_unlock(&mutex);
    return 7;
}

int main(void) {
    thrd_t thread;
    int result;
    mtx_init(&mutex, mtx_plain);
    cnd_init(&condvar);
    thrd_create(&thread, work, 0);
    mtx_lock(&mutex);
    while (!ready)
        cnd_wait(&condvar, &mutex);
    mtx_unlock(&mutex);
    thrd_join(thread, &result);
    assert(result == 7);
    return 0;
}
