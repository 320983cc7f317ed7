/* What threads do to each other, or keep for themselves, in places that are easily overlooked. The argument says
   which, and begins with what is to be said of it. */
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <fenv.h>
#include <getopt.h>
#include <pthread.h>
#include <search.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static atomic_int turn;
/* For all that the compiler knows, others read these. */
void *got;
long number;
static volatile long sink;

static void none(void) {}

/* The floating-point environment is a thread's own. */
static void round_up(void) {
    atomic_load(&turn);
    fesetround(FE_UPWARD);
    feraiseexcept(FE_DIVBYZERO);
    atomic_fetch_add(&turn, 1);
    assert(fegetround() == FE_UPWARD && fetestexcept(FE_DIVBYZERO));
}
static void round_down(void) {
    fesetround(FE_DOWNWARD);
    atomic_fetch_add(&turn, 1);
    assert(fegetround() == FE_DOWNWARD && !fetestexcept(FE_DIVBYZERO));
    atomic_fetch_add(&turn, 1);
    volatile double one = 1, three = 3;
    assert(fegetround() == FE_DOWNWARD && one / three == 0x1.5555555555555p-2);
}
static void *inherits(void *unused) {
    (void)unused;
    assert(fegetround() == FE_TOWARDZERO);
    fesetround(FE_UPWARD);
    return 0;
}
static void inherit(void) {
    pthread_t thread;
    assert(fegetround() == FE_TONEAREST);
    fesetround(FE_TOWARDZERO);
    pthread_create(&thread, 0, inherits, 0);
    atomic_fetch_add(&turn, 1);
    assert(fegetround() == FE_TOWARDZERO);
    pthread_join(thread, 0);
}
static void add_turn(void) { atomic_fetch_add(&turn, 1); }

/* Large blocks. */
static void one_block(void) {
    char *block = malloc(300000000);
    assert(block);
    block[299999999] = 1;
    atomic_fetch_add(&turn, 1);
    block[0] = 1;
    assert(block[299999999] == 1 && !block[299999998]);
    free(block);
}
static void many_blocks(void) {
    char *blocks[40];
    for (int i = 0; i < 40; i++) {
        blocks[i] = malloc(10000000);
        blocks[i][0] = 1;
    }
    for (int i = 0; i < 40; i++) {
        free(blocks[i]);
    }
}
static void absurd_block(void) { assert(!malloc((size_t)1 << 62)); }
static void too_large_block(void) { assert(malloc((size_t)1 << 33)); }

/* The time zone. */
static void use_zone(void) {
    time_t zero = 0;
    struct tm when;
    setenv("TZ", "UTC+5", 1);
    tzset();
    localtime_r(&zero, &when);
    assert(when.tm_hour == 19 && timezone == 5 * 3600);
    int is_second = atomic_load(&turn);
    setenv("TZ", is_second ? "UTC+3" : "UTC+2", 1);
    localtime_r(&zero, &when);
    assert(when.tm_hour == 19);
    tzset();
    localtime_r(&zero, &when);
    assert(when.tm_hour == (is_second ? 21 : 22));
    atomic_load(&turn);
    assert(timezone == (is_second ? 3 : 2) * 3600);
    assert(!strcmp(tzname[0], "UTC"));
}
static void set_zone(void) {
    setenv("TZ", "UTC+5", 1);
    tzset();
}
static void read_zone(void) { number = timezone; }
static void local_time(void) {
    time_t zero = 0;
    struct tm when;
    localtime_r(&zero, &when);
    sink = mktime(&when);
}

