/* Two threads, each of which calls a function of the C library or touches the same memory otherwise. The argument
   says which. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <assert.h>
#include <fcntl.h>
#include <iconv.h>
#include <locale.h>
#include <math.h>
#include <libgen.h>
#include <netdb.h>
#include <pthread.h>
#include <pwd.h>
#include <regex.h>
#include <sched.h>
#include <search.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static char text[64] = "some text, 12";
static char other[64] = "other text";
static char number[16] = "1234 and more";
static wchar_t wide[64] = L"wide text";
static wchar_t wide_other[64] = L"wide other";
static int numbers[4] = {3, 1, 2, 0};
static int shared_int;
static long shared_long;
static double shared_double;
static char *shared_pointer;
static size_t shared_size;
static struct tm shared_tm;
static time_t shared_time;
static struct timespec shared_spec;
static struct stat shared_stat;
static regex_t shared_pattern;
static sigset_t shared_set;
static pthread_attr_t shared_attributes;
static cpu_set_t shared_processors;
static char *block;
static const char *own_path;
static volatile long sink;

#define USE(value) (sink = (long)(value))

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* The other thread. */
static void read_text(void) { USE(text[2]); }
static void write_text(void) { text[2] = 'x'; }
static void write_number(void) { number[1] = '9'; }
static void write_far(void) { text[40] = 'x'; }
static void read_wide(void) { USE(wide[2]); }
static void write_wide(void) { wide[2] = L'x'; }
static void read_numbers(void) { USE(numbers[1]); }
static void read_int(void) { USE(shared_int); }
static void read_long(void) { USE(shared_long); }
static void read_double(void) { USE(shared_double > 0); }
static void read_pointer(void) { USE(shared_pointer); }
static void read_size(void) { USE(shared_size); }
static void read_tm(void) { USE(shared_tm.tm_year); }
static void read_time(void) { USE(shared_time); }
static void read_spec(void) { USE(shared_spec.tv_nsec); }
static void read_stat(void) { USE(shared_stat.st_size); }
static void read_set(void) { USE(((char *)&shared_set)[4]); }

/* Strings. */
static void f_strlen(void) { USE(strlen(text)); }
static void f_strnlen(void) { USE(strnlen(text, 8)); }
static void f_memcmp(void) { USE(memcmp(text, other, 12)); }
static void f_memchr(void) { USE(memchr(text, 't', 12)); }
static void f_memcpy(void) { memcpy(other, text, 12); }
static void f_memmove(void) { memmove(text + 1, text, 6); }
static void f_memset(void) { memset(text, 0, 12); }
static void f_mempcpy(void) { mempcpy(text, other, 12); }
static void f_memccpy(void) { memccpy(text, other, ' ', 12); }
static void f_strcmp(void) { USE(strcmp(text, "some thing")); }
static void f_strncmp(void) { USE(strncmp(text, "some thing", 5)); }
static void f_strcasecmp(void) { USE(strcasecmp(text, "SOME")); }
static void f_strcoll(void) { USE(strcoll(text, other)); }
static void f_strchr(void) { USE(strchr(text, ',')); }
static void f_strrchr(void) { USE(strrchr(text, 't')); }
static void f_strstr(void) { USE(strstr(text, "text")); }
static void f_strspn(void) { USE(strspn(text, "somet ")); }
static void f_strcspn(void) { USE(strcspn(text, ",")); }
static void f_strpbrk(void) { USE(strpbrk(text, ",;")); }
static void f_strdup(void) { free(strdup(text)); }
static void f_strcpy(void) { strcpy(text, other); }
static void f_stpcpy(void) { stpcpy(text, other); }
static void f_strncpy(void) { strncpy(text, other, 8); }
static void f_strcat(void) { strcat(text, "!"); }
static void f_strncat(void) { strncat(text, "!!", 1); }
static void f_strxfrm(void) { strxfrm(text, other, sizeof text); }
static void f_strtok_r(void) { char *save; USE(strtok_r(text, ",", &save)); }
static void f_strsep(void) { char *rest = text; USE(strsep(&rest, ",")); }
static void f_strerror_r(void) { USE(strerror_r(123456, text, sizeof text)); }
int __xpg_strerror_r(int, char *, size_t);
static void f___xpg_strerror_r(void) { USE(__xpg_strerror_r(1, text, 8)); }
static void f_pthread_setname_np(void) { pthread_setname_np(pthread_self(), text); }
static void f_pthread_getname_np(void) { pthread_getname_np(pthread_self(), text, sizeof text); }
static void f_pthread_attr_getstacksize(void) { pthread_attr_getstacksize(&shared_attributes, &shared_size); }
static void f_pthread_attr_setstacksize(void) { pthread_attr_setstacksize(&shared_attributes, 1 << 20); }
static void f_pthread_getschedparam(void) {
    struct sched_param parameter;
    pthread_getschedparam(pthread_self(), &shared_int, &parameter);
}
static void f_pthread_getaffinity_np(void) {
    pthread_getaffinity_np(pthread_self(), sizeof(cpu_set_t), &shared_processors);
}
static void read_processors(void) { USE(CPU_COUNT(&shared_processors)); }
static void f_pthread_setcancelstate(void) { pthread_setcancelstate(0, &shared_int); }
static void f_dirname(void) { USE(dirname(text)); }
static void f_wcslen(void) { USE(wcslen(wide)); }
static void f_wcscpy(void) { wcscpy(wide, wide_other); }
static void f_wcscmp(void) { USE(wcscmp(wide, wide_other)); }
static void f_wmemset(void) { wmemset(wide, L'a', 8); }
static void f_mbstowcs(void) { mbstowcs(wide, "narrow", 16); }
static void f_wcstombs(void) { wcstombs(text, wide_other, 16); }

