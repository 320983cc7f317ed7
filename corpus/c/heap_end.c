// A string without room for its end.
// expect: violated memory
// expect -DROOM=6: holds
// vm: what is wrong is not a matter of threads
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
#ifndef ROOM
#define ROOM 5
#endif
    char *text = malloc(ROOM);
    strcpy(text, "hello");
    assert(strlen(text) == 5 && strcmp(text, "hello") == 0);
    free(text);
    return 0;
}
