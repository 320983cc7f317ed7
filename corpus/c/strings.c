// Functions for strings, characters, numbers and arrays compute what they should.
// expect: holds
// expect -DUNSORTED: violated assertion
#include "threads.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int by_size(const void *left, const void *right) {
    return *(const int *)left - *(const int *)right;
}
static void texts(void) {
    char text[32] = "hello";
    strcat(text, " you");
    assert(strlen(text) == 9 && strchr(text, 'o') == text + 4 && strrchr(text, 'o') == text + 7);
    assert(strstr(text, "you") == text + 6 && strstr(text, "") == text && !strstr(text, "yes"));
    assert(strspn("aab", "ab") == 3 && strcspn("abc", "xc") == 2 && *strpbrk("xyz", "zy") == 'y');
    char list[] = ",a,,b", *rest;
    char *one = strtok_r(list, ",", &rest), *two = strtok_r(NULL, ",", &rest);
    assert(!strcmp(one, "a") && !strcmp(two, "b") && !strtok_r(NULL, ",", &rest));
    char *copy = strndup("longer", 4);
    assert(!strcmp(copy, "long"));
    free(copy);
}
static void characters(void) {
    int kinds = 0;
    for (int c = 0; c < 128; c++)
        kinds += !!isalpha(c) + !!isdigit(c) + !!isspace(c) + !!ispunct(c) + !!iscntrl(c)
                 + !!isupper(c) + !!isxdigit(c) + !!isprint(c);
    assert(kinds == 52 + 10 + 6 + 32 + 33 + 26 + 22 + 95);
    assert(toupper('a') == 'A' && tolower('Z') == 'z' && toupper('1') == '1');
}
static void numbers(void) {
    char *end;
    assert(strtol(" -0x1fz", &end, 16) == -31 && *end == 'z');
    assert(strtol("077", NULL, 0) == 63 && strtoul("19", &end, 8) == 1 && *end == '9');
    errno = 0;
    assert(strtol("99999999999999999999", NULL, 10) == LONG_MAX && errno == ERANGE);
    assert(strtol("-9223372036854775808", NULL, 10) == LONG_MIN && atoi("42x") == 42);
}
static void arrays(void) {
    int all[] = {3, 1, 2, 0}, key = 2;
#ifndef UNSORTED
    qsort(all, 4, sizeof *all, by_size);
#endif
    for (int i = 0; i < 4; i++)
        assert(all[i] == i);
    assert(bsearch(&key, all, 4, sizeof *all, by_size) == &all[2]);
}
int main(void) {
    texts();
    characters();
    numbers();
    arrays();
    assert(__builtin_popcount(0xf0) == 4 && __builtin_clz(1) == 31 && __builtin_ctzl(8) == 3);
    return 0;
}
