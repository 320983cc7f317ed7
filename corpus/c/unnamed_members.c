// Members without a name, named where they are given values; bit-fields, compound literals, `?:`.
// expect: holds
// expect -DWRONG: violated assertion
#include "threads.h"
#include <stdint.h>

union Word {
    uint32_t whole;
    uint8_t bytes[4];
    float number;
    struct {
        unsigned low : 4, high : 4;
        signed small : 3;
    };
};
struct Shape {
    int kind;
    struct {
        int x, y;
    };
    union {
        int count;
        char letter;
    };
    int sizes[3];
};
int main(void) {
    union Word word = {.high = 15};
    assert(word.bytes[0] == 0xf0);
    word.small = -2;
    assert(word.small == -2 && word.high == 15);
    word.number = 1;
    assert(word.whole == 0x3f800000);
    struct Shape shape = {.y = 3, .sizes = {[1] = 4, 5}, .letter = 'z'};
    assert(shape.kind == 0 && shape.x == 0 && shape.y == 3 && shape.count == 'z');
    assert(shape.sizes[0] == 0 && shape.sizes[2] == 5);
    struct Shape *other = &(struct Shape){.x = 1, .sizes = {[0 ... 2] = 7}};
    assert(other->x == 1 && other->sizes[1] == 7);
    int calls = 0, none = 0;
    assert((++calls ?: 9) == 1 && calls == 1 && (none ?: 9) == 9);
#ifdef WRONG
    assert(shape.sizes[1] == 5);
#endif
    return 0;
}
