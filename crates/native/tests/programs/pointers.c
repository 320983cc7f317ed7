/* Pointers into the heap, to variables, to a local, to freed memory and to nothing. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

struct node {
    long value;
    struct node *next;
};
struct pair {
    struct node *first;
    long count;
};

static _Atomic(struct node *) head;
static _Atomic(struct node **) inner;
static _Atomic(long *) local;
static _Atomic(int *) plain;
atomic_ulong number;
static atomic_int word;
static struct node nodes[2];

static struct node *make(void) {
    struct node *n = malloc(sizeof *n);
    n->value = 1;
    n->next = NULL;
    return n;
}

static void *thread(void *unused) {
    (void)atomic_load(&head);
    struct node *one = make(), *two = make();
    atomic_store(&head, one);
    atomic_exchange(&head, two);
    atomic_store(&inner, &two->next);
    free(one);
    struct node *expected = one;
    atomic_compare_exchange_strong(&head, &expected, NULL);
    atomic_store(&head, &nodes[1]);
    atomic_store(&head, NULL);
    volatile long here = 1;
    atomic_store(&local, (long *)&here);
    int *many = malloc(4 * sizeof(int));
    atomic_store(&plain, many + 1);
    /* Numbers stay numbers. */
    atomic_store(&number, 5);
    atomic_store(&word, (int)(uintptr_t)many);
    struct pair *pair = calloc(3, sizeof(struct pair));
    atomic_store(&inner, &pair[2].first);
    assert(here == 2);
    return unused;
}

int main(void) {
    pthread_t id;
    pthread_create(&id, NULL, thread, NULL);
    atomic_load(&word);
    pthread_join(id, NULL);
    return 0;
}
