// Futures: a value that one thread computes and others ask for.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

typedef struct {
    int (*compute)(int);
    int argument;
    atomic_int is_started, is_done;
    atomic_int value;
} future;

static inline void future_run(future *it) {
    atomic_store(&it->value, it->compute(it->argument));
    atomic_store(&it->is_done, 1);
}
