/* Atomic accesses of different sizes to the same bytes. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static union {
    _Atomic uint32_t word;
    _Atomic uint16_t halves[2];
    _Atomic uint8_t bytes[4];
} shared;

static uint32_t word(void) { return atomic_load(&shared.word); }
static uint32_t last(void) { return atomic_load(&shared.bytes[3]); }
static uint32_t low(void) { return atomic_load(&shared.halves[0]); }
static uint32_t high(void) { return atomic_load(&shared.halves[1]); }

static void *work(void *unused) {
    switch (HOW) {
    case 0: atomic_store(&shared.bytes[1], 1); break;
    case 1: atomic_store(&shared.word, 0x01000000); break;
    case 2: atomic_store(&shared.word, 0x00010001); break;
    default: atomic_store(&shared.bytes[1], 1);
    }
    return unused;
}

static void word_and_byte(void) {
    assert(word() == 0);
}

static void byte_and_word(void) {
    assert(last() == 0);
}

static void word_and_halves(void) {
    /* Only the word connects the two. */
    assert(high() == 0 || low() == 0);
}

static void apart(void) {
    assert(high() == 0 && last() == 0);
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    switch (HOW) {
    case 0: word_and_byte(); break;
    case 1: byte_and_word(); break;
    case 2: word_and_halves(); break;
    default: apart();
    }
    pthread_join(thread, 0);
    return 0;
}
