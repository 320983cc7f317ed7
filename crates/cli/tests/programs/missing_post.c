// The consumer never says that a slot is free again.
#include <pthread.h>
#include <semaphore.h>

static sem_t items, slots;

static void *producer(void *arg) {
    for (int i = 0; i < 2; i++) {
        sem_wait(&slots);
        sem_post(&items);
    }
    return arg;
}

static void *consumer(void *arg) {
    for (int i = 0; i < 2; i++)
        sem_wait(&items);
    return arg;
}

int main(void) {
    pthread_t one, two;
    sem_init(&items, 0, 0);
    sem_init(&slots, 0, 1);
    pthread_create(&one, NULL, producer, NULL);
    pthread_create(&two, NULL, consumer, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
