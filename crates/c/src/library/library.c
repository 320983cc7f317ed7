/* The functions of C and POSIX that programs may call, in terms of what the machine has.
 *
 * It is not preprocessed. Each function becomes a part of whoever calls it, so that a step in it is
 * shown where the call stands. `__mazurka_…` without a body is a primitive of the machine. */

typedef unsigned long size_t;

/* Primitives. */
void *__mazurka_allocate(size_t size);
void __mazurka_free(void *pointer);
size_t __mazurka_size_of(void *pointer);
void __mazurka_copy(void *to, const void *from, size_t size);
void __mazurka_fill(void *to, int byte, size_t size);
void __mazurka_assume(int condition);
void __mazurka_atomic_begin(void);
void __mazurka_atomic_end(void);
int __mazurka_choose(int low, int high);
int __mazurka_spurious(void);
void __mazurka_yield(void);
unsigned __mazurka_spawn(void *routine, void *argument);
void *__mazurka_join(unsigned thread);
int __mazurka_join_int(unsigned thread);
void __mazurka_detach(unsigned thread);
unsigned __mazurka_thread(void);
void __mazurka_exit_thread(void *value);
void __mazurka_exit_program(void);
void __mazurka_mutex_init(void *mutex, int kind);
int __mazurka_lock(void *mutex);
_Bool __mazurka_try_lock(void *mutex);
int __mazurka_unlock(void *mutex);
void __mazurka_mutex_destroy(void *mutex);
void __mazurka_read_lock(void *lock);
void __mazurka_write_lock(void *lock);
_Bool __mazurka_try_read_lock(void *lock);
_Bool __mazurka_try_write_lock(void *lock);
void __mazurka_read_write_unlock(void *lock);
void __mazurka_rwlock_init(void *lock);
void __mazurka_rwlock_destroy(void *lock);
void __mazurka_wait(void *condition, void *mutex);
void __mazurka_notify_one(void *condition);
void __mazurka_notify_all(void *condition);
void __mazurka_condvar_init(void *condition);
void __mazurka_condvar_destroy(void *condition);
void __mazurka_semaphore_init(void *semaphore, unsigned permits);
void __mazurka_semaphore_acquire(void *semaphore);
_Bool __mazurka_semaphore_try_acquire(void *semaphore);
void __mazurka_semaphore_release(void *semaphore);
int __mazurka_semaphore_value(void *semaphore);
void __mazurka_semaphore_destroy(void *semaphore);
void __mazurka_barrier_init(void *barrier, unsigned parties);
_Bool __mazurka_barrier_wait(void *barrier);
void __mazurka_barrier_destroy(void *barrier);
/* From here to there, nobody has to wait for ever: time passes, in another execution. */
void __mazurka_excuse(int begins);
void __mazurka_await(int *word, int value);
/* Whether the program has thread-specific data. */
int __mazurka_has_keys(void);
/* Whether it has given something to `atexit`. */
int __mazurka_has_handlers(void);
/* A word that no other thread looks at. */
int __mazurka_get(const void *word);
void __mazurka_set(void *word, int value);
void __mazurka_fail(int kind, const char *message);
void __mazurka_assumption(const char *what);

/* The start of a program. */

int main(int argc, char **argv);
static char __mazurka_name[] = "program";
static char *__mazurka_arguments[2] = { __mazurka_name, 0 };

void __mazurka_start(void) {
    main(1, __mazurka_arguments);
    exit(0);
}

static int __mazurka_n_handlers;
static void (*__mazurka_handlers[32])(void);
int atexit(void (*handler)(void)) {
    int number = __mazurka_get(&__mazurka_n_handlers);
    if (number == 32)
        return -1;
    __mazurka_set(&__mazurka_n_handlers, number + 1);
    __mazurka_handlers[number] = handler;
    return 0;
}
static void __mazurka_run_handlers(void) {
    for (int number = __mazurka_get(&__mazurka_n_handlers); number > 0;) {
        __mazurka_set(&__mazurka_n_handlers, --number);
        __mazurka_handlers[number]();
        number = __mazurka_get(&__mazurka_n_handlers);
    }
}
void exit(int status) {
    if (__mazurka_has_handlers())
        __mazurka_run_handlers();
    __mazurka_exit_program();
}
void _exit(int status) {
    __mazurka_exit_program();
}
void _Exit(int status) {
    __mazurka_exit_program();
}
void quick_exit(int status) {
    __mazurka_exit_program();
}
void abort(void) {
    __mazurka_fail(1, "the program aborted");
}

static _Thread_local int __mazurka_errno;
int *__errno_location(void) {
    return &__mazurka_errno;
}

/* Verification. */

void __VERIFIER_assume(int condition) {
    __mazurka_assume(condition != 0);
}
void __VERIFIER_assert(int condition) {
    if (!condition)
        __mazurka_fail(0, "`__VERIFIER_assert` failed");
}
void __VERIFIER_atomic_begin(void) {
    __mazurka_atomic_begin();
}
void __VERIFIER_atomic_end(void) {
    __mazurka_atomic_end();
}

/* Memory. */

