/* Functions of numbers with a fraction, once for `double` and once for `float`: `real` is the type, and `@` the end
 * of a name, which is nothing or `f`. */

/* Those of one number ignore the second. */
real __mazurka_sqrt@(real x, real y);
real __mazurka_floor@(real x, real y);
real __mazurka_ceil@(real x, real y);
real __mazurka_trunc@(real x, real y);
real __mazurka_round@(real x, real y);
real __mazurka_rint@(real x, real y);
real __mazurka_sin@(real x, real y);
real __mazurka_cos@(real x, real y);
real __mazurka_tan@(real x, real y);
real __mazurka_asin@(real x, real y);
real __mazurka_acos@(real x, real y);
real __mazurka_atan@(real x, real y);
real __mazurka_sinh@(real x, real y);
real __mazurka_cosh@(real x, real y);
real __mazurka_tanh@(real x, real y);
real __mazurka_exp@(real x, real y);
real __mazurka_exp2@(real x, real y);
real __mazurka_expm1@(real x, real y);
real __mazurka_log@(real x, real y);
real __mazurka_log2@(real x, real y);
real __mazurka_log10@(real x, real y);
real __mazurka_log1p@(real x, real y);
real __mazurka_pow@(real x, real y);
real __mazurka_atan2@(real x, real y);
real __mazurka_hypot@(real x, real y);
real __mazurka_fmod@(real x, real y);
real __mazurka_copysign@(real x, real y);

real sqrt@(real x) {
    return __mazurka_told(x, 0, __mazurka_sqrt@(x, 0));
}
real floor@(real x) {
    return __mazurka_floor@(x, 0);
}
real ceil@(real x) {
    return __mazurka_ceil@(x, 0);
}
real trunc@(real x) {
    return __mazurka_trunc@(x, 0);
}
real round@(real x) {
    return __mazurka_round@(x, 0);
}
real rint@(real x) {
    return __mazurka_rint@(x, 0);
}
real sin@(real x) {
    return __mazurka_told(x, 0, __mazurka_sin@(x, 0));
}
real cos@(real x) {
    return __mazurka_told(x, 0, __mazurka_cos@(x, 0));
}
real tan@(real x) {
    return __mazurka_told(x, 0, __mazurka_tan@(x, 0));
}
real asin@(real x) {
    return __mazurka_told(x, 0, __mazurka_asin@(x, 0));
}
real acos@(real x) {
    return __mazurka_told(x, 0, __mazurka_acos@(x, 0));
}
real atan@(real x) {
    return __mazurka_atan@(x, 0);
}
real sinh@(real x) {
    return __mazurka_told(x, 0, __mazurka_sinh@(x, 0));
}
real cosh@(real x) {
    return __mazurka_told(x, 0, __mazurka_cosh@(x, 0));
}
real tanh@(real x) {
    return __mazurka_tanh@(x, 0);
}
real exp@(real x) {
    return __mazurka_told_zero(x, 0, __mazurka_exp@(x, 0));
}
real exp2@(real x) {
    return __mazurka_told_zero(x, 0, __mazurka_exp2@(x, 0));
}
real expm1@(real x) {
    return __mazurka_told(x, 0, __mazurka_expm1@(x, 0));
}
real log@(real x) {
    return __mazurka_told(x, 0, __mazurka_log@(x, 0));
}
real log2@(real x) {
    return __mazurka_told(x, 0, __mazurka_log2@(x, 0));
}
real log10@(real x) {
    return __mazurka_told(x, 0, __mazurka_log10@(x, 0));
}
real log1p@(real x) {
    return __mazurka_told(x, 0, __mazurka_log1p@(x, 0));
}
real pow@(real x, real y) {
    return x != 0 ? __mazurka_told_zero(x, y, __mazurka_pow@(x, y)) : __mazurka_told(x, y, __mazurka_pow@(x, y));
}
real atan2@(real x, real y) {
    return __mazurka_atan2@(x, y);
}
real hypot@(real x, real y) {
    return __mazurka_told(x, y, __mazurka_hypot@(x, y));
}
real fmod@(real x, real y) {
    return __mazurka_told(x, y, __mazurka_fmod@(x, y));
}
real copysign@(real x, real y) {
    return __mazurka_copysign@(x, y);
}
real nearbyint@(real x) {
    return __mazurka_rint@(x, 0);
}
long lround@(real x) {
    return (long)__mazurka_round@(x, 0);
}
long long llround@(real x) {
    return (long)__mazurka_round@(x, 0);
}
long lrint@(real x) {
    return (long)__mazurka_rint@(x, 0);
}
long long llrint@(real x) {
    return (long)__mazurka_rint@(x, 0);
}
real fmin@(real x, real y) {
    return x < y || y != y ? x : y;
}
real fmax@(real x, real y) {
    return x > y || y != y ? x : y;
}
real fdim@(real x, real y) {
    return x <= y ? 0 : __mazurka_told(x, y, x - y);
}
real modf@(real x, real *whole) {
    *whole = __mazurka_trunc@(x, 0);
    return __mazurka_copysign@(x == *whole ? 0 : x - *whole, x);
}
real frexp@(real x, int *exponent) {
    *exponent = 0;
    if (x == 0 || x - x != 0)
        return x;
    for (; x >= 1 || x <= -1; x /= 2)
        ++*exponent;
    for (; x < 0.5f && x > -0.5f; x *= 2)
        --*exponent;
    return x;
}
real fabs@(real value) {
    return value < 0 ? -value : value + 0.0f;
}
int __builtin_signbit@(real value) {
    return __mazurka_copysign@(1, value) < 0;
}
