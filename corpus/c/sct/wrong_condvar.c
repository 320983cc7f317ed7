// A handshake over two condition variables; the answer goes to the wrong one.
// expect: violated deadlock
// expect -DFIXED: holds
#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER, answered = PTHREAD_COND_INITIALIZER;
static bool question, answer;

static void *ask(void *unused) {
    pthread_mutex_lock(&mutex);
    question = true;
    pthread_cond_signal(&asked);
    while (!answer) pthread_cond_wait(&answered, &mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *reply(void *unused) {
    pthread_mutex_lock(&mutex);
    while (!question) pthread_cond_wait(&asked, &mutex);
    answer = true;
#ifdef FIXED
    pthread_cond_signal(&answered);
#else
    pthread_cond_signal(&asked);
#endif
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, ask, 0);
    pthread_create(&two, 0, reply, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