void *malloc(size_t size) {
    __mazurka_assumption("malloc");
    return __mazurka_allocate(size);
}
void *calloc(size_t count, size_t size) {
    __mazurka_assumption("calloc");
    return __mazurka_allocate(size && count > -1ul / size ? -1ul : count * size);
}
void *aligned_alloc(size_t alignment, size_t size) {
    __mazurka_assumption("aligned_alloc");
    return __mazurka_allocate(size);
}
int posix_memalign(void **to, size_t alignment, size_t size) {
    __mazurka_assumption("posix_memalign");
    *to = __mazurka_allocate(size);
    return 0;
}
void free(void *pointer) {
    __mazurka_free(pointer);
}
void *realloc(void *old, size_t size) {
    __mazurka_assumption("realloc");
    void *new = __mazurka_allocate(size);
    if (old) {
        size_t before = __mazurka_size_of(old);
        __mazurka_copy(new, old, before < size ? before : size);
        __mazurka_free(old);
    }
    return new;
}
void *memcpy(void *to, const void *from, size_t size) {
    __mazurka_copy(to, from, size);
    return to;
}
void *memmove(void *to, const void *from, size_t size) {
    __mazurka_copy(to, from, size);
    return to;
}
void *memset(void *to, int byte, size_t size) {
    __mazurka_fill(to, byte, size);
    return to;
}
int memcmp(const void *left, const void *right, size_t size) {
    const unsigned char *l = left, *r = right;
    for (size_t i = 0; i < size; i++)
        if (l[i] != r[i])
            return l[i] - r[i];
    return 0;
}
void *memchr(const void *in, int byte, size_t size) {
    const unsigned char *bytes = in;
    for (size_t i = 0; i < size; i++)
        if (bytes[i] == (unsigned char)byte)
            return (void *)(bytes + i);
    return 0;
}

/* Characters, of ASCII alone. The table is what the macros of `ctype.h` look into. */

int isdigit(int c) {
    return c >= '0' && c <= '9';
}
int isupper(int c) {
    return c >= 'A' && c <= 'Z';
}
int islower(int c) {
    return c >= 'a' && c <= 'z';
}
int isalpha(int c) {
    return isupper(c) || islower(c);
}
int isalnum(int c) {
    return isalpha(c) || isdigit(c);
}
int isxdigit(int c) {
    return isdigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F';
}
int isblank(int c) {
    return c == ' ' || c == '\t';
}
int isspace(int c) {
    return c == ' ' || c >= '\t' && c <= '\r';
}
int iscntrl(int c) {
    return c >= 0 && c < ' ' || c == 127;
}
int isprint(int c) {
    return c >= ' ' && c < 127;
}
int isgraph(int c) {
    return c > ' ' && c < 127;
}
int ispunct(int c) {
    return isgraph(c) && !isalnum(c);
}
int tolower(int c) {
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
}
int toupper(int c) {
    return c >= 'a' && c <= 'z' ? c - 32 : c;
}
static const unsigned short __mazurka_kinds[384] = {
    [128 + 0 ... 128 + 8] = 0x0002,
    [128 + 9] = 0x2003,
    [128 + 10 ... 128 + 13] = 0x2002,
    [128 + 14 ... 128 + 31] = 0x0002,
    [128 + 32] = 0x6001,
    [128 + 33 ... 128 + 47] = 0xc004,
    [128 + 48 ... 128 + 57] = 0xd808,
    [128 + 58 ... 128 + 64] = 0xc004,
    [128 + 65 ... 128 + 70] = 0xd508,
    [128 + 71 ... 128 + 90] = 0xc508,
    [128 + 91 ... 128 + 96] = 0xc004,
    [128 + 97 ... 128 + 102] = 0xd608,
    [128 + 103 ... 128 + 122] = 0xc608,
    [128 + 123 ... 128 + 126] = 0xc004,
    [128 + 127] = 0x0002,
};
static const unsigned short *const __mazurka_kinds_from_0 = __mazurka_kinds + 128;
const unsigned short **__ctype_b_loc(void) {
    return (const unsigned short **)&__mazurka_kinds_from_0;
}

/* Strings. */

