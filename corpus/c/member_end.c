// An index beyond the end of an array that is a member: what comes next is another member.
// expect: violated memory
// expect -DROWS: violated memory
// expect -DBEFORE: violated memory
// expect -DSUM: violated memory
// expect -DWITHIN: holds
// vm: what is wrong is not a matter of threads
#include <assert.h>
#include <stdlib.h>

struct pair {
    int number;
    int values[2];
    int after;
};

struct list {
    int length;
    int values[];
};

struct old_list {
    int length;
    int values[1];
};

static struct pair pair = { 1, { 2, 3 }, 4 };
static int table[2][3];
static int beyond = 2;

int main(void) {
#if defined ROWS
    return table[0][beyond + 1];
#elif defined BEFORE
    struct pair *pointer = &pair;
    return pointer->values[beyond - 3];
#elif defined SUM
    return *(pair.values + beyond);
#elif defined WITHIN
    int sum = 0;
    for (int *at = &pair.values[0]; at != &pair.values[beyond]; at++)
        sum += *at;
    assert(sum == 5 && table[beyond - 1][beyond] == 0);
    int *flat = &table[0][0];
    flat[4] = 7;
    assert(table[1][1] == 7);
    struct list *list = malloc(sizeof *list + 3 * sizeof(int));
    list->values[beyond] = 1;
    struct old_list *old_list = malloc(sizeof *old_list + 2 * sizeof(int));
    old_list->values[beyond] = list->values[2];
    assert(old_list->values[2] == 1);
    free(list);
    free(old_list);
#else
    pair.values[beyond] = 5;
#endif
    return 0;
}
