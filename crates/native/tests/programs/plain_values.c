// What plain accesses to memory that a lock protects read and write: numbers of all kinds, what is
// copied as a whole, variables of functions that have returned, and blocks that were freed.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct Pair {
    int first;
    double second;
};

struct Bits {
    unsigned low : 4;
    unsigned high : 12;
    int signed_bits : 8;
};

struct Wide {
    long a, b, c, d;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int number = 3;
static signed char small = -1;
static unsigned short ushort_ = 65535;
static float real = 1.5f;
static double large = -0.25;
static int *pointer;
static int target[2];
static struct Pair pair = {1, 0.5}, other = {2, 2.5};
static struct Wide wide = {1, 2, 3, 4}, wider = {5, 6, 7, 8};
static __int128 giant = 1;
static struct Bits bits = {1, 2, 3};
static char text[8] = "abc";
static _Bool flag;
static int *block;
static int *local;
static int written[4];

__attribute__((noinline)) static void set(int *where, int value) { *where = value; }

// The variable is another thread's.
__attribute__((noinline)) static void use_local(void) {
    int mine = 17;
    local = &mine;
    set(&mine, 18);
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    set(local, *local + 1);
    local = NULL;
}

__attribute__((noinline)) static int clobber(int depth) {
    volatile int room[64];
    for (int i = 0; i < 64; i++)
        room[i] = 32514 + depth;
    return room[depth];
}

__attribute__((noinline)) static struct Wide make(long from) {
    struct Wide made = {from, from + 1, from + 2, from + 3};
    return made;
}

static void *thread(void *unused) {
    pthread_mutex_lock(&lock);
    number++;
    small--;
    ushort_++;
    real *= 2;
    large += 1e6;
    pointer = &target[1];
    pair = other;
    memcpy(&wide, &wider, sizeof wide);
    giant = ((__int128)7 << 64) | 9;
    bits.high = 9;
    bits.signed_bits = -2;
    strcpy(text, "xyz");
    flag = !flag;
    block[1] = 5;
    free(block);
    block = NULL;
    memset(written, -1, sizeof written);
    pthread_mutex_unlock(&lock);
    clobber(1);
    pthread_mutex_lock(&lock);
    if (local)
        set(local, *local + 100);
    wide = make(*pointer + 20);
    pthread_mutex_unlock(&lock);
    clobber(2);
    return unused;
}

int main(void) {
    pthread_t one;
    block = calloc(2, sizeof *block);
    pthread_create(&one, NULL, thread, NULL);
    pthread_mutex_lock(&lock);
    use_local();
    int sum = number + small + ushort_ + (int)real + (int)large + pair.first + (int)pair.second;
    sum += (int)wide.a + (int)wide.b + (int)wide.c + (int)wide.d + (int)giant + text[0] + flag;
    sum += bits.low + bits.high + bits.signed_bits + (pointer != NULL) + (block != NULL);
    sum += written[0] + written[3];
    number = sum;
    pthread_mutex_unlock(&lock);
    clobber(3);
    pthread_join(one, NULL);
    assert(number == -1000000);
    return 0;
}