size_t strlen(const char *text) {
    size_t length = 0;
    while (text[length])
        length++;
    return length;
}
size_t strnlen(const char *text, size_t most) {
    size_t length = 0;
    while (length < most && text[length])
        length++;
    return length;
}
char *strcpy(char *to, const char *from) {
    size_t i = 0;
    do
        to[i] = from[i];
    while (from[i++]);
    return to;
}
char *strncpy(char *to, const char *from, size_t size) {
    size_t i = 0;
    for (; i < size && from[i]; i++)
        to[i] = from[i];
    for (; i < size; i++)
        to[i] = 0;
    return to;
}
char *strcat(char *to, const char *from) {
    size_t end = 0, i = 0;
    while (to[end])
        end++;
    do
        to[end + i] = from[i];
    while (from[i++]);
    return to;
}
char *strncat(char *to, const char *from, size_t size) {
    size_t end = 0, i = 0;
    while (to[end])
        end++;
    for (; i < size && from[i]; i++)
        to[end + i] = from[i];
    to[end + i] = 0;
    return to;
}
int strcmp(const char *left, const char *right) {
    size_t i = 0;
    while (left[i] && left[i] == right[i])
        i++;
    return (unsigned char)left[i] - (unsigned char)right[i];
}
int strncmp(const char *left, const char *right, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (left[i] != right[i] || !left[i])
            return (unsigned char)left[i] - (unsigned char)right[i];
    return 0;
}
char *strchr(const char *text, int c) {
    for (;; text++) {
        if (*text == (char)c)
            return (char *)text;
        if (!*text)
            return 0;
    }
}
char *strrchr(const char *text, int c) {
    char *last = 0;
    for (;; text++) {
        if (*text == (char)c)
            last = (char *)text;
        if (!*text)
            return last;
    }
}
char *strstr(const char *text, const char *part) {
    for (;; text++) {
        size_t i = 0;
        while (part[i] && text[i] == part[i])
            i++;
        if (!part[i])
            return (char *)text;
        if (!*text)
            return 0;
    }
}
size_t strspn(const char *text, const char *set) {
    size_t length = 0, i;
    for (; text[length]; length++) {
        for (i = 0; set[i] && set[i] != text[length]; i++)
            ;
        if (!set[i])
            break;
    }
    return length;
}
size_t strcspn(const char *text, const char *set) {
    size_t length = 0, i;
    for (; text[length]; length++) {
        for (i = 0; set[i] && set[i] != text[length]; i++)
            ;
        if (set[i])
            break;
    }
    return length;
}
char *strpbrk(const char *text, const char *set) {
    text += strcspn(text, set);
    return *text ? (char *)text : 0;
}
char *strtok_r(char *text, const char *set, char **rest) {
    if (!text)
        text = *rest;
    text += strspn(text, set);
    char *end = text + strcspn(text, set);
    *rest = end;
    if (text == end)
        return 0;
    if (*end) {
        *end = 0;
        *rest = end + 1;
    }
    return text;
}
static char *__mazurka_token;
char *strtok(char *text, const char *set) {
    return strtok_r(text, set, &__mazurka_token);
}
int strcasecmp(const char *left, const char *right) {
    size_t i = 0;
    while (left[i] && tolower(left[i]) == tolower(right[i]))
        i++;
    return tolower((unsigned char)left[i]) - tolower((unsigned char)right[i]);
}
char *strndup(const char *text, size_t most) {
    __mazurka_assumption("strndup");
    size_t length = strnlen(text, most);
    char *copy = __mazurka_allocate(length + 1);
    __mazurka_copy(copy, text, length);
    return copy;
}
char *strdup(const char *text) {
    __mazurka_assumption("strdup");
    size_t length = 0;
    while (text[length])
        length++;
    char *copy = __mazurka_allocate(length + 1);
    __mazurka_copy(copy, text, length + 1);
    return copy;
}
void srand(unsigned seed) {}
void srandom(unsigned seed) {}
int abs(int value) {
    return value < 0 ? -value : value;
}
long labs(long value) {
    return value < 0 ? -value : value;
}
long long llabs(long long value) {
    return value < 0 ? -value : value;
}
/* A number in some base, as far as it goes; `limit` is the largest that fits, one less than the
 * largest below zero. */
static unsigned long __mazurka_number(const char *text, char **end, int base, unsigned long limit,
                                      int is_signed) {
    const char *at = text;
    unsigned long value = 0;
    int is_negative = 0, has_digits = 0, is_out = 0;
    while (*at == ' ' || *at >= '\t' && *at <= '\r')
        at++;
    if (*at == '-' || *at == '+')
        is_negative = *at++ == '-';
    if ((base == 0 || base == 16) && at[0] == '0' && (at[1] == 'x' || at[1] == 'X') && isxdigit(at[2])) {
        at += 2;
        base = 16;
    } else if (base == 0) {
        base = *at == '0' ? 8 : 10;
    }
    unsigned long most = limit + (is_signed && is_negative);
    for (;; at++) {
        int digit = isdigit(*at) ? *at - '0' : isalpha(*at) ? tolower(*at) - 'a' + 10 : 99;
        if (digit >= base)
            break;
        has_digits = 1;
        if (value > (most - digit) / base)
            is_out = 1;
        value = value * base + digit;
    }
    if (end)
        *end = (char *)(has_digits ? at : text);
    if (is_out) {
        __mazurka_errno = 34;
        return is_signed && is_negative ? 0 - most : most;
    }
    return is_negative ? 0 - value : value;
}
long strtol(const char *text, char **end, int base) {
    return (long)__mazurka_number(text, end, base, 0x7ffffffffffffffful, 1);
}
long long strtoll(const char *text, char **end, int base) {
    return (long)__mazurka_number(text, end, base, 0x7ffffffffffffffful, 1);
}
unsigned long strtoul(const char *text, char **end, int base) {
    return __mazurka_number(text, end, base, 0xfffffffffffffffful, 0);
}
unsigned long long strtoull(const char *text, char **end, int base) {
    return __mazurka_number(text, end, base, 0xfffffffffffffffful, 0);
}
long atol(const char *text) {
    return strtol(text, 0, 10);
}
long long atoll(const char *text) {
    return strtol(text, 0, 10);
}
int atoi(const char *text) {
    return (int)strtol(text, 0, 10);
}

/* Searching and sorting. */

