/* The program ends with a lock held. Who waits for it then is ended, but may have come first. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void *work(void *unused) {
    pthread_mutex_lock(&mutex);
    assert(x != WRONG);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_mutex_lock(&mutex);
    x = 1;
    return 0;
}
