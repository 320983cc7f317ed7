/* Threads as the system declares them, with clean-up handlers that need no exceptions. */
#include_next <pthread.h>

#ifndef MAZURKA_PTHREAD_H
#define MAZURKA_PTHREAD_H
struct __mazurka_cleanup {
    void (*handler)(void *);
    void *argument;
    struct __mazurka_cleanup *next;
};
extern _Thread_local struct __mazurka_cleanup *__mazurka_cleanups;
#undef pthread_cleanup_push
#undef pthread_cleanup_pop
#define pthread_cleanup_push(handler, argument) \
    do { \
        struct __mazurka_cleanup __cleanup = { handler, argument, __mazurka_cleanups }; \
        __mazurka_cleanups = &__cleanup;
#define pthread_cleanup_pop(execute) \
        __mazurka_cleanups = __cleanup.next; \
        if (execute) \
            __cleanup.handler(__cleanup.argument); \
    } while (0)
#endif
