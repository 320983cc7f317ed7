// A timed wait may end without a signal.
// expect: holds
// expect -DSURE: violated assertion
// vm: timeouts are assumed away natively
#include "threads.h"
#include <errno.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
int main(void) {
    struct timespec soon = { 0, 0 };
    pthread_mutex_lock(&lock);
    pthread_mutexattr_t kind;
    (void)kind;
    int result = pthread_cond_timedwait(&never, &lock, &soon);
    pthread_mutex_unlock(&lock);
#ifdef SURE
    assert(result == 0);
#endif
    return 0;
}
