/* A struct is filled while another thread copies it. */
#include <pthread.h>
#include <string.h>

struct pair { int numbers[20]; } shared, copy;

static void *work(void *unused) {
    memcpy(&copy, &shared, sizeof copy);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    memset(&shared, 1, sizeof shared);
    pthread_join(thread, 0);
    return 0;
}
