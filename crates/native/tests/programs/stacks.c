/* Stacks: as large as the system makes them, or as the program asks; and one that is destroyed. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag;

#if HOW == 0
#define LEN (4 << 20)
#elif HOW == 1
#define LEN (16 << 20)
#elif HOW == 2
#define LEN (16 << 20)
#else
#define LEN 1
#endif

static void *use(void *unused) {
    volatile char bytes[LEN];
    bytes[0] = 1;
    bytes[LEN - 1] = 2;
    atomic_store(&flag, 1);
    return unused;
}

__attribute__((noinline)) static void fill(volatile char *bytes) {
    for (int i = 0; i < 5000; i++)
        bytes[i] = 0x41;
}

__attribute__((noinline)) static void destroy(void) {
    char bytes[16];
    fill(bytes);
}

int main(void) {
    pthread_t id;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (HOW == 1)
        pthread_attr_setstacksize(&attributes, 20 << 20);
    pthread_create(&id, &attributes, use, 0);
    if (HOW == 3 && atomic_load(&flag))
        destroy();
    pthread_join(id, 0);
    return 0;
}
