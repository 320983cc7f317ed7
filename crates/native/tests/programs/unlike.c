/* A number that no two executions have in common is kept in some part of the program's state. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int turns;
void *variable, **cell;
_Thread_local void *local;
static pthread_key_t key;

/* Nobody sees this instruction unless it is marked. */
static void *draw(void) {
    void *number;
    __asm__ volatile("rdrand %0" : "=r"(number));
    return number;
}

static void keep(void *number) {
    switch (HOW) {
    case 0: variable = number; break;
    case 1: *(cell = malloc(sizeof *cell)) = number; break;
    case 2: local = number; break;
    case 3: pthread_setspecific(key, number);
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
    keep(draw());
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    return 0;
}
