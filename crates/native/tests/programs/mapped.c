/* Two threads lose an update of a counter in memory that `main` has mapped. */

#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LEN 10000

static atomic_int *counter;

static void *raise_it(void *unused)
{
    int seen = atomic_load(counter);
    atomic_store(counter, seen + 1);
    return unused;
}

int main(void)
{
#if defined STATIC
    static atomic_int memory;
    counter = &memory;
#elif defined FROM_FILE
    int file = open("/proc/self/exe", O_RDONLY);
    char *text = mmap(NULL, LEN, PROT_READ, MAP_SHARED, file, 0);
    assert(text != MAP_FAILED && memcmp(text, "\177ELF", 4) == 0);
    close(file);
    char *copy = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
    counter = (atomic_int *)copy;
#else
    counter = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
#endif
    assert(*counter == 0);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, raise_it, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(*counter == 1 || *counter == 2);
#if defined MOVED
    counter = mremap((void *)counter, LEN, 4 * LEN, MREMAP_MAYMOVE);
    assert(counter != MAP_FAILED && *counter != 0 && counter[3 * LEN / 4] == 0);
    madvise((void *)counter, LEN, MADV_DONTNEED);
    assert(*counter == 0 && mprotect((void *)counter, LEN, PROT_READ | PROT_WRITE) == 0);
    munmap((void *)counter, 4 * LEN);
#elif defined UNMAPPED
    munmap((void *)counter, LEN);
    *counter = 1;
#elif defined IN_PART
    munmap((char *)counter + 8192, LEN - 8192);
    *counter = 1;
#elif defined READ_ONLY
    mprotect((void *)counter, LEN, PROT_READ);
#elif defined HIDDEN
    mprotect((void *)counter, LEN, PROT_NONE);
    *counter = 1;
#elif defined SHOWN
    mprotect((char *)counter + 4096, 4096, PROT_NONE);
    *counter = 1;
    mprotect((char *)counter + 4096, 4096, PROT_READ | PROT_WRITE);
    counter[1500] = 1;
#elif defined HUGE
    mmap(NULL, 1L << 40, PROT_NONE, MAP_ANONYMOUS | MAP_PRIVATE | MAP_NORESERVE, -1, 0);
#endif
    return 0;
}
