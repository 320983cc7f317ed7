// `sprintf` and `snprintf` write what the format says, and say how much that is.
// expect: holds
// expect -DSMALL: violated memory
// vm: what is wrong is not a matter of threads
#include <assert.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    char text[64], few[4];
    int n = sprintf(text, "%d|%5d|%-5d|%05d|%+d|% d", -42, 42, 42, 42, 42, 42);
    assert(!strcmp(text, "-42|   42|42   |00042|+42| 42") && n == 29);
    n = sprintf(text, "%x %X %#x %o %#o %u", 255, 255, 255, 8, 8, -1);
    assert(!strcmp(text, "ff FF 0xff 10 010 4294967295") && n == 28);
    n = sprintf(text, "%s,%.2s,%6s,%-6s,%c%%", "abc", "abc", "abc", "abc", '!');
    assert(!strcmp(text, "abc,ab,   abc,abc   ,!%") && n == 23);
    n = sprintf(text, "%hhd %hd %ld %zu %.3d %.0d.", 257, 65537, -9223372036854775807L - 1,
                sizeof n, 7, 0);
    assert(!strcmp(text, "1 1 -9223372036854775808 4 007 ."));
    n = sprintf(text, "%*d%-*d%.*d", 4, 1, 3, 2, 2, 3);
    assert(!strcmp(text, "   12  03") && n == 9);
    n = snprintf(few, sizeof few, "%d", 123456);
    assert(!strcmp(few, "123") && n == 6);
    assert(snprintf(0, 0, "%s", "counted") == 7);
    assert(printf("%d and %s\n", 17, "more") == 12 && puts("text") == 5);
#ifdef SMALL
    sprintf(few, "%d", 123456);
#endif
    return 0;
}
