/* Assertions, as expressions without extensions of the compiler. */
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) \
    ((condition) ? (void)0 : __assert_fail(#condition, __FILE__, __LINE__, __func__))
#endif

#ifndef MAZURKA_ASSERT_H
#define MAZURKA_ASSERT_H
extern void __assert_fail(const char *, const char *, unsigned int, const char *);
#define static_assert _Static_assert
#endif
