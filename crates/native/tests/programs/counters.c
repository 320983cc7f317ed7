/* Two threads and `main` add to a counter, and look at the result in different ways. */

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#ifndef START
#define START 3
#endif

static atomic_int counter = START;
int *block;
atomic_int seen;

#define ADD(n) atomic_fetch_add(&counter, n)
#define NOINLINE __attribute__((noinline))

static NOINLINE int add(int n) { return ADD(n); }
static NOINLINE int is_last(void) { return add(-1) == 1; }
static NOINLINE void look(int value) { seen = value; }
static NOINLINE void look_last(int a, int b, int c, int d, int e, int f, int value)
{
    seen = a + b + c + d + e + f + value;
}
static NOINLINE void look_at_both(int a, int b, int c, int d, int e, int f, int g, int value)
{
    seen = a + b + c + d + e + f + g + value;
}
static NOINLINE void look_there(int *value) { seen = *value; }

static void act(void)
{
#if defined UNUSED
    counter++;
#elif defined COMPARED
    if (ADD(-1) == 1)
        free(block);
#elif defined RETURNED
    if (is_last())
        free(block);
#elif defined SUBTRACTED
    int left = ADD(-1) - 1;
    if (left <= 0)
        free(block);
#elif defined BELOW
    if ((unsigned)ADD(1) < 2)
        seen = 1;
#elif defined PASSED
    look(ADD(1));
#elif defined PASSED_ON_STACK
    look_last(1, 2, 3, 4, 5, 6, ADD(1));
#elif defined PASSED_SECOND_ON_STACK
    look_at_both(1, 2, 3, 4, 5, 6, 7, ADD(1));
#elif defined STORED
    block[0] = ADD(1);
#elif defined POINTED
    int value[3] = { 1, ADD(1), 2 };
    look_there(value + 1);
#elif defined MASKED
    if (ADD(1) & 1)
        seen = 1;
#elif defined INDEXED
    static const int table[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    seen = table[ADD(1) & 7];
#elif defined COMPARED_WITH_VARIABLE
    if (ADD(1) == seen)
        seen = 7;
#endif
}

static void *run(void *unused)
{
    act();
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    block = malloc(sizeof *block);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run, NULL);
#if !defined WAIT
    act();
#endif
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
#if defined WAIT
    act();
#endif
#if defined EXPECTED
    assert(counter == EXPECTED);
#endif
    return 0;
}