/* Numbers. */
static void f_atoi(void) { USE(atoi(number)); }
static void f_strtol(void) { USE(strtol(number, 0, 10)); }
static void f_strtol_end(void) { USE(strtol("12", &shared_pointer, 10)); }
static void f_strtod(void) { USE(strtod(number, 0)); }
static void f_frexp(void) { volatile double x = 3.5; USE(frexp(x, &shared_int)); }
static void f_modf(void) { volatile double x = 3.5; USE(modf(x, &shared_double)); }
static void f_remquo(void) { volatile double x = 3.5; USE(remquo(x, 2, &shared_int)); }
static void f_sincos(void) { volatile double x = 3.5; double y; sincos(x, &shared_double, &y); }
static void f_lgamma_r(void) { volatile double x = 3.5; USE(lgamma_r(x, &shared_int)); }
static void f_rand_r(void) { static unsigned seed; (void)seed; USE(rand_r((unsigned *)&shared_int)); }

/* Formats. */
static void f_printf(void) { printf("%d %5.1f %s\n", 1, 2.5, text); }
static void f_printf_precision(void) { printf("%.*s\n", 4, text); }
static void f_printf_position(void) { printf("%2$s %1$d\n", 5, text); }
static void f_printf_many(void) { printf("%d%d%d%d%d%d%f%f%s\n", 1, 2, 3, 4, 5, 6, 1.0, 2.0, text); }
static void f_printf_n(void) { printf("abc%n\n", &shared_int); }
static void f_fprintf(void) { fprintf(stderr, "%s\n", text); }
static void f_snprintf(void) { snprintf(text, sizeof text, "%d", 12345); }
static void f_sprintf(void) { sprintf(text, "%d", 12345); }
static void f_asprintf(void) { asprintf(&shared_pointer, "%d", 12345); }
static void call_vsnprintf(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
}
static void f_vsnprintf(void) { call_vsnprintf("%s", "abcdef"); }
static void f_swprintf(void) { swprintf(wide, 64, L"%d", 12345); }
static void f_sscanf(void) { USE(sscanf("12 34", "%d", &shared_int)); }
static void f_sscanf_text(void) { USE(sscanf("word", "%10s", text)); }
static void f_sscanf_from(void) { int n; USE(sscanf(number, "%d", &n)); }
static void f_sscanf_set(void) { int n; USE(sscanf("1:abc", "%d:%[a-z]", &n, text)); }

