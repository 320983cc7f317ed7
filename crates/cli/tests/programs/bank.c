// Two transfers take the locks of two accounts in two orders.
#include <pthread.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};

static struct account accounts[2] = {
    {PTHREAD_MUTEX_INITIALIZER, 10},
    {PTHREAD_MUTEX_INITIALIZER, 10},
};

static void transfer(struct account *from, struct account *to, int amount) {
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&to->lock);
    from->balance -= amount;
    to->balance += amount;
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

static void *payer(void *arg) {
    transfer(&accounts[0], &accounts[1], 5);
    return arg;
}

static void *refunder(void *arg) {
    transfer(&accounts[1], &accounts[0], 3);
    return arg;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, payer, NULL);
    pthread_create(&two, NULL, refunder, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
