// Threads that read a file: each its own, or all from one position. Nothing is closed if LEFT is 1.
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static atomic_int order;
static const char *path;

static void *read_own(void *unused) {
    char text[16] = {0};
    char line[16] = {0};
    atomic_exchange(&order, 1);
    int number = open(path, O_RDONLY);
    // No more files than threads have ever been open.
    assert(number >= 300 && number < 303);
    assert(read(number, text, 3) == 3 && strcmp(text, "abc") == 0);
    atomic_exchange(&order, 1);
    assert(read(number, text, 3) == 3 && strcmp(text, "def") == 0);
    FILE *file = fopen(path, "r");
    assert(file && fileno(file) < 20);
    assert(fgets(line, 3, file) && strcmp(line, "ab") == 0);
    atomic_exchange(&order, 1);
    assert(fgets(line, 3, file) && strcmp(line, "cd") == 0);
#if !LEFT
    fclose(file);
    close(number);
#endif
    return unused;
}

static void *list(void *unused) {
    DIR *folder = opendir(path);
    // Those that earlier executions have left open are closed.
    assert(folder && dirfd(folder) < 20);
    return unused;
}

static int shared;
static char seen[2];

static void *read_shared(void *index) {
    assert(read(shared, &seen[(long)index], 1) == 1);
    return 0;
}

int main(int argc, char **argv) {
    assert(argc == 2);
    path = argv[1];
    pthread_t one, two;
#if FOLDER
    for (int i = 0; i < 5; i++) {
        pthread_create(&one, 0, list, 0);
        pthread_detach(one);
    }
#elif SHARED
    shared = open(path, O_RDONLY);
    pthread_create(&one, 0, read_shared, (void *)0);
    pthread_create(&two, 0, read_shared, (void *)1);
    pthread_join(one, 0);
    pthread_join(two, 0);
    // Wrong: the second thread may be first.
    assert(seen[0] == 'a' && seen[1] == 'b');
#else
    pthread_create(&one, 0, read_own, 0);
    pthread_create(&two, 0, read_own, 0);
    read_own(0);
    pthread_join(one, 0);
    pthread_join(two, 0);
#endif
    return 0;
}
