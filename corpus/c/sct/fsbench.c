// Threads create files: an inode, and the first free block from a place that depends on it. With
// more threads than blocks somebody looks beyond the end.
// expect: violated assertion
// expect -DTHREADS=2: holds
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

#ifndef THREADS
#define THREADS 4
#endif
#define INODES 4
#define BLOCKS 3

static pthread_mutex_t inode_locks[INODES], block_locks[BLOCKS];
static int inodes[INODES];
static bool busy[BLOCKS];

static void *create(void *number) {
    int inode = (int)(long)number % INODES;
    pthread_mutex_lock(&inode_locks[inode]);
    if (!inodes[inode]) {
        int block = inode % 2;
        for (;;) {
            assert(block < BLOCKS);
            pthread_mutex_lock(&block_locks[block]);
            if (!busy[block]) {
                busy[block] = true;
                inodes[inode] = block + 1;
                pthread_mutex_unlock(&block_locks[block]);
                break;
            }
            pthread_mutex_unlock(&block_locks[block]);
            block++;
        }
    }
    pthread_mutex_unlock(&inode_locks[inode]);
    return 0;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < INODES; i++) pthread_mutex_init(&inode_locks[i], 0);
    for (int i = 0; i < BLOCKS; i++) pthread_mutex_init(&block_locks[i], 0);
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, create, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    return 0;
}
