// What belongs to a thread is handed to its destructor.
// expect: holds
// vm: destructors
#include "threads.h"

static pthread_key_t key;
static atomic_int destroyed;
static void destroy(void *value) {
    destroyed += (int)(long)value;
}
static void *work(void *unused) {
    pthread_setspecific(key, (void *)1);
    assert(pthread_getspecific(key) == (void *)1);
    return unused;
}
int main(void) {
    pthread_key_create(&key, destroy);
    together(work, work);
    assert(destroyed == 2);
    assert(pthread_getspecific(key) == NULL);
    return 0;
}