/* Files. */
static void f_puts(void) { puts(text); }
static void f_fputs(void) { fputs(text, stdout); }
static void f_fwrite(void) { fwrite(text, 1, 5, stdout); }
static void f_write(void) { USE(write(1, text, 5)); }
static void f_writev(void) { struct iovec part = {text, 5}; USE(writev(1, &part, 1)); }
static void f_read(void) {
    int file = open("/dev/zero", O_RDONLY);
    USE(read(file, text, 5));
    close(file);
}
static void f_readv(void) {
    int file = open("/dev/zero", O_RDONLY);
    struct iovec part = {text, 5};
    USE(readv(file, &part, 1));
    close(file);
}
static void f_fread(void) {
    FILE *file = fopen("/dev/zero", "r");
    USE(fread(text, 1, 5, file));
    fclose(file);
}
static void f_fgets(void) {
    FILE *file = fopen(own_path, "r");
    USE(fgets(text, 6, file));
    fclose(file);
}
static void f_getline(void) {
    FILE *file = fopen(own_path, "r");
    USE(getline(&shared_pointer, &shared_size, file));
    fclose(file);
}
static void f_stat(void) { USE(stat("/", &shared_stat)); }
static void f_getcwd(void) { USE(getcwd(text, sizeof text)); }
static void f_readlink(void) { USE(readlink("/proc/self/exe", text, 5)); }
static void f_uname(void) { static struct utsname name; uname(&name); memcpy(text, name.sysname, 5); }

/* Time. */
static void f_localtime_r(void) { time_t now = 0; localtime_r(&now, &shared_tm); }
static void f_mktime(void) { USE(mktime(&shared_tm)); }
static void f_strftime(void) { struct tm at = {.tm_mday = 1}; strftime(text, 64, "%Y-%m-%d", &at); }
static void f_asctime_r(void) { struct tm at = {.tm_mday = 1}; asctime_r(&at, text); }
static void f_time(void) { time(&shared_time); }
static void f_clock_gettime(void) { clock_gettime(CLOCK_REALTIME, &shared_spec); }
static void f_gmtime(void) { time_t at = 5; USE(gmtime(&at)->tm_year); }
static void f_localtime(void) { time_t at = 5; USE(localtime(&at)->tm_year); }
static void f_ctime(void) { time_t at = 5; USE(ctime(&at)[3]); }

/* Sorting and others. */
static void f_qsort(void) { qsort(numbers, 4, sizeof(int), compare); }
static void f_inet_ntop(void) { struct in_addr a = {1}; USE(inet_ntop(AF_INET, &a, text, sizeof text)); }
static void f_inet_pton(void) { USE(inet_pton(AF_INET, "1.2.3.4", &shared_int)); }
static void f_regcomp(void) { USE(regcomp(&shared_pattern, "a*", 0)); }
static void f_regexec(void) { regmatch_t match; USE(regexec(&shared_pattern, text, 1, &match, 0)); }
static void f_sigemptyset(void) { sigemptyset(&shared_set); }
static void f_getaddrinfo(void) {
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST};
    USE(getaddrinfo("127.0.0.1", 0, &hints, (struct addrinfo **)&shared_pointer));
}
static void f_iconv(void) {
    iconv_t conversion = iconv_open("UTF-8", "ISO-8859-1");
    char *from = other, *to = text;
    size_t n_from = 6, n_to = 16;
    USE(iconv(conversion, &from, &n_from, &to, &n_to));
    iconv_close(conversion);
}

