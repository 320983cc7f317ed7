/* A barrier for all threads of the process, by the system call or by protecting a page: an asymmetric
 * version of Dekker's algorithm. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define QUERY 0
#define PRIVATE_EXPEDITED 8
#define REGISTER_PRIVATE_EXPEDITED 16

static atomic_int want[2];
static int inside;
static void *page;

static void heavy_barrier(void) {
#ifdef BY_PAGE
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
    atomic_fetch_add((atomic_int *)page, 1);
    mprotect(page, 4096, PROT_NONE);
#else
    assert(syscall(SYS_membarrier, PRIVATE_EXPEDITED, 0, 0) == 0);
#endif
}

static void *seldom(void *unused) {
    atomic_store(&want[0], 1);
    heavy_barrier();
    if (!atomic_load(&want[1]))
        inside++;
    return unused;
}

static void *often(void *unused) {
    atomic_store(&want[1], 1);
    atomic_signal_fence(memory_order_seq_cst);
    if (!atomic_load(&want[0]))
        inside++;
    return unused;
}

int main(void) {
    page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long known = syscall(SYS_membarrier, QUERY, 0, 0);
    assert(known & PRIVATE_EXPEDITED && known & REGISTER_PRIVATE_EXPEDITED);
    assert(syscall(SYS_membarrier, REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0);
    assert(syscall(SYS_membarrier, 1 << 30, 0, 0) == -1);
    pthread_t one, two;
    pthread_create(&one, 0, seldom, 0);
    pthread_create(&two, 0, often, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(inside < 2);
    return 0;
}
