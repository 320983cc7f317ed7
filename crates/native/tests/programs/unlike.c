/* An address that no two executions have in common is kept in some part of the program's state. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

static atomic_int turns;
void *variable, **cell;
_Thread_local void *local;
static pthread_key_t key;

static void keep(void *address) {
    switch (HOW) {
    case 0: variable = address; break;
    case 1: *(cell = malloc(sizeof *cell)) = address; break;
    case 2: local = address; break;
    case 3: pthread_setspecific(key, address);
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
    keep(mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    return 0;
}
