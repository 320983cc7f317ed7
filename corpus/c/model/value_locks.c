// expect: holds
// says: !before it has a value
#include <pthread.h>
#include <semaphore.h>
int main(void) {
    pthread_mutex_t lock;
    pthread_mutexattr_t kind;
    sem_t room;
    int n;
    pthread_mutexattr_init(&kind);
    pthread_mutex_init(&lock, &kind);
    sem_init(&room, 0, 2);
    sem_getvalue(&room, &n);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return n - 2;
}