void qsort(void *all, size_t count, size_t size, int (*compare)(const void *, const void *)) {
    char *bytes = all;
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j > 0 && compare(bytes + (j - 1) * size, bytes + j * size) > 0; j--)
            for (size_t k = 0; k < size; k++) {
                char *left = bytes + (j - 1) * size + k, byte = *left;
                *left = left[size];
                left[size] = byte;
            }
}
void *bsearch(const void *key, const void *all, size_t count, size_t size,
              int (*compare)(const void *, const void *)) {
    const char *bytes = all;
    while (count > 0) {
        const char *middle = bytes + count / 2 * size;
        int order = compare(key, middle);
        if (order == 0)
            return (void *)middle;
        if (order > 0) {
            bytes = middle + size;
            count -= count / 2 + 1;
        } else {
            count /= 2;
        }
    }
    return 0;
}

/* Bits, and numbers that are none. */

int __builtin_popcountll(unsigned long value) {
    int count = 0;
    for (; value; value &= value - 1)
        count++;
    return count;
}
int __builtin_popcountl(unsigned long value) {
    return __builtin_popcountll(value);
}
int __builtin_popcount(unsigned value) {
    return __builtin_popcountll(value);
}
int __builtin_parity(unsigned value) {
    return __builtin_popcountll(value) & 1;
}
int __builtin_ctzll(unsigned long value) {
    int count = 0;
    for (; count < 64 && !(value & 1); value >>= 1)
        count++;
    return count;
}
int __builtin_ctzl(unsigned long value) {
    return __builtin_ctzll(value);
}
int __builtin_ctz(unsigned value) {
    return __builtin_ctzll(value);
}
int __builtin_clzll(unsigned long value) {
    int count = 64;
    for (; value; value >>= 1)
        count--;
    return count;
}
int __builtin_clzl(unsigned long value) {
    return __builtin_clzll(value);
}
int __builtin_clz(unsigned value) {
    return __builtin_clzll(value) - 32;
}
int __builtin_ffsll(long value) {
    return value ? __builtin_ctzll(value) + 1 : 0;
}
int __builtin_ffs(int value) {
    return value ? __builtin_ctzll(value) + 1 : 0;
}
int ffs(int value) {
    return __builtin_ffs(value);
}
int __builtin_isnan(double value) {
    return value != value;
}
int __builtin_isinf_sign(double value) {
    return value == value && value - value != 0 ? (value > 0 ? 1 : -1) : 0;
}
int __builtin_isfinite(double value) {
    return value - value == 0;
}
unsigned short __builtin_bswap16(unsigned short value) {
    return value << 8 | value >> 8;
}
unsigned __builtin_bswap32(unsigned value) {
    return value << 24 | (value & 0xff00) << 8 | (value >> 8 & 0xff00) | value >> 24;
}
unsigned long __builtin_bswap64(unsigned long value) {
    return (unsigned long)__builtin_bswap32(value) << 32 | __builtin_bswap32(value >> 32);
}

/* Numbers with a fraction. Where a function has no value, `errno` is 33, and 34 where that is too large
 * or too small. */

static double __mazurka_told(double x, double y, double value) {
    if (value != value && x == x && y == y)
        __mazurka_errno = 33;
    else if (value - value != 0 && x - x == 0 && y - y == 0)
        __mazurka_errno = 34;
    return value;
}
static double __mazurka_told_zero(double x, double y, double value) {
    if (value == 0 && x - x == 0 && y - y == 0)
        __mazurka_errno = 34;
    return __mazurka_told(x, y, value);
}
int __builtin_isgreater(double x, double y) {
    return x > y;
}
int __builtin_isgreaterequal(double x, double y) {
    return x >= y;
}
int __builtin_isless(double x, double y) {
    return x < y;
}
int __builtin_islessequal(double x, double y) {
    return x <= y;
}
int __builtin_islessgreater(double x, double y) {
    return x < y || x > y;
}
int __builtin_isunordered(double x, double y) {
    return x != x || y != y;
}

/* Output: it is evaluated and goes nowhere, or into memory. A call with a format that is known becomes
 * one of `print_text`, `print_signed` and so on for each of its parts, and `print_end`: `at` characters
 * are there already, those from `room - 1` on are dropped, and a `room` of 0 is a file.
 * Flags: 1 `-`, 2 `0`, 4 `+`, 8 a blank, 16 `#`, 32 capital letters. */