/* What the library keeps. */
static void f_strtok(void) { char mine[] = "a,b"; USE(strtok(mine, ",")); }
static void f_strerror(void) { USE(strerror(1)); }
static void f_strsignal(void) { USE(strsignal(1)); }
static void read_environ(void) { USE(environ); }
static void f_unsetenv(void) { unsetenv("MAZURKA_TEST"); }
static void f_posix_memalign(void) { posix_memalign((void **)&shared_pointer, 64, 64); }
static void f_getenv(void) { USE(getenv("MAZURKA_TEST")); }
static void f_setenv(void) { setenv("MAZURKA_TEST", "1", 1); }
static void f_setlocale(void) { setlocale(LC_ALL, "C"); }
static void f_localeconv(void) { USE(localeconv()->decimal_point); }
static void f_drand48(void) { USE(drand48() > 0.5); }
static void f_inet_ntoa(void) { struct in_addr a = {1}; USE(inet_ntoa(a)); }
static void f_getpwnam(void) { USE(getpwnam("root")); }
static void f_l64a(void) { USE(l64a(1234)); }
static void f_ecvt(void) { int point, sign; volatile double x = 3.5; USE(ecvt(x, 3, &point, &sign)); }
static void write_sign(void) { signgam = 3; }
static void f_lgammaf(void) { volatile float x = 3.5f; USE(lgammaf(x)); }
static void f_lgamma(void) { volatile double x = 3.5; USE(lgamma(x)); }
static void f_hsearch(void) { ENTRY entry = {"key", 0}; USE(hsearch(entry, ENTER)); }

/* Long ranges, and what threads are given. */
static char long_text[40000];
static void write_end(void) { long_text[39000] = 1; }
static void f_memset_long(void) { memset(long_text, 0, sizeof long_text); }
static pthread_t handle;
static void *nothing(void *unused) { return unused; }
static void read_handle(void) { USE(handle); }
static void f_pthread_create(void) { pthread_create(&handle, 0, nothing, 0); }
static void f_pthread_join(void) {
    pthread_t thread;
    pthread_create(&thread, 0, nothing, 0);
    pthread_join(thread, (void **)&shared_pointer);
}

/* What was freed. */
static void free_block(void) { free(block); }
static void f_freed_strlen(void) { USE(strlen(block)); }
static void f_freed_printf(void) { printf("%s\n", block); }
static void f_freed_fwrite(void) { fwrite(block, 1, 4, stdout); }
static void f_freed_strcpy(void) { strcpy(block, "abc"); }

/* No conflict. */
static void read_only(void) { USE(strlen(other) + strtol(other, 0, 10) + memcmp(other, "x", 1)); }
static void own_time(void) { time_t at = 5; struct tm mine; gmtime_r(&at, &mine); }
static void prints_little(void) { snprintf(text, 8, "%s", "a long text that is cut off here, and longer"); }
static void copies_little(void) { strncpy(text, "ab", 3); }
static void scans_nothing(void) { USE(sscanf("x", "%d", &shared_int)); }

struct Case {
    const char *name;
    void (*one)(void);
    void (*two)(void);
};

#define BOTH(name) {#name, f_##name, f_##name}
#define WITH(name, two) {#name, f_##name, two}

