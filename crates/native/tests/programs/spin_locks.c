// Locks that spin, one chosen by LOCK. Each has a mistake to be made by defining BROKEN.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define TEST_AND_SET 1
#define TEST_AND_TEST_AND_SET 2
#define COMPARE_AND_SWAP 3
#define TICKET 4
#define PETERSON 5
#define DEKKER 6
#define MCS 7
#define CLH 8

#ifndef THREADS
#define THREADS 2
#endif

#ifdef BROKEN
#define IS_BROKEN 1
#else
#define IS_BROKEN 0
#endif

#if LOCK == TEST_AND_SET
static atomic_flag locked = ATOMIC_FLAG_INIT;
static void lock(int me) {
    while (atomic_flag_test_and_set(&locked)) __builtin_ia32_pause();
}
static void unlock(int me) {
    atomic_flag_clear(&locked);
    if (IS_BROKEN && me == 1) atomic_flag_test_and_set(&locked);
}

#elif LOCK == TEST_AND_TEST_AND_SET
static atomic_int locked;
static void lock(int me) {
    do {
        while (atomic_load(&locked)) sched_yield();
        if (IS_BROKEN) {
            atomic_store(&locked, 1);
            return;
        }
    } while (atomic_exchange(&locked, 1));
}
static void unlock(int me) { atomic_store(&locked, 0); }

#elif LOCK == COMPARE_AND_SWAP
static atomic_int owner;
static void lock(int me) {
    int nobody = 0;
    while (!atomic_compare_exchange_strong(&owner, &nobody, me + 1)) {
        if (IS_BROKEN && nobody != 1) return;
        nobody = 0;
    }
}
static void unlock(int me) { atomic_store(&owner, 0); }

#elif LOCK == TICKET
static atomic_uint next_ticket, now_serving;
static void lock(int me) {
    unsigned ticket = IS_BROKEN ? atomic_load(&next_ticket) : atomic_fetch_add(&next_ticket, 1);
    if (IS_BROKEN) atomic_store(&next_ticket, ticket + 1);
    while (atomic_load(&now_serving) != ticket) __builtin_ia32_pause();
}
static void unlock(int me) { atomic_fetch_add(&now_serving, 1); }

#elif LOCK == PETERSON
static atomic_int wants[2], turn;
static void lock(int me) {
    atomic_store(&wants[me], 1);
    atomic_store(&turn, IS_BROKEN ? me : 1 - me);
    while (atomic_load(&wants[1 - me]) && atomic_load(&turn) == 1 - me) __builtin_ia32_pause();
}
static void unlock(int me) { atomic_store(&wants[me], 0); }

#elif LOCK == DEKKER
static atomic_int wants[2], turn;
static void lock(int me) {
    atomic_store(&wants[me], 1);
    while (atomic_load(&wants[1 - me])) {
        if (atomic_load(&turn) != me) {
            if (!IS_BROKEN) atomic_store(&wants[me], 0);
            while (atomic_load(&turn) != me) __builtin_ia32_pause();
            atomic_store(&wants[me], 1);
        }
    }
}
static void unlock(int me) {
    atomic_store(&turn, 1 - me);
    atomic_store(&wants[me], 0);
}

#elif LOCK == MCS
struct node {
    _Atomic(struct node *) next;
    atomic_int waits;
};
static _Atomic(struct node *) tail;
static struct node nodes[THREADS];
static void lock(int me) {
    struct node *mine = &nodes[me];
    atomic_store(&mine->next, 0);
    atomic_store(&mine->waits, 1);
    struct node *before = atomic_exchange(&tail, mine);
    if (!before) return;
    atomic_store(&before->next, mine);
    while (atomic_load(&mine->waits)) __builtin_ia32_pause();
}
static void unlock(int me) {
    struct node *mine = &nodes[me], *expected = mine;
    if (!atomic_load(&mine->next)) {
        if (IS_BROKEN) {
            atomic_store(&tail, 0);
            return;
        }
        if (atomic_compare_exchange_strong(&tail, &expected, 0)) return;
        while (!atomic_load(&mine->next)) __builtin_ia32_pause();
    }
    atomic_store(&atomic_load(&mine->next)->waits, 0);
}

#elif LOCK == CLH
struct node {
    atomic_int waits;
};
static struct node nodes[THREADS + 1];
static _Atomic(struct node *) tail = &nodes[THREADS];
static struct node *mine[THREADS];
static void lock(int me) {
    mine[me] = &nodes[me];
    if (!IS_BROKEN) atomic_store(&mine[me]->waits, 1);
    struct node *before = atomic_exchange(&tail, mine[me]);
    while (atomic_load(&before->waits)) __builtin_ia32_pause();
}
static void unlock(int me) { atomic_store(&mine[me]->waits, 0); }
#endif

static int inside;

static void *work(void *number) {
    int me = (int)(long)number;
    lock(me);
    inside++;
    assert(inside == 1);
    inside--;
    unlock(me);
    return 0;
}

int main(void) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    return 0;
}
