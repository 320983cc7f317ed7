// expect: violated assertion
// says: !before it has a value
#include <pthread.h>
static void *run(void *arg) { return arg; }
int main(void) {
    pthread_t many[2];
    pthread_create(&many[0], NULL, run, NULL);
    pthread_join(many[0], NULL);
    pthread_join(many[1], NULL);
    return 0;
}