static const struct Case cases[] = {
    WITH(strlen, write_text), WITH(strnlen, write_text), WITH(memcmp, write_text),
    WITH(memchr, write_text), WITH(memcpy, write_text), WITH(memmove, read_text),
    WITH(memset, read_text), WITH(mempcpy, read_text), WITH(memccpy, read_text),
    WITH(strcmp, write_text), WITH(strncmp, write_text), WITH(strcasecmp, write_text),
    WITH(strcoll, write_text), WITH(strchr, write_text), WITH(strrchr, write_text),
    WITH(strstr, write_text), WITH(strspn, write_text), WITH(strcspn, write_text),
    WITH(strpbrk, write_text), WITH(strdup, write_text), WITH(strcpy, read_text),
    WITH(stpcpy, read_text), WITH(strncpy, read_text), WITH(strcat, write_text),
    WITH(strncat, write_text), WITH(strxfrm, read_text), WITH(strtok_r, write_text),
    WITH(strsep, write_text), WITH(strerror_r, read_text), WITH(dirname, read_text),
    WITH(__xpg_strerror_r, read_text), WITH(pthread_setname_np, write_text),
    WITH(pthread_getname_np, read_text), WITH(pthread_attr_getstacksize, read_size),
    WITH(pthread_attr_setstacksize, f_pthread_attr_getstacksize),
    WITH(pthread_getschedparam, read_int), WITH(pthread_getaffinity_np, read_processors),
    WITH(pthread_setcancelstate, read_int),
    WITH(wcslen, write_wide), WITH(wcscpy, read_wide), WITH(wcscmp, write_wide),
    WITH(wmemset, read_wide), WITH(mbstowcs, read_wide), WITH(wcstombs, read_text),
    WITH(atoi, write_number), WITH(strtol, write_number), WITH(strtol_end, read_pointer),
    WITH(strtod, write_number), WITH(frexp, read_int), WITH(modf, read_double),
    WITH(remquo, read_int), WITH(sincos, read_double), WITH(lgamma_r, read_int),
    WITH(rand_r, read_int), WITH(printf, write_text), WITH(printf_precision, write_text),
    WITH(printf_position, write_text), WITH(printf_many, write_text), WITH(printf_n, read_int),
    WITH(fprintf, write_text), WITH(snprintf, read_text), WITH(sprintf, read_text),
    WITH(asprintf, read_pointer), WITH(vsnprintf, read_text), WITH(swprintf, read_wide),
    WITH(sscanf, read_int), WITH(sscanf_text, read_text), WITH(sscanf_from, write_number),
    WITH(sscanf_set, read_text), WITH(puts, write_text), WITH(fputs, write_text),
    WITH(fwrite, write_text), WITH(write, write_text), WITH(writev, write_text),
    WITH(read, read_text), WITH(readv, read_text), WITH(fread, read_text),
    WITH(fgets, read_text), WITH(getline, read_size), WITH(stat, read_stat),
    WITH(getcwd, read_text), WITH(readlink, read_text), WITH(uname, read_text),
    WITH(localtime_r, read_tm), WITH(mktime, read_tm), WITH(strftime, read_text),
    WITH(asctime_r, read_text), WITH(time, read_time), WITH(clock_gettime, read_spec),
    WITH(qsort, read_numbers), WITH(inet_ntop, read_text), WITH(inet_pton, read_int),
    BOTH(regcomp), WITH(regexec, write_text), WITH(sigemptyset, read_set),
    WITH(getaddrinfo, read_pointer), WITH(iconv, read_text),
    WITH(memset_long, write_end), WITH(pthread_create, read_handle),
    WITH(pthread_join, read_pointer), BOTH(strtok), BOTH(strerror), BOTH(strsignal), BOTH(setenv),
    WITH(unsetenv, read_environ), WITH(posix_memalign, read_pointer), WITH(lgammaf, write_sign), WITH(getenv, f_setenv),
    WITH(setlocale, f_localeconv), BOTH(localeconv), BOTH(drand48), BOTH(inet_ntoa),
    BOTH(getpwnam), BOTH(l64a), BOTH(ecvt), BOTH(lgamma), BOTH(hsearch), BOTH(gmtime),
    WITH(localtime, f_gmtime), BOTH(ctime),
    WITH(freed_strlen, free_block), WITH(freed_printf, free_block),
    WITH(freed_fwrite, free_block), WITH(freed_strcpy, free_block),
    {"holds_read_only", read_only, read_only}, {"holds_own_time", own_time, own_time},
    {"holds_prints_little", prints_little, write_far},
    {"holds_copies_little", copies_little, write_far},
    {"holds_strncmp", f_strncmp, write_far}, {"holds_strchr", f_strchr, write_far},
    {"holds_printf_precision", f_printf_precision, write_far},
    {"holds_scans_nothing", scans_nothing, read_int}, {"holds_read_long", read_long, read_long},
    {"holds_getenv", f_getenv, f_getenv}, {"holds_strlen", f_strlen, f_strlen},
};

static const struct Case *chosen;

static void *run(void *unused) {
    (void)unused;
    chosen->two();
    return 0;
}

int main(int argc, char **argv) {
    own_path = argv[0];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (argc < 2) {
            puts(cases[i].name);
        } else if (!strcmp(cases[i].name, argv[1])) {
            chosen = &cases[i];
        }
    }
    if (argc < 2) {
        return 0;
    }
    if (!chosen) {
        return 1;
    }
    block = malloc(16);
    strcpy(block, "abc");
    hcreate(8);
    if (!strcmp(chosen->name, "regexec")) {
        regcomp(&shared_pattern, "a*", 0);
    }
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    chosen->one();
    pthread_join(thread, 0);
    return 0;
}
