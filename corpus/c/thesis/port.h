// Ports of a message-passing runtime: messages wait in a port until somebody takes them.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { CAPACITY = 16 };

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t posted;
    int n_messages;
    int messages[CAPACITY];
} port;

#define PORT {.lock = PTHREAD_MUTEX_INITIALIZER, .posted = PTHREAD_COND_INITIALIZER}

static inline void post(port *to, int message) {
    pthread_mutex_lock(&to->lock);
    to->messages[to->n_messages++] = message;
    pthread_cond_signal(&to->posted);
    pthread_mutex_unlock(&to->lock);
}

static inline int receive(port *from) {
    pthread_mutex_lock(&from->lock);
    while (from->n_messages == 0)
        pthread_cond_wait(&from->posted, &from->lock);
    int message = from->messages[0];
    from->n_messages--;
    for (int idx = 0; idx < from->n_messages; idx++)
        from->messages[idx] = from->messages[idx + 1];
    pthread_mutex_unlock(&from->lock);
    return message;
}
