// expect: holds
// says: !before it has a value
#include <pthread.h>
static void *run(void *arg) { return arg; }
int main(void) {
    pthread_t one, many[3];
    void *result;
    pthread_create(&one, NULL, run, NULL);
    for (int i = 0; i < 3; i++) pthread_create(&many[i], NULL, run, NULL);
    for (int i = 0; i < 3; i++) pthread_join(many[i], NULL);
    pthread_join(one, &result);
    return result != NULL;
}