/* Options. */
static char letters[] = "-a";
static char *words[] = {"x", letters, "b", 0}, *mixed[] = {"x", "b", "-a", 0};
static const struct option longs[] = {{"all", 0, 0, 'a'}, {"file", 1, 0, 'f'}, {0, 0, 0, 0}};
static void repeat_options(void) {
    char *own[] = {"p", "-abc", "z", "--fi=1", "-f", "2", "--", "-a", 0};
    sink = atomic_load(&turn);
    assert(getopt_long(8, own, "abcf:", longs, 0) == 'a');
    assert(getopt_long(8, own, "abcf:", longs, 0) == 'b' && optind == 1);
    sink = atomic_load(&turn);
    assert(getopt_long(8, own, "abcf:", longs, 0) == 'c' && optind == 2);
    int which = 7;
    assert(getopt_long(8, own, "abcf:", longs, &which) == 'f' && which == 1);
    assert(!strcmp(optarg, "1"));
    sink = atomic_load(&turn);
    assert(getopt_long(8, own, "abcf:", longs, 0) == 'f' && !strcmp(optarg, "2"));
    assert(getopt_long(8, own, "abcf:", longs, 0) == -1 && optind == 6);
    assert(!strcmp(own[6], "z") && !strcmp(own[7], "-a"));
    optind = 0;
    opterr = 0;
    char *wrong[] = {"p", "-x", "-f", 0};
    assert(getopt(3, wrong, "+f:") == '?' && optopt == 'x');
    assert(getopt(3, wrong, "+f:") == '?' && optopt == 'f' && getopt(3, wrong, "+f:") == -1);
}
static void take_option(void) { sink = getopt(3, words, "ab"); }
static void exchange_options(void) { sink = getopt(3, mixed, "a"); }
static void read_optind(void) { sink = optind; }
static void read_order(void) { got = mixed[1]; }
static void write_letter(void) { letters[1] = 'b'; }

/* Atomics of any size. */
struct Large { long a, b, c; };
static struct Large large, copy;
static void store_large(void) {
    struct Large one = {1, 1, 1};
    __atomic_store(&large, &one, __ATOMIC_SEQ_CST);
}
static void load_large(void) { __atomic_load(&large, &copy, __ATOMIC_SEQ_CST); }
static void load_own(void) {
    struct Large own;
    __atomic_load(&large, &own, __ATOMIC_SEQ_CST);
    assert(own.a == own.c);
}
static void load_beyond(void) {
    struct Large *own = malloc(16);
    __atomic_load(&large, own, __ATOMIC_SEQ_CST);
}
static void read_large(void) { number = large.c; }
static void read_copy(void) { number = copy.c; }

/* Lists, texts and folders. */
struct Element { struct Element *next, *previous; };
static struct Element x, y, z;
static void insert(void) { insque(&z, &x); }
static void take_out(void) { remque(&y); }
static void read_previous(void) { got = y.previous; }
static void read_next(void) { got = x.next; }
static char text[] = "aa,bb";
static void sub_option(void) {
    char *rest = text, *value;
    char *const tokens[] = {"aa", "bb", 0};
    sink = getsubopt(&rest, tokens, &value);
}
static void read_comma(void) { sink = text[2]; }
static void write_first(void) { text[0] = 'b'; }
static DIR *folder;
static void read_folder(void) { sink = (long)readdir(folder); }

/* Mappings. */
static char *page;
static void forget_page(void) { madvise(page, 4096, MADV_DONTNEED); }
static void read_page(void) { sink = page[7]; }

