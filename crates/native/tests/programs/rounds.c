// A loop that waits for `flag`, and what counts its rounds. The number of rounds matters to what
// comes after it: the assertion fails if there were as many as WRONG says, and in no other
// execution. CASE chooses where the number is.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#define AFTER_STORE 1
#define BACK_OFF 2
#define FUNCTION 3
#define SUM 4
#define ARRAY 5
#define NESTED 6
#define FLOATING 7
#define STEP_OF_STRUCT 8
#define TWO_PHASES 9
#define CHANGES 10
#define LATER_READ 11
#define LATE_MARK 12
#define LATE_VOLATILE 13
#define LATE_IN_CALLER 14
#define MODULO 15
#define MODULO_YIELD 16
#define ENDLESS 17
#define ENDLESS_YIELD 18
#define ENDLESS_SWAP 19
#define ENDLESS_DEAD 20
#define HEAP 21
#define OF_THREAD 22
#define TRY_LOCK 23

#ifndef CASE
#define CASE AFTER_STORE
#endif
#ifndef WRONG
#define WRONG 7
#endif

static atomic_int flag, seen, other;

#if CASE == AFTER_STORE
static void *wait_for_it(void *nothing) {
    int k;
    for (k = 0; k < 6 && !flag; k++) sched_yield();
    atomic_store(&other, 1);
    atomic_store(&seen, k);
    return nothing;
}
#elif CASE == BACK_OFF
static void *wait_for_it(void *nothing) {
    int length = 1, k = 0;
    while (length < 64 && !flag) {
        for (int i = 0; i < length; i++) __builtin_ia32_pause();
        length *= 2;
    }
    while (length >>= 1) k++;
    atomic_store(&seen, k);
    return nothing;
}
#elif CASE == FUNCTION
__attribute__((noinline)) static int rounds_until(atomic_int *it, int most) {
    int k = 0;
    while (k < most && !*it) {
        sched_yield();
        k++;
    }
    return k;
}
static void *wait_for_it(void *nothing) {
    int k = rounds_until(&flag, 7);
    atomic_store(&other, 1);
    atomic_store(&seen, k);
    return nothing;
}
#elif CASE == SUM
static void *wait_for_it(void *nothing) {
    int value, sum = 0;
    for (int k = 0; k < 6 && (value = flag) != 2; k++) {
        sum += value;
        sched_yield();
    }
    atomic_store(&seen, sum);
    return nothing;
}
#elif CASE == ARRAY
static void *wait_for_it(void *nothing) {
    int past[8] = {0}, n = 0;
    for (int k = 0; k < 6 && !flag; k++) {
        past[k] = 1;
        sched_yield();
    }
    for (int i = 0; i < 8; i++) n += past[i];
    atomic_store(&seen, n);
    return nothing;
}
#elif CASE == NESTED
static void *wait_for_it(void *nothing) {
    int n = 0;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 4 && flag <= i; k++) {
            n++;
            sched_yield();
        }
    }
    atomic_store(&seen, n);
    return nothing;
}
#elif CASE == FLOATING
static void *wait_for_it(void *nothing) {
    double length = 1;
    int k = 0;
    while (length < 50 && !flag) {
        length *= 1.5;
        sched_yield();
    }
    for (double it = 1; it < length; it *= 1.5) k++;
    atomic_store(&other, 1);
    atomic_store(&seen, k);
    return nothing;
}
#elif CASE == STEP_OF_STRUCT
struct back_off {
    int step;
};
__attribute__((noinline)) static void snooze(struct back_off *it) {
    for (int i = 0; i < 1 << it->step && i < 8; i++) __builtin_ia32_pause();
    if (it->step <= 10) it->step++;
}
static void *wait_for_it(void *nothing) {
    struct back_off it = {0};
    while (!flag && it.step <= 6) snooze(&it);
    atomic_store(&other, 1);
    atomic_store(&seen, it.step);
    return nothing;
}
#elif CASE == TWO_PHASES
static void *wait_for_it(void *nothing) {
    int k = 0;
    while (!flag && k <= 8) {
        if (k < 4) {
            __builtin_ia32_pause();
        } else {
            sched_yield();
        }
        k++;
    }
    atomic_store(&seen, k);
    return nothing;
}
#elif CASE == CHANGES
static void *wait_for_it(void *nothing) {
    // The rounds between the first change and the second.
    int value, n = 0;
    for (int k = 0; k < 8 && (value = flag) != 2; k++) {
        n = value == 1 ? n + 1 : n;
        sched_yield();
    }
    atomic_store(&seen, n);
    return nothing;
}
#elif CASE == LATER_READ
static void *wait_for_it(void *nothing) {
    int k, last = 0;
    for (k = 0; k < 6 && !flag; k++) sched_yield();
    last = atomic_load(&other);
    atomic_store(&seen, last ? k : 0);
    return nothing;
}
#elif CASE == LATE_MARK
static void *wait_for_it(void *nothing) {
    int is_late = 0, value = 0;
    for (int k = 0; k < 100 && !(value = flag); k++) {
        if (k == 70) is_late = 1;
        sched_yield();
    }
    if (value) atomic_store(&seen, is_late ? WRONG : 0);
    return nothing;
}
#elif CASE == LATE_VOLATILE
static void *wait_for_it(void *nothing) {
    volatile int is_late = 0;
    int value = 0;
    for (int k = 0; k < 100 && !(value = flag); k++) {
        if (k == 70) is_late = 1;
        sched_yield();
    }
    if (value) atomic_store(&seen, is_late ? WRONG : 0);
    return nothing;
}
#elif CASE == LATE_IN_CALLER
__attribute__((noinline)) static int comes(int *is_late) {
    int value = 0;
    for (int k = 0; k < 80 && !(value = flag); k++) {
        if (k > 66) *is_late = 1;
        sched_yield();
    }
    return value;
}
static void *wait_for_it(void *nothing) {
    int is_late = 0;
    if (comes(&is_late)) {
        atomic_store(&other, 1);
        if (is_late) atomic_store(&seen, WRONG);
    }
    return nothing;
}
#elif CASE == MODULO || CASE == MODULO_YIELD
static void *wait_for_it(void *nothing) {
    unsigned k = 0;
    while (!flag) {
        k = (k + 1) % 5;
        if (CASE == MODULO_YIELD) sched_yield();
    }
    atomic_store(&seen, k);
    return nothing;
}
#elif CASE == ENDLESS || CASE == ENDLESS_YIELD
static void *wait_for_it(void *nothing) {
    unsigned k = 0;
    while (!flag) {
        k++;
        if (CASE == ENDLESS_YIELD) sched_yield();
    }
    atomic_store(&seen, k);
    return nothing;
}
#elif CASE == ENDLESS_SWAP
static void *wait_for_it(void *nothing) {
    unsigned k = 0;
    int expected = 1;
    while (!atomic_compare_exchange_strong(&flag, &expected, 2)) {
        expected = 1;
        k++;
    }
    atomic_store(&seen, k);
    return nothing;
}
#elif CASE == ENDLESS_DEAD
static void *wait_for_it(void *nothing) {
    // The count only decides how long a round takes.
    unsigned k = 0;
    while (!flag) {
        for (volatile unsigned i = 0; i < k % 3; i++) {
        }
        k++;
    }
    atomic_store(&seen, 1);
    return nothing;
}
#elif CASE == HEAP
static void *wait_for_it(void *nothing) {
    int *k = malloc(sizeof *k);
    for (*k = 0; *k < 6 && !flag; ++*k) sched_yield();
    atomic_store(&other, 1);
    atomic_store(&seen, *k);
    free(k);
    return nothing;
}
#elif CASE == OF_THREAD
static _Thread_local int k;
static void *wait_for_it(void *nothing) {
    for (k = 0; k < 6 && !flag; k++) sched_yield();
    atomic_store(&other, 1);
    atomic_store(&seen, k);
    return nothing;
}
#elif CASE == TRY_LOCK
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *wait_for_it(void *nothing) {
    int k;
    for (k = 0; k < 6 && pthread_mutex_trylock(&mutex); k++) {
    }
    if (k < 6) pthread_mutex_unlock(&mutex);
    atomic_store(&seen, k);
    return nothing;
}
#endif

static void *change(void *nothing) {
#if CASE == TRY_LOCK
    pthread_mutex_lock(&mutex);
    atomic_store(&other, 1);
    pthread_mutex_unlock(&mutex);
#else
    atomic_store(&flag, 1);
    if (CASE == SUM || CASE == NESTED || CASE == CHANGES) atomic_store(&flag, 2);
    if (CASE == LATER_READ) atomic_store(&other, 1);
#endif
    return nothing;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, wait_for_it, 0);
    pthread_create(&b, 0, change, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(atomic_load(&seen) != WRONG);
}
