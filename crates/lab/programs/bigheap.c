/* A heap of N megabytes, touched at the start; two threads then write a little of it, ROUNDS
 * times each: (2 ROUNDS)! / (ROUNDS!)^2 traces. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef N
#define N 16
#endif
#define LEN ((size_t)N << 20)
#ifndef ROUNDS
#define ROUNDS 8
#endif
#define PAGE 4096
#define STRIDE (LEN / PAGE / (2 * ROUNDS) * PAGE)

static unsigned char *heap;
static atomic_int next_page;

static void *write_some(void *argument) {
    for (int round = 0; round < ROUNDS; round++) {
        size_t page = atomic_fetch_add(&next_page, 1);
        heap[page * STRIDE] += (unsigned char)(long)argument;
    }
    return NULL;
}

int main(void) {
    heap = malloc(LEN);
    for (size_t at = 0; at < LEN; at += 64) {
        heap[at] = 1;
    }
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, write_some, (void *)(i + 1));
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    int sum = 0;
    for (int round = 0; round < 2 * ROUNDS; round++) {
        sum += heap[round * STRIDE];
    }
    assert(sum == 2 * ROUNDS + ROUNDS * 3);
    free(heap);
    return 0;
}