/* Locks that nobody has made, or that are written over. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void lock(void) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}
static void write_over(void) {
    pthread_mutex_lock(&mutex);
    memset(&mutex, 0, sizeof mutex);
    pthread_mutex_unlock(&mutex);
}
static void *garbage(size_t len) {
    void *made = malloc(len);
    memset(made, 0xab, len);
    return made;
}
static void lock_garbage(void) { pthread_mutex_lock(garbage(sizeof(pthread_mutex_t))); }
static void signal_garbage(void) { pthread_cond_signal(garbage(sizeof(pthread_cond_t))); }
static void read_garbage(void) { pthread_rwlock_rdlock(garbage(sizeof(pthread_rwlock_t))); }
static void lock_own(void) {
    pthread_mutex_t *own = garbage(sizeof *own);
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(own, &attributes);
    pthread_mutex_lock(own);
    pthread_mutex_lock(own);
    pthread_mutex_unlock(own);
    pthread_mutex_unlock(own);
    pthread_mutex_destroy(own);
    pthread_cond_t *condition = garbage(sizeof *condition);
    pthread_cond_init(condition, 0);
    pthread_cond_signal(condition);
    pthread_rwlock_t *readers = garbage(sizeof *readers);
    pthread_rwlock_init(readers, 0);
    pthread_rwlock_rdlock(readers);
    pthread_rwlock_unlock(readers);
    pthread_mutex_t plain = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    assert(pthread_mutex_unlock(&plain));
}

/* Jumps. */
static jmp_buf place;
static void jump(void) { longjmp(place, 1); }
static void jump_back(void) {
    jmp_buf own;
    if (!setjmp(own)) {
        atomic_fetch_add(&turn, 1);
        longjmp(own, 1);
    }
}

/* What the instrumentation does not see. */
static char room[64] __attribute__((aligned(16)));
__attribute__((no_sanitize("thread"), noinline)) static void fill(void) { memset(room, 1, 64); }
static void read_room(void) { sink = room[3]; }

static const struct Case {
    const char *name;
    void (*one)(void), (*two)(void);
} cases[] = {
    {"holds_floats", round_down, round_up},
    {"holds_inherited_floats", inherit, add_turn},
    {"holds_one_block", one_block, add_turn},
    {"holds_many_blocks", many_blocks, none},
    {"holds_absurd_block", absurd_block, none},
    {"refused_block", too_large_block, none},
    {"holds_zone", use_zone, add_turn},
    {"race_tzset", set_zone, read_zone},
    {"race_setenv", set_zone, local_time},
    {"holds_local_times", local_time, local_time},
    {"holds_options", repeat_options, add_turn},
    {"race_optind", take_option, read_optind},
    {"race_argument", take_option, write_letter},
    {"race_order_of_arguments", exchange_options, read_order},
    {"race_getopt", take_option, take_option},
    {"race_atomic_and_plain", store_large, read_large},
    {"race_buffer_of_atomic", load_large, read_copy},
    {"memory_buffer_of_atomic", load_beyond, none},
    {"holds_atomics", store_large, load_own},
    {"race_insque", insert, read_previous},
    {"race_remque", take_out, read_next},
    {"race_getsubopt", sub_option, read_comma},
    {"race_text_of_getsubopt", sub_option, write_first},
    {"race_readdir", read_folder, read_folder},
    {"race_madvise", forget_page, read_page},
    {"race_lock_written_over", write_over, lock},
    {"memory_mutex", lock_garbage, none},
    {"memory_condition_variable", signal_garbage, none},
    {"memory_lock_for_readers", read_garbage, none},
    {"holds_locks", lock_own, lock_own},
    {"memory_longjmp", none, jump},
    {"holds_longjmp", jump_back, jump_back},
    {"race_memset", fill, read_room},
};

static const struct Case *chosen;

static void *run(void *unused) {
    (void)unused;
    chosen->two();
    return 0;
}

int main(int argc, char **argv) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (argc < 2) {
            puts(cases[i].name);
        } else if (!strcmp(cases[i].name, argv[1])) {
            chosen = &cases[i];
        }
    }
    if (!chosen) {
        return argc < 2 ? 0 : 1;
    }
    x.next = &y;
    y.previous = &x;
    y.next = 0;
    if (chosen->one == read_folder) {
        folder = opendir("/etc");
    }
    page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page[0] = 1;
    pthread_t thread;
    if (!setjmp(place)) {
        pthread_create(&thread, 0, run, 0);
        chosen->one();
        pthread_join(thread, 0);
    }
    return 0;
}