static size_t __mazurka_put(char *to, size_t room, size_t at, int c) {
    if (at + 1 < room)
        to[at] = c;
    return at + 1;
}
static size_t __mazurka_pad(char *to, size_t room, size_t at, int c, int count) {
    for (; count > 0; count--)
        at = __mazurka_put(to, room, at, c);
    return at;
}
size_t __mazurka_print_text(char *to, size_t room, size_t at, const char *text, int flags,
                            int width, int precision) {
    int length = 0;
    while ((precision < 0 || length < precision) && text[length])
        length++;
    if (width < 0) {
        flags |= 1;
        width = -width;
    }
    int blanks = width > length ? width - length : 0;
    if (!room)
        return at + length + blanks;
    if (!(flags & 1))
        at = __mazurka_pad(to, room, at, ' ', blanks);
    for (int i = 0; i < length; i++)
        at = __mazurka_put(to, room, at, text[i]);
    if (flags & 1)
        at = __mazurka_pad(to, room, at, ' ', blanks);
    return at;
}
size_t __mazurka_print_character(char *to, size_t room, size_t at, int c, int flags, int width,
                                 int precision) {
    if (width < 0) {
        flags |= 1;
        width = -width;
    }
    if (!(flags & 1))
        at = __mazurka_pad(to, room, at, ' ', width - 1);
    at = __mazurka_put(to, room, at, c);
    if (flags & 1)
        at = __mazurka_pad(to, room, at, ' ', width - 1);
    return at;
}
static size_t __mazurka_print_number(char *to, size_t room, size_t at, unsigned long value,
                                     int base, int sign, int flags, int width, int precision) {
    int letter = flags & 32 ? 'A' : 'a', has_precision = precision >= 0, n_digits = 0;
    unsigned long power = 1;
    if (width < 0) {
        flags |= 1;
        width = -width;
    }
    if (value || precision)
        for (n_digits = 1; value / power >= base; n_digits++)
            power *= base;
    int is_marked = flags & 16 && base == 16 && value;
    if (flags & 16 && base == 8 && precision <= n_digits && (value || !precision))
        precision = n_digits + 1;
    int zeros = precision > n_digits ? precision - n_digits : 0;
    int length = (sign != 0) + 2 * is_marked + zeros + n_digits;
    int blanks = width > length ? width - length : 0;
    if (!room)
        return at + length + blanks;
    if (flags & 2 && !(flags & 1) && !has_precision) {
        zeros += blanks;
        blanks = 0;
    }
    if (!(flags & 1))
        at = __mazurka_pad(to, room, at, ' ', blanks);
    if (sign)
        at = __mazurka_put(to, room, at, sign);
    if (is_marked) {
        at = __mazurka_put(to, room, at, '0');
        at = __mazurka_put(to, room, at, flags & 32 ? 'X' : 'x');
    }
    at = __mazurka_pad(to, room, at, '0', zeros);
    for (; n_digits > 0; n_digits--, power /= base) {
        int digit = value / power % base;
        at = __mazurka_put(to, room, at, digit < 10 ? '0' + digit : letter + digit - 10);
    }
    if (flags & 1)
        at = __mazurka_pad(to, room, at, ' ', blanks);
    return at;
}
size_t __mazurka_print_signed(char *to, size_t room, size_t at, long value, int flags, int width,
                              int precision) {
    int sign = value < 0 ? '-' : flags & 4 ? '+' : flags & 8 ? ' ' : 0;
    unsigned long size = value < 0 ? 0ul - (unsigned long)value : (unsigned long)value;
    return __mazurka_print_number(to, room, at, size, 10, sign, flags, width, precision);
}
size_t __mazurka_print_unsigned(char *to, size_t room, size_t at, unsigned long value, int flags,
                                int width, int precision) {
    return __mazurka_print_number(to, room, at, value, 10, 0, flags, width, precision);
}
size_t __mazurka_print_octal(char *to, size_t room, size_t at, unsigned long value, int flags,
                             int width, int precision) {
    return __mazurka_print_number(to, room, at, value, 8, 0, flags, width, precision);
}
size_t __mazurka_print_hexadecimal(char *to, size_t room, size_t at, unsigned long value,
                                   int flags, int width, int precision) {
    return __mazurka_print_number(to, room, at, value, 16, 0, flags, width, precision);
}
size_t __mazurka_print_end(char *to, size_t room, size_t at) {
    if (room)
        to[at < room ? at : room - 1] = 0;
    return at;
}

struct _IO_FILE;
struct _IO_FILE *stdout, *stderr, *stdin;

int printf(const char *format, ...) {
    __mazurka_assumption("printing returns 0");
    return 0;
}
int fprintf(struct _IO_FILE *file, const char *format, ...) {
    __mazurka_assumption("printing returns 0");
    return 0;
}
int dprintf(int file, const char *format, ...) {
    __mazurka_assumption("printing returns 0");
    return 0;
}
int puts(const char *text) {
    __mazurka_assumption("printing");
    int length = 0;
    while (text[length])
        length++;
    return length + 1;
}
int fputs(const char *text, struct _IO_FILE *file) {
    __mazurka_assumption("printing");
    for (; *text; text++)
        ;
    return 1;
}
int putchar(int c) {
    return c;
}
int fputc(int c, struct _IO_FILE *file) {
    return c;
}
int putc(int c, struct _IO_FILE *file) {
    return c;
}
int fflush(struct _IO_FILE *file) {
    return 0;
}
int setvbuf(struct _IO_FILE *file, char *buffer, int mode, size_t size) {
    return 0;
}
void perror(const char *text) {}

/* Time: it passes whenever it likes. */

int sched_yield(void) {
    __mazurka_yield();
    return 0;
}
int pthread_yield(void) {
    __mazurka_yield();
    return 0;
}
int usleep(unsigned microseconds) {
    __mazurka_yield();
    return 0;
}
unsigned sleep(unsigned seconds) {
    __mazurka_yield();
    return 0;
}
int nanosleep(const void *time, void *rest) {
    __mazurka_yield();
    return 0;
}
int clock_nanosleep(int clock, int flags, const void *time, void *rest) {
    __mazurka_yield();
    return 0;
}
long time(long *to) {
    __mazurka_assumption("clocks");
    if (to)
        *to = 0;
    return 0;
}
long clock(void) {
    __mazurka_assumption("clocks");
    return 0;
}
int clock_gettime(int clock, long *to) {
    __mazurka_assumption("clocks");
    to[0] = 0;
    to[1] = 0;
    return 0;
}
int gettimeofday(long *to, void *zone) {
    __mazurka_assumption("clocks");
    to[0] = 0;
    to[1] = 0;
    return 0;
}
int timespec_get(long *to, int base) {
    __mazurka_assumption("clocks");
    to[0] = 0;
    to[1] = 0;
    return base;
}

