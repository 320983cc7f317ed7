/* One thread frees what another one still reads. */
#include <pthread.h>
#include <stdlib.h>

static int *shared;
int seen;

static void *reader(void *unused) {
    seen = *shared;
    return unused;
}

int main(void) {
    pthread_t thread;
    shared = malloc(sizeof *shared);
    *shared = 1;
    pthread_create(&thread, 0, reader, 0);
    free(shared);
    pthread_join(thread, 0);
    return 0;
}
