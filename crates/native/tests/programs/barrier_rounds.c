// Threads that meet at a barrier, again and again.
//   -DTHREADS, -DPARTIES, -DROUNDS   how many
//   -DSERIAL                         the last one of a round does something
//   -DRACE                           a round is left out by one thread
#include <assert.h>
#include <pthread.h>

#ifndef THREADS
#define THREADS 4
#endif
#ifndef PARTIES
#define PARTIES THREADS
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif

static pthread_barrier_t barrier;
static int cells[ROUNDS][THREADS], n_serial[ROUNDS];

static void *work(void *argument) {
    long me = (long)argument;
    for (int round = 0; round < ROUNDS; round++) {
        cells[round][me] = round + 1;
#ifdef RACE
        if (me == 0 && round == ROUNDS - 1) return 0;
#endif
#ifdef SERIAL
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) n_serial[round]++;
#else
        pthread_barrier_wait(&barrier);
#endif
        for (int it = 0; it < PARTIES && it < THREADS && PARTIES == THREADS; it++)
            assert(cells[round][it] == round + 1);
    }
    return 0;
}

int main(void) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, 0, PARTIES);
    for (long it = 0; it < THREADS; it++) pthread_create(&threads[it], 0, work, (void *)it);
    for (int it = 0; it < THREADS; it++) pthread_join(threads[it], 0);
#ifdef SERIAL
    for (int round = 0; round < ROUNDS; round++) assert(n_serial[round] == 1);
#endif
    pthread_barrier_destroy(&barrier);
    return 0;
}
