// A queue that is closed behind its last message: whoever receives looks at the messages once more.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static atomic_int tail, closed;

enum { MESSAGE, CLOSED, NOTHING };

static int receive(void) {
    bool was_closed = false;
    for (;;) {
        if (atomic_load(&tail))
            return MESSAGE;
        bool is_second = was_closed;
        if (!atomic_load(&closed))
            return NOTHING;
        if (is_second)
            return CLOSED;
        was_closed = true;
    }
}

static void *end(void *unused) {
    (void)unused;
    atomic_store(&closed, 1);
    atomic_store(&tail, 1);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, end, 0);
    assert(receive() != CLOSED);
    pthread_join(thread, 0);
}
