// A mutex that is destroyed while somebody has it.
// expect: violated assertion
// vm: misuse
#include "threads.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
    pthread_mutex_lock(&lock);
    pthread_mutex_destroy(&lock);
    return 0;
}
