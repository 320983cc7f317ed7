/* The file system of POPL 2005, Fig. 7: N threads look for a free block for their inode. */
#include <pthread.h>

#ifndef N
#define N 24
#endif
#define BLOCKS 26
#define INODES 32

static pthread_mutex_t inode_locks[INODES];
static pthread_mutex_t block_locks[BLOCKS];
static int inodes[INODES];
static int busy[BLOCKS];

static void find_block(int inode) {
    for (int block = inode * 2 % BLOCKS;; block = (block + 1) % BLOCKS) {
        pthread_mutex_lock(&block_locks[block]);
        if (!busy[block]) {
            busy[block] = 1;
            inodes[inode] = block + 1;
            pthread_mutex_unlock(&block_locks[block]);
            return;
        }
        pthread_mutex_unlock(&block_locks[block]);
    }
}

static void *create_file(void *argument) {
    int inode = (int)(long)argument % INODES;
    pthread_mutex_lock(&inode_locks[inode]);
    if (inodes[inode] == 0) {
        find_block(inode);
    }
    pthread_mutex_unlock(&inode_locks[inode]);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (long i = 0; i < N; i++) {
        pthread_create(&threads[i], NULL, create_file, (void *)i);
    }
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
