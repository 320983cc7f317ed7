/* The shape of Linux's reader-writer locks in the benchmarks of CDSChecker and GenMC. */
#include "threads.h"

#define BIAS 0x100000

static atomic_int lock = BIAS;
static int shared;

static void read_lock(void) {
    int before = atomic_fetch_sub(&lock, 1);
    while (before <= 0) {
        atomic_fetch_add(&lock, 1);
        while (atomic_load(&lock) <= 0) {
        }
        before = atomic_fetch_sub(&lock, 1);
    }
}

static void write_lock(void) {
    int before = atomic_fetch_sub(&lock, BIAS);
    while (before != BIAS) {
        atomic_fetch_add(&lock, BIAS);
        while (atomic_load(&lock) != BIAS) {
        }
        before = atomic_fetch_sub(&lock, BIAS);
    }
}

static void *work(void *arg) {
    int seen = 0;
    read_lock();
    seen = shared;
    atomic_fetch_add(&lock, 1);
    write_lock();
    shared = seen + 1;
    atomic_fetch_add(&lock, BIAS);
    return arg;
}

int main(void) { run(2, work); }
