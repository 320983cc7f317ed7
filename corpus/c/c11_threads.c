// Threads, mutexes and condition variables under the names of C11.
// expect: holds
// vm: the names of C11 are not wrapped natively
#include <assert.h>
#include <threads.h>

static mtx_t lock;
static cnd_t ready;
static int value;
static int produce(void *unused) {
    mtx_lock(&lock);
    value = 42;
    cnd_signal(&ready);
    mtx_unlock(&lock);
    return 7;
}
int main(void) {
    thrd_t one;
    int result;
    mtx_init(&lock, mtx_plain);
    cnd_init(&ready);
    thrd_create(&one, produce, NULL);
    mtx_lock(&lock);
    while (value == 0)
        cnd_wait(&ready, &lock);
    mtx_unlock(&lock);
    thrd_join(one, &result);
    assert(value == 42 && result == 7);
    return 0;
}
