// A toy file system with a lock for each file, inode and block, and a disk with one head.
//
// Every block has a bit in the allocation area, and a bit is changed by reading its byte, changing it
// and writing it back, under the lock of the block alone: holders of two locks lose each other's update
// (WW1: blocks 0 and 1; WW2: blocks 1 and 2, since block 0 is taken before). A transfer is a seek and
// then an access at the head, with nothing around them (SEEK: two threads move one head).
//
// expect: violated assertion
// expect -DWW2: violated assertion
// expect -DSEEK: violated race
// expect -DAREA_LOCK: holds
#include "../threads.h"

#ifdef WW2
#define INODES 3
#else
#define INODES 2
#endif
#define BLOCKS INODES

// The disk: the allocation area, a byte for each inode (its block plus one; 0 if it is free), and a byte
// for each block.
enum { AREA = 0, TABLE = 1, DATA = TABLE + INODES, SIZE = DATA + BLOCKS };
static unsigned char disk[SIZE];
static int head;
static pthread_mutex_t drive = PTHREAD_MUTEX_INITIALIZER;

static void seize(pthread_mutex_t *mutex) {
#ifndef SEEK
    pthread_mutex_lock(mutex);
#endif
}
static void let_go(pthread_mutex_t *mutex) {
#ifndef SEEK
    pthread_mutex_unlock(mutex);
#endif
}
static unsigned char disk_read(int at) {
    seize(&drive);
    head = at;
    unsigned char byte = disk[head];
    let_go(&drive);
    return byte;
}
static void disk_write(int at, unsigned char byte) {
    seize(&drive);
    head = at;
    disk[head] = byte;
    let_go(&drive);
}

// Locks that are taken in one procedure and given back in another: a token, and a monitor that guards it.
struct token {
    pthread_mutex_t monitor;
    pthread_cond_t freed;
    int is_taken;
};
static struct token inode_locks[INODES], block_locks[BLOCKS];

static void acquire(struct token *lock) {
    pthread_mutex_lock(&lock->monitor);
    while (lock->is_taken)
        pthread_cond_wait(&lock->freed, &lock->monitor);
    lock->is_taken = 1;
    pthread_mutex_unlock(&lock->monitor);
}
static void release(struct token *lock) {
    pthread_mutex_lock(&lock->monitor);
    lock->is_taken = 0;
    pthread_cond_signal(&lock->freed);
    pthread_mutex_unlock(&lock->monitor);
}

// The allocation area.
#ifdef AREA_LOCK
static struct token area_lock;
#endif
static int allocate_block(int block) {
    acquire(&block_locks[block]);
#ifdef AREA_LOCK
    acquire(&area_lock);
#endif
    unsigned char bits = disk_read(AREA + block / 8);
    int was_free = !(bits >> block % 8 & 1);
    if (was_free)
        disk_write(AREA + block / 8, bits | 1 << block % 8);
#ifdef AREA_LOCK
    release(&area_lock);
#endif
    release(&block_locks[block]);
    return was_free;
}

// Inodes: got with their locks, and put back without.
static unsigned char inode_get(int inode) {
    acquire(&inode_locks[inode]);
    return disk_read(TABLE + inode);
}
static void inode_put(int inode, unsigned char content) {
    disk_write(TABLE + inode, content);
    release(&inode_locks[inode]);
}

// A new file: the first inode that is free, and a block, the first that is free from its own number on.
static int create(int from) {
    for (int inode = from; inode < INODES; inode++) {
        if (inode_get(inode)) {
            release(&inode_locks[inode]);
            continue;
        }
        int block = inode;
        while (block < BLOCKS && !allocate_block(block))
            block++;
        inode_put(inode, block + 1);
        return block;
    }
    return -1;
}

static void *creator(void *first) {
    create((int)(long)first);
    return NULL;
}

int main(void) {
    int from = 0;
#ifdef WW2
    create(0);
    from = 1;
#endif
    pthread_t one, two;
    pthread_create(&one, NULL, creator, (void *)(long)from);
    pthread_create(&two, NULL, creator, (void *)(long)(from + 1));
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    assert(disk[AREA] == (1 << BLOCKS) - 1);
    return 0;
}