/* Threads. A thread is called by its number plus one: 0 is nobody. */

static int __mazurka_n_keys;
static void *__mazurka_destructors[16];
static _Thread_local void *__mazurka_values[16];
_Thread_local struct __mazurka_cleanup {
    void (*handler)(void *);
    void *argument;
    struct __mazurka_cleanup *next;
} *__mazurka_cleanups;

static void __mazurka_clean_up(void) {
    while (__mazurka_cleanups) {
        struct __mazurka_cleanup *first = __mazurka_cleanups;
        __mazurka_cleanups = first->next;
        first->handler(first->argument);
    }
    if (__mazurka_has_keys()) {
        int n_keys = __mazurka_get(&__mazurka_n_keys), is_done = 0;
        for (int round = 0; round < 4 && !is_done; round++) {
            is_done = 1;
            for (int key = 0; key < n_keys; key++) {
                void (*destructor)(void *) = __mazurka_destructors[key];
                void *value = __mazurka_values[key];
                if (value && destructor) {
                    is_done = 0;
                    __mazurka_values[key] = 0;
                    destructor(value);
                }
            }
        }
    }
}
static void *__mazurka_run(void **start) {
    void *(*routine)(void *) = start[0];
    void *argument = start[1];
    __mazurka_free(start);
    void *value = routine(argument);
    __mazurka_clean_up();
    return value;
}

int pthread_create(unsigned long *thread, const void *attributes, void *(*routine)(void *),
                   void *argument) {
    unsigned number;
    if (__mazurka_has_keys()) {
        void **start = __mazurka_allocate(16);
        start[0] = routine;
        start[1] = argument;
        number = __mazurka_spawn(__mazurka_run, start);
    } else {
        number = __mazurka_spawn(routine, argument);
    }
    if (attributes && __mazurka_get(attributes))
        __mazurka_detach(number);
    *thread = number + 1ul;
    return 0;
}
int pthread_join(unsigned long thread, void **value) {
    void *result = __mazurka_join(thread - 1);
    if (value)
        *value = result;
    return 0;
}
int pthread_detach(unsigned long thread) {
    __mazurka_detach(thread - 1);
    return 0;
}
unsigned long pthread_self(void) {
    return __mazurka_thread() + 1ul;
}
int pthread_equal(unsigned long left, unsigned long right) {
    return left == right;
}
void pthread_exit(void *value) {
    __mazurka_clean_up();
    __mazurka_exit_thread(value);
}
int pthread_attr_init(void *attributes) {
    __mazurka_set(attributes, 0);
    return 0;
}
int pthread_attr_destroy(void *attributes) {
    return 0;
}
int pthread_attr_setdetachstate(void *attributes, int state) {
    __mazurka_set(attributes, state);
    return 0;
}
int pthread_attr_getdetachstate(const void *attributes, int *state) {
    *state = __mazurka_get(attributes);
    return 0;
}
int pthread_attr_setscope(void *attributes, int scope) {
    return 0;
}
int pthread_attr_setinheritsched(void *attributes, int inherit) {
    return 0;
}
int pthread_attr_setschedpolicy(void *attributes, int policy) {
    return 0;
}
int pthread_attr_setguardsize(void *attributes, size_t size) {
    return 0;
}
int pthread_attr_setstacksize(void *attributes, size_t size) {
    return 0;
}
int pthread_setname_np(unsigned long thread, const char *name) {
    return 0;
}
int pthread_setconcurrency(int level) {
    return 0;
}

/* Mutexes. Who waits for some time takes the mutex when it comes to run, or finds it taken: the
 * schedule says when that is. The same goes for the other locks and for semaphores. */

int pthread_mutexattr_init(void *attributes) {
    __mazurka_set(attributes, 0);
    return 0;
}
int pthread_mutexattr_destroy(void *attributes) {
    return 0;
}
int pthread_mutexattr_settype(void *attributes, int kind) {
    __mazurka_set(attributes, kind);
    return 0;
}
int pthread_mutexattr_gettype(const void *attributes, int *kind) {
    *kind = __mazurka_get(attributes);
    return 0;
}
int pthread_mutexattr_setprotocol(void *attributes, int protocol) {
    return 0;
}
int pthread_mutexattr_setpshared(void *attributes, int shared) {
    return 0;
}
int pthread_mutex_init(void *mutex, const void *attributes) {
    __mazurka_mutex_init(mutex, attributes ? __mazurka_get(attributes) & 3 : 0);
    return 0;
}
int pthread_mutex_destroy(void *mutex) {
    __mazurka_mutex_destroy(mutex);
    return 0;
}
int pthread_mutex_lock(void *mutex) {
    return __mazurka_lock(mutex) ? 35 : 0;
}
int pthread_mutex_trylock(void *mutex) {
    return __mazurka_try_lock(mutex) ? 0 : 16;
}
int pthread_mutex_timedlock(void *mutex, const void *time) {
    return __mazurka_try_lock(mutex) ? 0 : 110;
}
int pthread_mutex_clocklock(void *mutex, int clock, const void *time) {
    return pthread_mutex_timedlock(mutex, time);
}
int pthread_mutex_unlock(void *mutex) {
    return __mazurka_unlock(mutex) ? 1 : 0;
}

