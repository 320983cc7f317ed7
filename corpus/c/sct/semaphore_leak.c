// A permit that is not given back where the work turns out to be done already.
// expect: violated deadlock
// expect -DFIXED: holds
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

static sem_t permits;
static atomic_bool is_done;

static void *work(void *unused) {
    sem_wait(&permits);
    if (atomic_exchange(&is_done, true)) {
#ifdef FIXED
        sem_post(&permits);
#endif
        return unused;
    }
    sem_post(&permits);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    sem_init(&permits, 0, 1);
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
