// A thread is started before what it needs is there.
#include <pthread.h>
#include <stdatomic.h>

struct config {
    int level;
};

static _Atomic(struct config *) current;
static struct config initial = {3};

static void *user(void *arg) {
    struct config *config = atomic_load(&current);
    return config->level > 0 ? arg : NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, user, NULL);
    atomic_store(&current, &initial);
    pthread_join(thread, NULL);
    return 0;
}
