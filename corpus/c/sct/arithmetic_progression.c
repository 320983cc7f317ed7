// One thread offers 1, 2, 3, the other adds them up. One of the offers is not told, and both may
// sleep.
// expect: violated deadlock
// expect -DFIXED: holds
#include <assert.h>
#include <pthread.h>

#define N 3

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int offered, total;

static void *offer(void *unused) {
    for (int i = 1; i <= N; i++) {
        pthread_mutex_lock(&mutex);
        while (offered) pthread_cond_wait(&changed, &mutex);
        offered = i;
#ifdef FIXED
        pthread_cond_signal(&changed);
#else
        if (i != 2) pthread_cond_signal(&changed);
#endif
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void *add(void *unused) {
    for (int i = 1; i <= N; i++) {
        pthread_mutex_lock(&mutex);
        while (!offered) pthread_cond_wait(&changed, &mutex);
        total += offered;
        offered = 0;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, offer, 0);
    pthread_create(&two, 0, add, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(total == N * (N + 1) / 2);
    return 0;
}
