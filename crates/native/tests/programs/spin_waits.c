// Loops that wait without a lock, one chosen by WAIT. Each has a mistake to be made by defining
// BROKEN.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define FLAG 1
#define SLEEPING 2
#define VOLATILE 3
#define ON_STACK 4
#define SEQLOCK 5
#define SENSE_BARRIER 6
#define BOUNDED 7
#define NESTED 8
#define BACK_OFF 9
#define RETRIES 10
#define BACK_OFF_LOCK 11
#define GIVE_UP 12
#define COUNT_TRIES 13
#define GIVE_UP_LATE 14
#ifdef BROKEN
#define IS_BROKEN 1
#else
#define IS_BROKEN 0
#endif

static pthread_t start(void *function(void *), void *argument) {
    pthread_t thread;
    pthread_create(&thread, 0, function, argument);
    return thread;
}

#if WAIT == FLAG || WAIT == SLEEPING
static atomic_int flag;
static int message;
static void *send(void *nothing) {
    message = 7;
    if (!IS_BROKEN) atomic_store(&flag, 1);
    return nothing;
}
int main(void) {
    pthread_t sender = start(send, 0);
    while (!atomic_load(&flag)) {
        if (WAIT == SLEEPING) {
            struct timespec soon = {0, 1000};
            nanosleep(&soon, 0);
            usleep(1);
            thrd_yield();
        }
    }
    assert(message == 7);
    pthread_join(sender, 0);
    return 0;
}

#elif WAIT == VOLATILE
static volatile int flag;
static void *send(void *nothing) {
    flag = IS_BROKEN ? 2 : 1;
    return nothing;
}
int main(void) {
    start(send, 0);
    while (flag != 1) __builtin_ia32_pause();
    return 0;
}

#elif WAIT == ON_STACK
struct shared {
    atomic_int count, done;
};
static void *work(void *argument) {
    struct shared *shared = argument;
    int count = atomic_fetch_add(&shared->count, 1);
    if (count == (IS_BROKEN ? 2 : 1)) atomic_store(&shared->done, 1);
    return 0;
}
int main(void) {
    struct shared shared = {0, 0};
    start(work, &shared);
    start(work, &shared);
    while (!atomic_load(&shared.done)) __builtin_ia32_pause();
    assert(atomic_load(&shared.count) == 2);
    return 0;
}

#elif WAIT == SEQLOCK
static atomic_uint version;
static atomic_int left, right;
static void *write_both(void *nothing) {
    for (int i = 1; i <= 2; i++) {
        if (!IS_BROKEN) atomic_fetch_add(&version, 1);
        atomic_store(&left, i);
        atomic_store(&right, i);
        atomic_fetch_add(&version, 1);
    }
    return nothing;
}
int main(void) {
    pthread_t writer = start(write_both, 0);
    unsigned before;
    int l, r;
    do {
        while ((before = atomic_load(&version)) % 2 && !IS_BROKEN) __builtin_ia32_pause();
        l = atomic_load(&left);
        r = atomic_load(&right);
    } while (atomic_load(&version) != before);
    assert(l == r);
    pthread_join(writer, 0);
    return 0;
}

#elif WAIT == SENSE_BARRIER
#define PARTIES 2
static atomic_int missing = PARTIES, sense;
static atomic_int arrived;
static void wait_for_all(int *mine) {
    *mine = !*mine;
    if (atomic_fetch_sub(&missing, 1) == 1) {
        // The other way round, whoever is quick meets the count of the round before.
        if (IS_BROKEN) atomic_store(&sense, *mine);
        atomic_store(&missing, PARTIES);
        if (!IS_BROKEN) atomic_store(&sense, *mine);
    } else {
        while (atomic_load(&sense) != *mine) __builtin_ia32_pause();
    }
}
static void *meet(void *nothing) {
    int mine = 0;
    for (int round = 1; round <= 2; round++) {
        atomic_fetch_add(&arrived, 1);
        wait_for_all(&mine);
        assert(atomic_load(&arrived) >= round * PARTIES);
    }
    return nothing;
}
int main(void) {
    pthread_t other = start(meet, 0);
    meet(0);
    pthread_join(other, 0);
    return 0;
}

#elif WAIT == BOUNDED
// Three tries are three tries: all are shown.
static atomic_int flag;
static void *send(void *nothing) {
    atomic_store(&flag, 1);
    return nothing;
}
int main(void) {
    start(send, 0);
    int tries = 0;
    while (tries < 3 && !atomic_load(&flag)) tries++;
    assert(tries != (IS_BROKEN ? 3 : 4));
    return 0;
}

