/* Accesses to memory that is not there, each in another way, by the argument; and none of that. */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int how = -1;
extern char _end[];
#define IF(number) if (how == (number))

static volatile int zero;
static volatile char seen;
char buffer[200];
struct odd {
    char bytes[13];
};
struct odd first_odd, second_odd;
int numbers[5];
static char *shared;
static _Atomic(char *) published;

/* Otherwise a compiler may leave out both an allocation and its end. */
static void *volatile kept;
__attribute__((noinline)) static void *keep(void *block) { return kept = block, kept; }
#define malloc(len) keep(malloc(len))

/* Nobody knows at which place of what. */
__attribute__((noinline)) static void put(char *bytes, long at) { bytes[at + zero] = 1; }
__attribute__((noinline)) static char get(const char *bytes, long at) { return bytes[at + zero]; }

static void *local_of_ended(void *unused) {
    char local[16];
    put(local, 3);
    atomic_store(&published, local);
    (void)unused;
    return 0;
}

__attribute__((noinline)) static void publish_local(void) {
    char local[2000];
    put(local, 3);
    atomic_store(&published, local);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *waits(void *unused) {
    publish_local();
    /* Its frame is gone, and the thread is not. */
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *uses(void *at) {
    seen = get(shared, (long)at);
    return 0;
}

static void *locks(void *unused) {
    pthread_mutex_lock((pthread_mutex_t *)shared);
    pthread_mutex_unlock((pthread_mutex_t *)shared);
    return unused;
}

static void *frees(void *block) {
    free(block);
    return 0;
}

static void *nothing(void *unused) { return unused; }

int main(int argc, char **argv) {
    if (argc > 1)
        how = atoi(argv[1]);
    pthread_t thread;
    char *block = malloc(40);
    memset(block, 1, 40);
    /* On the byte, at both ends. */
    IF(0) put(block, 40);
    IF(1) put(block, -1);
    IF(2) seen = get(block, 47);
    IF(3) seen = get(block, -16);
    /* Far from all blocks. */
    IF(4) put(block, 4000);
    IF(5) put(block, 100000000);
    /* The end of a word, and of a range. */
    IF(6) *(int64_t *)(block + 36 + zero) = 1;
    IF(7) memset(block + zero, 1, 41);
    IF(8) memcpy(block, buffer, 48 + zero);
    IF(9) memmove(buffer, block, 60 + zero);
    /* Blocks of other lengths and from other functions. */
    IF(10) put(malloc(1), 1);
    IF(11) put(malloc(zero), 0);
    IF(12) put(malloc(4096), 4096);
    IF(13) put(malloc(100000), 100000);
    IF(14) put(malloc(5000000), 5000001);
    IF(15) put(calloc(3, 7), 21);
    IF(16) put(aligned_alloc(256, 256), 256);
    IF(17) {
        void *aligned;
        if (posix_memalign(&aligned, 64, 10) == 0)
            put(aligned, 10);
    }
    IF(18) put(realloc(block, 50), 50);
    IF(19) put(reallocarray(block, 5, 5), 25);
    IF(20) put(valloc(100), 100);
    IF(21) {
        char *copy = strdup("123456");
        put(copy, 7);
    }
    IF(22) {
        char *pages = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        put(pages, 8191);
        put(pages, 8192);
    }
    /* Freed, and moved. */
    IF(23) {
        free(block);
        seen = get(block, 39);
    }
    IF(24) {
        char *moved = realloc(block, 41);
        put(moved, 40);
        put(block, 0);
    }
    IF(25) {
        char *pages = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(pages, 4096);
        put(pages, 1);
    }
    IF(26) {
        char *large = malloc(1000000);
        free(large);
        put(large, 500000);
    }
    /* What was freed long ago, with others allocated and freed since. */
    IF(27) {
        free(block);
        for (int i = 0; i < 200; i++)
            free(malloc(40));
        put(block, 0);
    }
    /* Freed, and should not have been. */
    IF(28) {
        free(block);
        free(block);
    }
    IF(29) free(block + 8);
    IF(30) free(block + 16);
    IF(31) free(buffer);
    IF(32) {
        char local[64];
        put(local, 1);
        free(local + zero);
    }
    IF(33) free((void *)"constant");
    IF(34) block = realloc(buffer, 400);
    IF(35) {
        free(block);
        block = realloc(block, 10);
    }
    IF(36) {
        char *pages = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        free(pages);
    }
    IF(37) {
        free(block);
        seen = (char)malloc_usable_size(block);
    }
    /* Stacks. */
    IF(38) {
        pthread_create(&thread, 0, local_of_ended, 0);
        pthread_join(thread, 0);
        seen = get(atomic_load(&published), 3);
    }
    IF(39) {
        pthread_mutex_lock(&mutex);
        pthread_create(&thread, 0, waits, 0);
        char *local = atomic_load(&published);
        if (local)
            put(local, 3);
        pthread_mutex_unlock(&mutex);
        pthread_join(thread, 0);
    }
    /* Variables. */
    IF(40) memset(numbers, 0, sizeof numbers + 4 + zero);
    IF(41) *(int64_t *)((char *)&numbers[4] + zero) = 0;
    IF(42) seen = get(first_odd.bytes, 14) + get(second_odd.bytes, 14);
    /* Another thread frees it, in whatever order: at each end of a block. */
    if (how >= 43 && how <= 45) {
        shared = malloc(300);
        memset(shared, 0, 300);
        pthread_create(&thread, 0, uses, (void *)(how == 43 ? 0L : how == 44 ? 150L : 299L));
        free(shared);
        pthread_join(thread, 0);
    }
    IF(46) {
        shared = malloc(300);
        memset(shared, 0, 300);
        pthread_create(&thread, 0, frees, shared);
        seen = get(shared, 200);
        pthread_join(thread, 0);
    }
    IF(47) {
        pthread_create(&thread, 0, frees, block);
        free(block);
        pthread_join(thread, 0);
    }
    /* Freed while another thread waits for what is in it. */
    IF(48) {
        shared = malloc(sizeof(pthread_mutex_t));
        pthread_mutex_init((pthread_mutex_t *)shared, 0);
        pthread_mutex_lock((pthread_mutex_t *)shared);
        pthread_create(&thread, 0, locks, 0);
        pthread_mutex_unlock((pthread_mutex_t *)shared);
        free(shared);
        pthread_join(thread, 0);
    }
    /* Atomic. */
    IF(49) atomic_fetch_add((atomic_int *)(block + 40 + zero), 1);
    IF(50) atomic_store((atomic_char *)(block + 40 + zero), 1);
    IF(51) {
        free(block);
        seen = (char)atomic_load((atomic_int *)block);
    }
    /* Behind the last variable of all. */
    IF(52) put(_end, 3);
    IF(53) free((void *)(0x123456000 + zero));
    IF(54) put(mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 3);
    /* All that is right. */
    IF(-1) {
        for (long at = 0; at < 40; at++)
            put(block, at);
        block = realloc(block, 4000);
        put(block, 3999);
        block = realloc(block, 10);
        put(block, 9);
        char *large = malloc(300000);
        put(large, 299999);
        memset(large, 0, 300000);
        free(large);
        char *aligned = aligned_alloc(4096, 8192);
        put(aligned, 8191);
        free(aligned);
        if (malloc_usable_size(block) != 10)
            abort();
        free(0);
        free(malloc(0));
        *(int64_t *)(block + 1) = 3;
        memset(numbers, 0, sizeof numbers);
        memset(buffer, 0, sizeof buffer);
        memcpy(&first_odd, &second_odd, sizeof first_odd);
        pthread_create(&thread, 0, nothing, 0);
        pthread_join(thread, 0);
        pthread_create(&thread, 0, frees, block);
        pthread_join(thread, 0);
    }
    return 0;
}
