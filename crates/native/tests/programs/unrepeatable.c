// Something that cannot be repeated in every execution, from a function with a name.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CALL
#define CALL socket(AF_INET, SOCK_STREAM, 0)
#endif

static long result;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) void reach_out(void) {
    pthread_mutex_lock(&mutex);
    result = (long)CALL; // The line that is told.
    pthread_mutex_unlock(&mutex);
}

static void *run(void *unused) {
    reach_out();
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, 0);
#ifdef EXPECTED
    assert(EXPECTED);
#endif
    return 0;
}
