// A thread that is waited for twice.
// expect: violated assertion
// vm: misuse
#include "threads.h"

static void *nothing(void *unused) {
    return unused;
}
int main(void) {
    pthread_t one;
    pthread_create(&one, NULL, nothing, NULL);
    pthread_join(one, NULL);
    pthread_join(one, NULL);
    return 0;
}
