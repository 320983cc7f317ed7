/* Whether a thread has ended is looked at. SURE takes it for granted that it has. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#ifndef SURE
#define SURE 0
#endif
#ifndef TIMED
#define TIMED 0
#endif

static atomic_int done;
static int plain;

static void *work(void *argument) {
    atomic_store(&done, 1);
    plain = 1;
    return argument;
}

int main(void) {
    pthread_t thread;
    void *result = NULL;
    pthread_create(&thread, NULL, work, &plain);
    int was_done = atomic_load(&done);
    struct timespec until = {0, 0};
    int error = TIMED ? pthread_timedjoin_np(thread, &result, &until)
                      : pthread_tryjoin_np(thread, &result);
    if (SURE && was_done) assert(error == 0);
    if (error == 0) {
        assert(result == &plain && plain == 1 && atomic_load(&done) == 1);
    } else {
        assert(error == (TIMED ? ETIMEDOUT : EBUSY) && result == NULL);
        assert(pthread_join(thread, &result) == 0);
    }
    char name[16];
    assert(pthread_setname_np(pthread_self(), "first") == 0);
    assert(pthread_getname_np(pthread_self(), name, 16) == 0 && strcmp(name, "first") == 0);
    assert(pthread_getname_np(pthread_self(), name, 3) == ERANGE);
    return 0;
}
