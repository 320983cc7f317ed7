/* Transfers between accounts: each locks both, and all of them in the order of their addresses. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

static struct account alice = {PTHREAD_MUTEX_INITIALIZER, 100};
static struct account bob = {PTHREAD_MUTEX_INITIALIZER, 50};

static bool transfer(struct account *from, struct account *to, long amount) {
    struct account *first = (uintptr_t)from < (uintptr_t)to ? from : to;
    struct account *second = first == from ? to : from;
    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(&second->lock);
    bool covered = from->balance >= amount;
    if (covered) {
        from->balance -= amount;
        to->balance += amount;
    }
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
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
