/* Two threads find a semaphore by its name. EXCLUSIVE lets only the first one make it, and the second
   does not look for its error. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

#ifndef EXCLUSIVE
#define EXCLUSIVE 0
#endif

static int counter;

static void *work(void *argument) {
    sem_t *semaphore = sem_open("/turn", O_CREAT | (EXCLUSIVE ? O_EXCL : 0), 0600, 1);
    sem_wait(semaphore);
    counter++;
    sem_post(semaphore);
    sem_close(semaphore);
    return argument;
}

int main(void) {
    assert(sem_open("/turn", 0) == SEM_FAILED && errno == ENOENT);
    assert(sem_open("/a/b", O_CREAT, 0600, 1) == SEM_FAILED && errno == EINVAL);
    assert(sem_unlink("/turn") == -1 && errno == ENOENT);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert(counter == 2);
    sem_t *semaphore = sem_open("turn", O_CREAT, 0600, 5);
    int value;
    assert(sem_getvalue(semaphore, &value) == 0 && value == 1);
    assert(sem_unlink("/turn") == 0);
    /* It is still there for those who have it open, and the name is free. */
    sem_t *other = sem_open("/turn", O_CREAT | O_EXCL, 0600, 3);
    assert(other != semaphore && sem_getvalue(other, &value) == 0 && value == 3);
    assert(sem_wait(semaphore) == 0 && sem_close(semaphore) == 0);
    assert(sem_close(other) == 0 && sem_unlink("/turn") == 0);
    return 0;
}
