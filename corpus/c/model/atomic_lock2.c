// Functions named `__VERIFIER_atomic_…` are one step, as blocks between `begin` and `end` are.
// expect: refused
// says: `pthread_mutex_lock` in a function that runs atomically
#include "verifier.h"
pthread_mutex_t m;
int x;
void h(void) {
    pthread_mutex_lock(&m);
}
void __VERIFIER_atomic_inc(void) {
    h();
}
int main(void) {
    __VERIFIER_atomic_inc();
}