/* A spin lock is a mutex. */

int pthread_spin_init(void *lock, int shared) {
    __mazurka_mutex_init(lock, 0);
    return 0;
}
int pthread_spin_destroy(void *lock) {
    __mazurka_mutex_destroy(lock);
    return 0;
}
int pthread_spin_lock(void *lock) {
    __mazurka_lock(lock);
    return 0;
}
int pthread_spin_trylock(void *lock) {
    return __mazurka_try_lock(lock) ? 0 : 16;
}
int pthread_spin_unlock(void *lock) {
    __mazurka_unlock(lock);
    return 0;
}

/* Reader-writer locks. */

int pthread_rwlockattr_init(void *attributes) {
    return 0;
}
int pthread_rwlockattr_destroy(void *attributes) {
    return 0;
}
int pthread_rwlockattr_setpshared(void *attributes, int shared) {
    return 0;
}
int pthread_rwlock_init(void *lock, const void *attributes) {
    __mazurka_rwlock_init(lock);
    return 0;
}
int pthread_rwlock_destroy(void *lock) {
    __mazurka_rwlock_destroy(lock);
    return 0;
}
int pthread_rwlock_rdlock(void *lock) {
    __mazurka_read_lock(lock);
    return 0;
}
int pthread_rwlock_wrlock(void *lock) {
    __mazurka_write_lock(lock);
    return 0;
}
int pthread_rwlock_tryrdlock(void *lock) {
    return __mazurka_try_read_lock(lock) ? 0 : 16;
}
int pthread_rwlock_trywrlock(void *lock) {
    return __mazurka_try_write_lock(lock) ? 0 : 16;
}
int pthread_rwlock_timedrdlock(void *lock, const void *time) {
    return __mazurka_try_read_lock(lock) ? 0 : 110;
}
int pthread_rwlock_timedwrlock(void *lock, const void *time) {
    return __mazurka_try_write_lock(lock) ? 0 : 110;
}
int pthread_rwlock_unlock(void *lock) {
    __mazurka_read_write_unlock(lock);
    return 0;
}

/* Condition variables. */

int pthread_condattr_init(void *attributes) {
    return 0;
}
int pthread_condattr_destroy(void *attributes) {
    return 0;
}
int pthread_condattr_setpshared(void *attributes, int shared) {
    return 0;
}
int pthread_condattr_setclock(void *attributes, int clock) {
    return 0;
}
int pthread_cond_init(void *condition, const void *attributes) {
    __mazurka_condvar_init(condition);
    return 0;
}
int pthread_cond_destroy(void *condition) {
    __mazurka_condvar_destroy(condition);
    return 0;
}
int pthread_cond_wait(void *condition, void *mutex) {
    if (__mazurka_spurious()) {
        __mazurka_unlock(mutex);
        __mazurka_lock(mutex);
        return 0;
    }
    __mazurka_wait(condition, mutex);
    return 0;
}
int pthread_cond_timedwait(void *condition, void *mutex, const void *time) {
    if (__mazurka_spurious()) {
        __mazurka_unlock(mutex);
        __mazurka_lock(mutex);
        return 0;
    }
    if (__mazurka_choose(0, 1)) {
        __mazurka_unlock(mutex);
        __mazurka_lock(mutex);
        return 110;
    }
    __mazurka_excuse(1);
    __mazurka_wait(condition, mutex);
    __mazurka_excuse(0);
    return 0;
}
int pthread_cond_clockwait(void *condition, void *mutex, int clock, const void *time) {
    return pthread_cond_timedwait(condition, mutex, time);
}
int pthread_cond_signal(void *condition) {
    __mazurka_notify_one(condition);
    return 0;
}
int pthread_cond_broadcast(void *condition) {
    __mazurka_notify_all(condition);
    return 0;
}

/* Barriers. */

int pthread_barrierattr_init(void *attributes) {
    return 0;
}
int pthread_barrierattr_destroy(void *attributes) {
    return 0;
}
int pthread_barrierattr_setpshared(void *attributes, int shared) {
    return 0;
}
int pthread_barrier_init(void *barrier, const void *attributes, unsigned parties) {
    if (!parties || parties > 0x7fffffff)
        return 22;
    __mazurka_barrier_init(barrier, parties);
    return 0;
}
int pthread_barrier_destroy(void *barrier) {
    __mazurka_barrier_destroy(barrier);
    return 0;
}
int pthread_barrier_wait(void *barrier) {
    /* No jump and no check looks at it: who does not look at the result does not either. */
    return (int)(0u - __mazurka_barrier_wait(barrier));
}

/* Once: the word is 0 before, 1 meanwhile and 2 afterwards. */

int pthread_once(int *once, void (*routine)(void)) {
    if (__sync_bool_compare_and_swap(once, 0, 1)) {
        routine();
        __atomic_store_n(once, 2, 5);
    } else {
        __mazurka_await(once, 2);
    }
    return 0;
}
void call_once(int *once, void (*routine)(void)) {
    if (__sync_bool_compare_and_swap(once, 0, 1)) {
        routine();
        __atomic_store_n(once, 2, 5);
    } else {
        __mazurka_await(once, 2);
    }
}

