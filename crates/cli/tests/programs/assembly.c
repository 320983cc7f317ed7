/* Instructions that no callback goes with, each kind by itself (HOW). */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>

static int x, y, seen = 5;
static int lock, counter;
static struct {
    uint64_t low, high;
} __attribute__((aligned(16))) wide;
static uint64_t bits[4];
static char from[64], to[64];

static inline int load(const int *p) {
    int value;
    __asm__ volatile("movl %1, %0" : "=r"(value) : "m"(*p) : "memory");
    return value;
}

static inline void store(int *p, int value) {
    __asm__ volatile("movl %1, %0" : "=m"(*p) : "ir"(value) : "memory");
}

static inline int exchange(int *p, int value) {
    __asm__ volatile("xchgl %0, %1" : "+r"(value), "+m"(*p) : : "memory");
    return value;
}

static inline int add(int *p, int value) {
    __asm__ volatile("lock; xaddl %0, %1" : "+r"(value), "+m"(*p) : : "memory");
    return value;
}

static inline int compare_and_swap(int *p, int old, int new) {
    __asm__ volatile("lock; cmpxchgl %2, %1" : "+a"(old), "+m"(*p) : "r"(new) : "memory");
    return old;
}

static inline int set_bit(uint64_t *p, long number) {
    unsigned char was;
    __asm__ volatile("lock; btsq %2, %0; setc %1" : "+m"(*p), "=q"(was) : "r"(number) : "memory", "cc");
    return was;
}

static inline int swap_wide(void *p, uint64_t old_low, uint64_t old_high, uint64_t low, uint64_t high) {
    unsigned char done;
    __asm__ volatile("lock; cmpxchg16b %0; sete %1"
                     : "+m"(*(__int128 *)p), "=q"(done), "+a"(old_low), "+d"(old_high)
                     : "b"(low), "c"(high)
                     : "memory", "cc");
    return done;
}

static inline long system_call(long number, long a, long b, long c, long d) {
    long result;
    register long fourth __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
}

__attribute__((no_sanitize("thread"), noinline)) static int unseen_load(volatile int *p) {
    return *p;
}

__attribute__((no_sanitize("thread"), noinline)) static void unseen_store(volatile int *p, int v) {
    *p = v;
}

__attribute__((no_sanitize("thread"), noinline)) static void unseen_increment(int *p) { ++*p; }

__attribute__((no_sanitize("thread"), noinline)) static void unseen_wait(volatile int *p) {
    while (!*p)
        ;
}

static void acquire(void) {
    while (exchange(&lock, 1))
        while (load(&lock))
            __asm__ volatile("pause");
}

static void release(void) { store(&lock, 0); }

static void *work(void *number) {
    long me = (long)number;
    (void)me;
#if HOW == 0 /* A lost update. */
    store(&x, load(&x) + 1);
#elif HOW == 1 /* A lost update in one instruction. */
    __asm__ volatile("incl %0" : "+m"(x) : : "memory");
#elif HOW == 2 /* None, with a lock. */
    __asm__ volatile("lock; incl %0" : "+m"(x) : : "memory");
#elif HOW == 3
    add(&x, 1);
#elif HOW == 4
    for (int old = load(&x), now; (now = compare_and_swap(&x, old, old + 1)) != old;)
        old = now;
#elif HOW == 5 /* A spin lock, and what it protects. */
    acquire();
    x++;
    release();
#elif HOW == 6 /* The same, and it protects nothing. */
    x++;
#elif HOW == 7 /* A ticket lock. */
    int mine = add(&lock, 1);
    while (load(&counter) != mine)
        __asm__ volatile("pause" : : : "memory");
    x++;
    store(&counter, mine + 1);
#elif HOW == 8 /* Whoever sets the bit first, which is in the third word. */
    if (!set_bit(bits, 130))
        x += 2;
#elif HOW == 9
    if (swap_wide(&wide, 0, 0, me + 1, me + 1))
        x += 2;
#elif HOW == 10 /* Functions that are not instrumented. */
    unseen_store(&x, unseen_load(&x) + 1);
#elif HOW == 11
    unseen_increment(&x);
#elif HOW == 12 /* A message. */
    if (me == 0) {
        y = 2;
        store(&lock, 1);
    } else {
        while (!load(&lock))
            ;
        x = y;
    }
#elif HOW == 13
    if (me == 0) {
        y = 2;
        unseen_store(&lock, 1);
    } else {
        unseen_wait(&lock);
        x = y;
    }
#elif HOW == 14 /* Nobody sends it. */
    if (me == 1)
        while (!load(&lock))
            ;
    add(&x, 1);
#elif HOW == 15 /* Nothing that others could see. */
    unsigned a = 0, b, c = 0, d;
    __asm__ volatile("" : : : "memory");
    __asm__ volatile("nop; mfence; lfence; sfence; pause" : : : "memory");
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    unsigned low, high, again;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    __asm__ volatile("rdtscp" : "=a"(again), "=d"(high) : : "ecx");
    assert(again >= low);
    int local = 3;
    __asm__ volatile("addl $4, %0" : "+m"(local));
    assert(local == 7);
    add(&x, 1);
#elif HOW == 16 /* Copies a string. */
    const void *source = from;
    void *target = to;
    unsigned long count = sizeof to;
    __asm__ volatile("rep movsb" : "+S"(source), "+D"(target), "+c"(count) : : "memory");
#elif HOW == 17 /* Asks the kernel who it is. */
    assert(system_call(SYS_getpid, 0, 0, 0, 0) > 0);
    assert(system_call(SYS_futex, (long)&lock, FUTEX_WAIT, 1, 0) == -EAGAIN);
    add(&x, 1);
#elif HOW == 18 /* Sleeps until it is woken. */
    if (me == 0) {
        add(&x, 2);
        store(&lock, 1);
        system_call(SYS_futex, (long)&lock, FUTEX_WAKE, 1, 0);
    } else {
        while (!load(&lock))
            system_call(SYS_futex, (long)&lock, FUTEX_WAIT, 0, 0);
    }
#elif HOW == 19 /* Sleeps, and is not woken. */
    if (me == 1)
        system_call(SYS_futex, (long)&lock, FUTEX_WAIT, 0, 0);
#elif HOW == 20 /* Sleeps in the kernel. */
    system_call(SYS_pause, 0, 0, 0, 0);
#elif HOW == 21 /* Reads what others write in C. */
    if (me == 0)
        x = 2;
    else
        seen = load(&x);
#elif HOW == 22 /* What is about caches is no access. */
    if (me == 0)
        x = 2;
    else
        __asm__ volatile("prefetcht0 %0\n\tclflush %0" ::"m"(x));
#elif HOW == 23 /* A function that nothing says to be one. */
    void outside(int *);
    outside(&x);
#endif
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(x == 2);
    return 0;
}

#if HOW == 23
__asm__(".text\noutside: incl (%rdi); ret\n");
#endif
