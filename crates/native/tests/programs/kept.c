/* What the C library keeps is the process's own, and begins anew in every execution. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static atomic_int turn;
static int first, second, seen[2];

static void *draw(void *at) {
    *(int *)at = rand();
    return 0;
}

/* Two threads take two numbers of one stream, in either order. */
static void random_numbers(void) {
    srand(5);
    int one = rand(), two = rand();
    srand(5);
    pthread_t a, b;
    pthread_create(&a, 0, draw, &first);
    pthread_create(&b, 0, draw, &second);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert((first == one && second == two) || (first == two && second == one));
    assert(first != one || getenv("FIRST_IS_FIRST"));
}

static void *step(void *unused) {
    (void)unused;
    atomic_fetch_add(&turn, 1);
    return 0;
}

/* Between the calls there are operations, so that states are gone back to. */
static void tokens(void) {
    char text[] = "a,b,c,d";
    pthread_t thread;
    pthread_create(&thread, 0, step, 0);
    assert(!getenv("MAZURKA_TEST"));
    assert(!strcmp(strtok(text, ","), "a"));
    seen[0] = atomic_load(&turn);
    assert(!strcmp(strtok(0, ","), "b"));
    setenv("MAZURKA_TEST", "here", 1);
    assert(!strcmp(getenv("MAZURKA_TEST"), "here"));
    seen[1] = atomic_load(&turn);
    assert(!strcmp(strtok(0, ","), "c"));
    time_t at = 86400;
    struct tm *when = gmtime(&at);
    atomic_load(&turn);
    assert(when->tm_year == 70 && when->tm_mday == 2);
    assert(!strcmp(getenv("MAZURKA_TEST"), "here"));
    unsetenv("MAZURKA_TEST");
    assert(!getenv("MAZURKA_TEST"));
    putenv("MAZURKA_TEST=there");
    assert(!strcmp(strtok(0, ","), "d") && !strtok(0, ","));
    pthread_join(thread, 0);
    assert(!strcmp(getenv("MAZURKA_TEST"), "there"));
}

int main(int argc, char **argv) {
    (void)argv;
    argc < 2 ? tokens() : random_numbers();
    return 0;
}