/* Thread-specific data. */

int pthread_key_create(unsigned *key, void (*destructor)(void *)) {
    int number = __mazurka_get(&__mazurka_n_keys);
    if (number == 16)
        return 11;
    __mazurka_set(&__mazurka_n_keys, number + 1);
    __mazurka_destructors[number] = destructor;
    *key = number;
    return 0;
}
int pthread_key_delete(unsigned key) {
    __mazurka_destructors[key] = 0;
    return 0;
}
int pthread_setspecific(unsigned key, const void *value) {
    __mazurka_values[key] = (void *)value;
    return 0;
}
void *pthread_getspecific(unsigned key) {
    return __mazurka_values[key];
}

/* Semaphores. */

int sem_init(void *semaphore, int shared, unsigned permits) {
    if (permits > 0x7fffffff) {
        __mazurka_errno = 22;
        return -1;
    }
    __mazurka_semaphore_init(semaphore, permits);
    return 0;
}
int sem_destroy(void *semaphore) {
    __mazurka_semaphore_destroy(semaphore);
    return 0;
}
int sem_wait(void *semaphore) {
    __mazurka_semaphore_acquire(semaphore);
    return 0;
}
int sem_trywait(void *semaphore) {
    if (__mazurka_semaphore_try_acquire(semaphore))
        return 0;
    __mazurka_errno = 11;
    return -1;
}
int sem_timedwait(void *semaphore, const void *time) {
    if (__mazurka_semaphore_try_acquire(semaphore))
        return 0;
    __mazurka_errno = 110;
    return -1;
}
int sem_clockwait(void *semaphore, int clock, const void *time) {
    return sem_timedwait(semaphore, time);
}
int sem_post(void *semaphore) {
    __mazurka_semaphore_release(semaphore);
    return 0;
}
int sem_getvalue(void *semaphore, int *value) {
    *value = __mazurka_semaphore_value(semaphore);
    return 0;
}

/* The same under the names of C11. */

static int __mazurka_run_int(void **start) {
    int (*routine)(void *) = start[0];
    void *argument = start[1];
    __mazurka_free(start);
    int value = routine(argument);
    __mazurka_clean_up();
    return value;
}
int thrd_create(unsigned long *thread, int (*routine)(void *), void *argument) {
    unsigned number;
    if (__mazurka_has_keys()) {
        void **start = __mazurka_allocate(16);
        start[0] = routine;
        start[1] = argument;
        number = __mazurka_spawn(__mazurka_run_int, start);
    } else {
        number = __mazurka_spawn(routine, argument);
    }
    *thread = number + 1ul;
    return 0;
}
int thrd_join(unsigned long thread, int *value) {
    int result = __mazurka_join_int(thread - 1);
    if (value)
        *value = result;
    return 0;
}
int thrd_detach(unsigned long thread) {
    __mazurka_detach(thread - 1);
    return 0;
}
unsigned long thrd_current(void) {
    return __mazurka_thread() + 1ul;
}
int thrd_equal(unsigned long left, unsigned long right) {
    return left == right;
}
void thrd_yield(void) {
    __mazurka_yield();
}
int thrd_sleep(const void *time, void *rest) {
    __mazurka_yield();
    return 0;
}
void thrd_exit(int value) {
    __mazurka_clean_up();
    __mazurka_exit_thread((void *)(long)value);
}
int tss_create(unsigned *key, void (*destructor)(void *)) {
    return pthread_key_create(key, destructor) ? 2 : 0;
}
void tss_delete(unsigned key) {
    pthread_key_delete(key);
}
int tss_set(unsigned key, void *value) {
    return pthread_setspecific(key, value);
}
void *tss_get(unsigned key) {
    return pthread_getspecific(key);
}
int mtx_init(void *mutex, int kind) {
    __mazurka_mutex_init(mutex, kind & 1);
    return 0;
}
void mtx_destroy(void *mutex) {
    __mazurka_mutex_destroy(mutex);
}
int mtx_lock(void *mutex) {
    __mazurka_lock(mutex);
    return 0;
}
int mtx_trylock(void *mutex) {
    return __mazurka_try_lock(mutex) ? 0 : 1;
}
int mtx_timedlock(void *mutex, const void *time) {
    return __mazurka_try_lock(mutex) ? 0 : 4;
}
int mtx_unlock(void *mutex) {
    __mazurka_unlock(mutex);
    return 0;
}
int cnd_init(void *condition) {
    __mazurka_condvar_init(condition);
    return 0;
}
void cnd_destroy(void *condition) {
    pthread_cond_destroy(condition);
}
int cnd_wait(void *condition, void *mutex) {
    return pthread_cond_wait(condition, mutex);
}
int cnd_timedwait(void *condition, void *mutex, const void *time) {
    return pthread_cond_timedwait(condition, mutex, time) == 0 ? 0 : 4;
}
int cnd_signal(void *condition) {
    __mazurka_notify_one(condition);
    return 0;
}
int cnd_broadcast(void *condition) {
    __mazurka_notify_all(condition);
    return 0;
}
