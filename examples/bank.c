/* Transfers between accounts: each locks the account that pays, then the one that receives. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

static struct account alice = {PTHREAD_MUTEX_INITIALIZER, 100};
static struct account bob = {PTHREAD_MUTEX_INITIALIZER, 50};

static bool transfer(struct account *from, struct account *to, long amount) {
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&to->lock);
    bool covered = from->balance >= amount;
    if (covered) {
        from->balance -= amount;
        to->balance += amount;
    }
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
    return covered;
}

static void *pay_rent(void *unused) {
    transfer(&alice, &bob, 80);
    return unused;
}

static void *pay_back(void *unused) {
    transfer(&bob, &alice, 30);
    return unused;
}

int main(void) {
    pthread_t rent, back;
    pthread_create(&rent, NULL, pay_rent, NULL);
    pthread_create(&back, NULL, pay_back, NULL);
    pthread_join(rent, NULL);
    pthread_join(back, NULL);
    assert(alice.balance + bob.balance == 150);
    return 0;
}
