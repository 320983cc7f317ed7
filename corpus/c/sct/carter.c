// Two kinds of users, each counted by a lock of its own; the first in takes the resource, the last
// out gives it back. Whoever takes the resource while it holds its counter can meet another one
// that does it the other way round.
// expect: violated deadlock
// expect -DFIXED: holds
#include <pthread.h>

static pthread_mutex_t counter = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t resource = PTHREAD_MUTEX_INITIALIZER;
static int users;

static void *use_shared(void *unused) {
    pthread_mutex_lock(&counter);
    if (++users == 1) pthread_mutex_lock(&resource);
    users--;
    if (users == 0) pthread_mutex_unlock(&resource);
    pthread_mutex_unlock(&counter);
    return unused;
}

static void *use_alone(void *unused) {
#ifdef FIXED
    pthread_mutex_lock(&counter);
    pthread_mutex_lock(&resource);
#else
    pthread_mutex_lock(&resource);
    pthread_mutex_lock(&counter);
#endif
    users += 0;
    pthread_mutex_unlock(&counter);
    pthread_mutex_unlock(&resource);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, use_shared, 0);
    pthread_create(&threads[1], 0, use_shared, 0);
    pthread_create(&threads[2], 0, use_alone, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
