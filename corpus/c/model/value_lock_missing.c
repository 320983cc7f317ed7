// expect: holds
// says: before it has a value
#include <pthread.h>
int main(void) {
    pthread_mutex_t lock;
    pthread_mutex_lock(&lock);
    return 0;
}
