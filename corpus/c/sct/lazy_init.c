// Whoever comes first makes the object: looked at with the lock, made after letting it go.
// expect: violated assertion
// expect -DFIXED: holds
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool is_made;
static int n_made;

static void *get(void *unused) {
    pthread_mutex_lock(&mutex);
    bool needed = !is_made;
#ifndef FIXED
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex);
#endif
    if (needed) {
        n_made++;
        is_made = true;
    }
    assert(n_made == 1);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, get, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
