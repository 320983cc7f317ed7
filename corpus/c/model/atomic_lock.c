// Functions named `__VERIFIER_atomic_…` are one step, as blocks between `begin` and `end` are.
// expect: refused
// says: `pthread_mutex_lock` in a function that runs atomically
#include "verifier.h"
pthread_mutex_t m;
int x;
void __VERIFIER_atomic_inc(void) {
    pthread_mutex_lock(&m);
    x++;
    pthread_mutex_unlock(&m);
}
int main(void) {
    __VERIFIER_atomic_inc();
}
