// A transfer looks at the balance, lets the lock go, and books on what it saw.
// expect: violated assertion
// expect -DFIXED: holds
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int balance = 10;

static void *withdraw(void *amount) {
    pthread_mutex_lock(&mutex);
    int seen = balance;
#ifndef FIXED
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex);
#endif
    if (seen >= (int)(long)amount) balance -= (int)(long)amount;
    pthread_mutex_unlock(&mutex);
    return 0;
}

static void *deposit(void *amount) {
    pthread_mutex_lock(&mutex);
    balance += (int)(long)amount;
    pthread_mutex_unlock(&mutex);
    return 0;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, withdraw, (void *)8L);
    pthread_create(&threads[1], 0, withdraw, (void *)7L);
    pthread_create(&threads[2], 0, deposit, (void *)1L);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    assert(balance >= 0);
    return 0;
}
