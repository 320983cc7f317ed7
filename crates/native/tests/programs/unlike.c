/* A time that no two executions have in common is kept in some part of the program's state. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int turns;
void *variable, **cell;
_Thread_local void *local;
static pthread_key_t key;

static void keep(void *time) {
    switch (HOW) {
    case 0: variable = time; break;
    case 1: *(cell = malloc(sizeof *cell)) = time; break;
    case 2: local = time; break;
    case 3: pthread_setspecific(key, time);
    }
}

static void *work(void *unused) {
    for (int i = 0; i < 3; i++)
        atomic_exchange(&turns, i);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_key_create(&key, 0);
    keep((void *)__builtin_ia32_rdtsc());
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    return 0;
}