#elif WAIT == NESTED
// The loop goes on when either of two changes; one of them changes back.
static atomic_int x, y, z;
static void *change(void *nothing) {
    atomic_store(&x, 1);
    atomic_store(&x, 0);
    if (!IS_BROKEN) atomic_store(&y, 1);
    return nothing;
}
int main(void) {
    start(change, 0);
    while (atomic_load(&y) == 0) {
        if (atomic_load(&x) == 1) atomic_store(&z, 1);
    }
    return 0;
}

#elif WAIT == BACK_OFF
// The loop waits longer each time, and so is in another state each time.
static atomic_int flag;
static void *send(void *nothing) {
    if (!IS_BROKEN) atomic_store(&flag, 1);
    return nothing;
}
static void back_off(unsigned *step) {
    for (unsigned i = 0; i < (*step < 6 ? *step : 6); i++) __builtin_ia32_pause();
    if (*step > 6) sched_yield();
    ++*step;
}
int main(void) {
    pthread_t other = start(send, 0);
    unsigned step = 0;
    while (!atomic_load(&flag)) back_off(&step);
    pthread_join(other, 0);
    return 0;
}

#elif WAIT == RETRIES
// Forty tries are forty tries, too.
static atomic_int flag;
static void *send(void *nothing) {
    atomic_store(&flag, 1);
    return nothing;
}
int main(void) {
    start(send, 0);
    int tries = 0;
    while (tries < 40 && !atomic_load(&flag)) tries++;
    assert(tries != (IS_BROKEN ? 40 : 41));
    return 0;
}

#elif WAIT == GIVE_UP
// Ten tries with a rest after each, and then another way: how many there were does not matter.
#include <semaphore.h>
static atomic_int flag;
static sem_t sent;
static void *send(void *nothing) {
    atomic_store(&flag, 1);
    sem_post(&sent);
    return nothing;
}
static int is_there_soon(void) {
    for (volatile int tries = 0; tries < 10; tries++) {
        if (atomic_load(&flag)) return 1;
        if (tries < 3) __builtin_ia32_pause();
        else sched_yield();
    }
    return 0;
}
int main(void) {
    sem_init(&sent, 0, 0);
    pthread_t other = start(send, 0);
    int is_there = is_there_soon();
    if (IS_BROKEN) assert(is_there);
    if (!is_there) sem_wait(&sent);
    assert(atomic_load(&flag) == 1);
    pthread_join(other, 0);
    return 0;
}

#elif WAIT == COUNT_TRIES
// How many tries there were matters.
#ifndef TRIES
#define TRIES 10
#endif
static atomic_int flag;
static void *send(void *nothing) {
    atomic_store(&flag, 1);
    return nothing;
}
int main(void) {
    pthread_t other = start(send, 0);
    int tries;
    for (tries = 0; tries < TRIES; tries++) {
        if (atomic_load(&flag)) break;
        sched_yield();
    }
    if (tries == TRIES - 3) assert(!IS_BROKEN);
    pthread_join(other, 0);
    return 0;
}

#elif WAIT == GIVE_UP_LATE
// Many tries, and then a call: whether it matters how many there were is not found out.
static atomic_int flag;
static void *send(void *nothing) {
    atomic_store(&flag, 1);
    return nothing;
}
int main(void) {
    pthread_t other = start(send, 0);
    for (int tries = 0; tries < 100; tries++) {
        if (atomic_load(&flag)) break;
        sched_yield();
    }
    pthread_join(other, 0);
    assert(atomic_load(&flag) == !IS_BROKEN);
    return 0;
}

#elif WAIT == BACK_OFF_LOCK
// Two reads a round, and what is waited for is a lock.
static atomic_int is_locked, turns;
static int inside;
static void *work(void *nothing) {
    int expected = 0;
    for (volatile int step = 0; !atomic_compare_exchange_strong(&is_locked, &expected, 1); step++) {
        expected = 0;
        if (IS_BROKEN && atomic_load(&turns) == 7) break;
    }
    inside++;
    if (!IS_BROKEN) atomic_load(&turns);
    atomic_store(&turns, 7);
    inside--;
    atomic_store(&is_locked, 0);
    return nothing;
}
int main(void) {
    pthread_t other = start(work, 0);
    work(0);
    pthread_join(other, 0);
    return 0;
}
#endif
