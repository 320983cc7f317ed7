//! The table: functions of the C library and of its part for mathematics, and what each does to the
//! memory of its caller.
//!
//! Sources: ISO C11 chapter 7, POSIX.1-2017, and the manual of the GNU C library, whose safety
//! remarks say which functions keep something between two calls. Names that begin with `__` are
//! those that headers and compilers use for the same functions.

use super::Effect::{
    Allocates, Also, Asks, Changes, ForProgram, Instead, MovesNumber, MovesStream, Prints,
    PrintsInto, PrintsList, PrintsListInto, Read, ReadAfter, Returns, Write, WriteAfter,
};
use super::extent::Extent::{
    Bytes, Count, CountAt, IfSo, IfZero, Product, Result, ResultAndEnd, ResultUnits, Text,
    TextIfSo, TextIfZero, TextOf, TextUpTo, ToResult, Units, Wide, WideIfSo, WideOf,
    WideResultAndEnd, WideUpTo,
};
use super::extent::{
    WIDE_LEN, fraction, text, text_up_to, to_character, to_difference, whole_number, wide,
    wide_up_to,
};
use super::format::{self, Rules};
use super::getopt;
use super::kept;
use super::{Call, State, rows};
use crate::coroutine;
use crate::machine;
use crate::names;
use crate::real::original;
use mazurka_core::{ThreadId, ViolationKind};
use std::arch::asm;
use std::ffi::c_int;

const WORD: u32 = 8;
const TIME: u32 = 8;
/// `struct tm`.
const BROKEN_DOWN: u32 = 56;
const TIMESPEC: u32 = 16;
const STAT: u32 = 144;
const STATFS: u32 = 120;
const STATVFS: u32 = 112;
const SIGNALS: u32 = 128;
const ATTRIBUTES: u32 = 56;
const PATTERN: u32 = 64;
const PASSWD: u32 = 48;
const GROUP: u32 = 32;
const SHADOW: u32 = 72;
const WIDE: u32 = WIDE_LEN as u32;
const SHIFT: u32 = 8;
const ADDRESS_INFO: u32 = 48;

// Those that the linker sends here under another name: see `rows!`. `memcpy`, `memmove` and
// `memset` are in `callbacks`.
rows! { @wrapped
    __wrap_strlen = strlen => [ForProgram, Read(0, Text)];
    __wrap_memcmp = memcmp => [ForProgram, Read(0, Count(2)), Read(1, Count(2))];
    __wrap_bcmp = bcmp => [ForProgram, Read(0, Count(2)), Read(1, Count(2))];
}

// Memory and strings.
rows! {
    __memcmpeq => [Read(0, Count(2)), Read(1, Count(2))];
    mempcpy __mempcpy __memcpy_chk __memmove_chk __mempcpy_chk
        => [Read(1, Count(2)), Write(0, Count(2))];
    __memset_chk => [Write(0, Count(2))];
    bcopy => [Read(0, Count(2)), Write(1, Count(2))];
    swab => [Read(0, Count(2)), Write(1, Count(2))];
    bzero __bzero explicit_bzero __explicit_bzero_chk memfrob => [Write(0, Count(1))];
    memccpy => [Also(|call| {
        let len = to_byte(call.word(1), call.word(2), call.word(3));
        call.read(call.word(1), len);
        call.write(call.word(0), len);
    })];
    memchr => [Also(|call| {
        call.read(call.word(0), to_byte(call.word(0), call.word(1), call.word(2)));
    })];
    memrchr => [Read(0, Count(2))];
    rawmemchr __rawmemchr => [Also(|call| {
        call.read(call.word(0), to_byte(call.word(0), call.word(1), usize::MAX));
    })];
    memmem => [Read(0, Count(1)), Read(2, Count(3))];
    strnlen => [Read(0, TextUpTo(1))];
    strcpy stpcpy __stpcpy __strcpy_chk __stpcpy_chk => [Read(1, Text), Write(0, TextOf(1))];
    strncpy stpncpy __stpncpy __strncpy_chk __stpncpy_chk
        => [Read(1, TextUpTo(2)), Write(0, Count(2))];
    strcat __strcat_chk => [Also(|call| append(call, usize::MAX))];
    strncat __strncat_chk => [Also(|call| append(call, call.word(2)))];
    strcmp => [Also(|call| compare(call, usize::MAX, |byte| byte))];
    strncmp => [Also(|call| compare(call, call.word(2), |byte| byte))];
    strcasecmp __strcasecmp strcasecmp_l __strcasecmp_l
        => [Also(|call| compare(call, usize::MAX, |byte| byte.to_ascii_lowercase()))];
    strncasecmp strncasecmp_l __strncasecmp_l
        => [Also(|call| compare(call, call.word(2), |byte| byte.to_ascii_lowercase()))];
    strcoll strcoll_l __strcoll_l strverscmp __strverscmp => [Read(0, Text), Read(1, Text)];
    strxfrm strxfrm_l __strxfrm_l => [Read(1, Text), WriteAfter(0, ResultAndEnd)];
    strchr index strchrnul => [Also(|call| {
        call.read(call.word(0), to_character(call.word(0), call.word(1), usize::MAX));
    })];
    strrchr rindex => [Read(0, Text)];
    strstr strcasestr __strcasestr => [Read(1, Text), Instead(|call| {
        let found = call.make();
        let whole = text(call.word(0));
        let to_end = found.wrapping_sub(call.word(0)).saturating_add(text(call.word(1)) - 1);
        call.read(call.word(0), if found == 0 { whole } else { to_end });
        found
    })];
    strspn strcspn => [Read(1, Text), Instead(|call| {
        let len = call.make();
        call.read(call.word(0), len + 1);
        len
    })];
    strpbrk => [Read(1, Text), ReadAfter(0, ToResult)];
    strsep __strsep_g => [Read(1, Text), Write(0, Bytes(WORD)), Instead(|call| {
        let start = word_at(call.word(0));
        let found = call.make();
        let end = word_at(call.word(0));
        if start != 0 && end != 0 {
            call.read(start, end - start);
            call.write(end - 1, 1);
        } else if start != 0 {
            call.read(start, text(start));
        }
        found
    })];
    strtok => [Instead(kept::strtok)];
    strtok_r __strtok_r => [Instead(kept::strtok_r)];
    strdup __strdup => [Read(0, Text)];
    strndup __strndup => [Read(0, TextUpTo(1))];
    strfry => [Write(0, Text)];
    basename => [Read(0, Text)];
    __xpg_basename dirname => [Write(0, Text)];
    strerror => [Allocates, Changes(State::Error)];
    strsignal => [Allocates, Changes(State::Signal)];
    strerror_r __strerror_r => [Instead(|call| {
        let found = call.make();
        if found == call.word(1) {
            call.write(found, text(found));
        }
        found
    })];
    // What does not fit is cut off, and the result says so.
    __xpg_strerror_r => [Instead(|call| {
        let error = call.make();
        if call.word(2) > 0 {
            call.write(call.word(1), text(call.word(1)));
        }
        error
    })];
    argz_count __argz_count => [Read(0, Count(1))];
    argz_stringify __argz_stringify => [Write(0, Count(1))];
    argz_next __argz_next => [Read(0, Count(1))];
}

// Wide strings.
rows! {
    wcslen => [Read(0, Wide)];
    wcsnlen => [Read(0, WideUpTo(1))];
    wcscpy wcpcpy __wcscpy_chk __wcpcpy_chk => [Read(1, Wide), Write(0, WideOf(1))];
    wcsncpy wcpncpy __wcsncpy_chk __wcpncpy_chk
        => [Read(1, WideUpTo(2)), Write(0, Units(2, WIDE))];
    wcscat __wcscat_chk => [Also(|call| append_wide(call, usize::MAX))];
    wcsncat __wcsncat_chk => [Also(|call| append_wide(call, call.word(2)))];
    wcscmp wcscoll wcscoll_l __wcscoll_l wcscasecmp wcscasecmp_l __wcscasecmp_l wcsstr wcswcs
        wcsspn wcscspn wcspbrk
        => [Read(0, Wide), Read(1, Wide)];
    wcsncmp wcsncasecmp wcsncasecmp_l __wcsncasecmp_l
        => [Read(0, WideUpTo(2)), Read(1, WideUpTo(2))];
    wcschr wcsrchr wcschrnul wcsdup => [Read(0, Wide)];
    wcsxfrm wcsxfrm_l __wcsxfrm_l => [Read(1, Wide), WriteAfter(0, WideResultAndEnd)];
    wcswidth => [Read(0, WideUpTo(1))];
    wcstok => [Read(1, Wide), Write(2, Bytes(WORD)), Also(|call| {
        let given = call.word(0);
        let start = if given == 0 { word_at(call.word(2)) } else { given };
        call.write(start, wide(start));
    })];
    wmemcpy wmempcpy wmemmove __wmemcpy_chk __wmempcpy_chk __wmemmove_chk
        => [Read(1, Units(2, WIDE)), Write(0, Units(2, WIDE))];
    wmemset __wmemset_chk => [Write(0, Units(2, WIDE))];
    wmemcmp => [Read(0, Units(2, WIDE)), Read(1, Units(2, WIDE))];
    wmemchr => [Read(0, Units(2, WIDE))];
    mbstowcs __mbstowcs_chk => [Allocates, Read(1, Text), Instead(|call| {
        let len = call.make();
        let limit = call.word(2);
        if len != usize::MAX {
            call.write(call.word(0), (len + 1).min(limit) * WIDE_LEN);
        }
        len
    })];
    wcstombs __wcstombs_chk => [Allocates, Read(1, Wide), Instead(|call| {
        let len = call.make();
        let limit = call.word(2);
        if len != usize::MAX {
            call.write(call.word(0), (len + 1).min(limit));
        }
        len
    })];
    mbsrtowcs __mbsrtowcs_chk => [Allocates, Write(3, Bytes(SHIFT)), Instead(|call| {
        multibyte(call, call.word(2), usize::MAX, WIDE_LEN)
    })];
    mbsnrtowcs __mbsnrtowcs_chk => [Allocates, Write(4, Bytes(SHIFT)), Instead(|call| {
        multibyte(call, call.word(3), call.word(2), WIDE_LEN)
    })];
    wcsrtombs __wcsrtombs_chk => [Allocates, Write(3, Bytes(SHIFT)), Instead(|call| {
        from_wide(call, call.word(2), usize::MAX)
    })];
    wcsnrtombs __wcsnrtombs_chk => [Allocates, Write(4, Bytes(SHIFT)), Instead(|call| {
        from_wide(call, call.word(3), call.word(2))
    })];
    mbrtowc __mbrtowc => [Allocates, Also(shift_state::<3>), Instead(|call| {
        let len = call.make();
        multibyte_character(call, 1, len);
        if len < usize::MAX - 1 {
            call.write(call.word(0), WIDE_LEN);
        }
        len
    })];
    mbrtoc8 => [Allocates, Write(3, Bytes(SHIFT)), Write(0, Bytes(1)), Read(1, Count(2))];
    mbrtoc16 => [Allocates, Write(3, Bytes(SHIFT)), Write(0, Bytes(2)), Read(1, Count(2))];
    mbrtoc32 => [Allocates, Write(3, Bytes(SHIFT)), Write(0, Bytes(4)), Read(1, Count(2))];
    c8rtomb c16rtomb c32rtomb => [Allocates, Write(2, Bytes(SHIFT)), WriteAfter(0, Result)];
    wcrtomb __wcrtomb_chk => [Allocates, Also(shift_state::<2>), WriteAfter(0, Result)];
    mbrlen __mbrlen => [Allocates, Also(shift_state::<2>), Instead(|call| {
        let len = call.make();
        multibyte_character(call, 0, len);
        len
    })];
    mbsinit => [Read(0, Bytes(SHIFT))];
    mblen => [Allocates, Changes(State::Character), ReadAfter(0, Result)];
    mbtowc => [Allocates, Changes(State::Character), ReadAfter(1, Result), Write(0, Bytes(WIDE))];
    wctomb __wctomb_chk => [Allocates, Changes(State::Character), WriteAfter(0, Result)];
    wctype wctype_l __wctype_l wctrans wctrans_l __wctrans_l => [Allocates, Read(0, Text)];
}

// Numbers in strings.
rows! {
    atoi atol atoll => [Also(|call| {
        call.read(call.word(0), whole_number(call.word(0), 10));
    })];
    atof => [Also(|call| call.read(call.word(0), fraction(call.word(0))))];
    strtol strtoll strtoul strtoull strtoimax strtoumax strtoq strtouq
        strtol_l strtoll_l strtoul_l strtoull_l
        __strtol_l __strtoll_l __strtoul_l __strtoull_l
        __strtol_internal __strtoll_internal __strtoul_internal __strtoull_internal
        __isoc23_strtol __isoc23_strtoll __isoc23_strtoul __isoc23_strtoull
        __isoc23_strtoimax __isoc23_strtoumax
        => [Write(1, Bytes(WORD)), Also(|call| {
            call.read(call.word(0), whole_number(call.word(0), call.word(2) as c_int));
        })];
    strtod strtof strtold strtod_l strtof_l strtold_l __strtod_l __strtof_l __strtold_l
        __strtod_internal __strtof_internal __strtold_internal __strtof128_internal
        strtof32 strtof64 strtof32x strtof64x strtof128
        strtof32_l strtof64_l strtof32x_l strtof64x_l strtof128_l
        => [Write(1, Bytes(WORD)), Also(|call| {
            call.read(call.word(0), fraction(call.word(0)));
        })];
    wcstol wcstoll wcstoul wcstoull wcstoimax wcstoumax wcstoq wcstouq
        wcstol_l wcstoll_l wcstoul_l wcstoull_l
        __wcstol_l __wcstoll_l __wcstoul_l __wcstoull_l
        __wcstol_internal __wcstoll_internal __wcstoul_internal __wcstoull_internal
        __isoc23_wcstol __isoc23_wcstoll __isoc23_wcstoul __isoc23_wcstoull
        __isoc23_wcstoimax __isoc23_wcstoumax
        wcstod wcstof wcstold wcstod_l wcstof_l wcstold_l __wcstod_l __wcstof_l __wcstold_l
        __wcstod_internal __wcstof_internal __wcstold_internal __wcstof128_internal
        wcstof32 wcstof64 wcstof32x wcstof64x wcstof128
        wcstof32_l wcstof64_l wcstof32x_l wcstof64x_l wcstof128_l
        => [Read(0, Wide), Write(1, Bytes(WORD))];
    strfromd strfromf strfroml strfromf32 strfromf64 strfromf32x strfromf64x strfromf128
        => [Read(2, Text), Write(0, Count(1))];
    a64l => [Read(0, Text)];
    l64a => [Allocates, Changes(State::Letters), Returns(Text)];
    ecvt fcvt qecvt qfcvt
        => [Allocates, Write(1, Bytes(4)), Write(2, Bytes(4)), Changes(State::Digits), Returns(Text)];
    ecvt_r fcvt_r qecvt_r qfcvt_r => [Write(1, Bytes(4)), Write(2, Bytes(4)), Write(3, Count(4))];
    gcvt => [WriteAfter(1, TextIfSo)];
    rpmatch => [Read(0, Text)];
}

// Mathematics: fractions are in other registers and do not count.
rows! {
    frexp frexpf frexpl frexpf32 frexpf64 frexpf32x frexpf64x frexpf128 => [Write(0, Bytes(4))];
    modf modff64 modff32x => [Write(0, Bytes(8))];
    modff modff32 => [Write(0, Bytes(4))];
    modfl modff64x modff128 => [Write(0, Bytes(16))];
    remquo remquof remquol remquof32 remquof64 remquof32x remquof64x remquof128
        => [Write(0, Bytes(4))];
    sincos sincosf64 sincosf32x => [Write(0, Bytes(8)), Write(1, Bytes(8))];
    sincosf sincosf32 => [Write(0, Bytes(4)), Write(1, Bytes(4))];
    sincosl sincosf64x sincosf128 => [Write(0, Bytes(16)), Write(1, Bytes(16))];
    lgamma_r lgammaf_r lgammal_r gamma_r gammaf_r gammal_r lgammaf32_r lgammaf64_r lgammaf32x_r
        lgammaf64x_r lgammaf128_r
        => [Write(0, Bytes(4))];
    lgamma lgammaf lgammal gamma gammaf gammal => [Changes(State::SignOfGamma), Also(kept::sign_of_gamma)];
    nan nanf nanl nanf32 nanf64 nanf32x nanf64x nanf128 => [Read(0, Text)];
    canonicalize canonicalizef64 canonicalizef32x => [Read(1, Bytes(8)), Write(0, Bytes(8))];
    canonicalizef canonicalizef32 => [Read(1, Bytes(4)), Write(0, Bytes(4))];
    canonicalizel canonicalizef64x canonicalizef128 => [Read(1, Bytes(16)), Write(0, Bytes(16))];
    totalorder totalordermag totalorderf64 totalordermagf64 totalorderf32x totalordermagf32x
        => [Read(0, Bytes(8)), Read(1, Bytes(8))];
    totalorderf totalordermagf totalorderf32 totalordermagf32
        => [Read(0, Bytes(4)), Read(1, Bytes(4))];
    totalorderl totalordermagl totalorderf64x totalordermagf64x totalorderf128 totalordermagf128
        => [Read(0, Bytes(16)), Read(1, Bytes(16))];
    getpayload getpayloadf64 getpayloadf32x => [Read(0, Bytes(8))];
    getpayloadf getpayloadf32 => [Read(0, Bytes(4))];
    getpayloadl getpayloadf64x getpayloadf128 => [Read(0, Bytes(16))];
    setpayload setpayloadsig setpayloadf64 setpayloadsigf64 setpayloadf32x setpayloadsigf32x
        => [Write(0, Bytes(8))];
    setpayloadf setpayloadsigf setpayloadf32 setpayloadsigf32 => [Write(0, Bytes(4))];
    setpayloadl setpayloadsigl setpayloadf64x setpayloadsigf64x setpayloadf128 setpayloadsigf128
        => [Write(0, Bytes(16))];
    fegetenv feholdexcept => [Write(0, Bytes(32))];
    fesetenv feupdateenv => [Also(|call| {
        // The default environment is no pointer.
        if call.word(0) != usize::MAX {
            call.read(call.word(0), 32);
        }
    })];
    fegetexceptflag => [Write(0, Bytes(2))];
    fesetexceptflag fetestexceptflag => [Read(0, Bytes(2))];
    fegetmode => [Write(0, Bytes(8))];
    fesetmode => [Also(|call| {
        if call.word(0) != usize::MAX {
            call.read(call.word(0), 8);
        }
    })];
}

// Random numbers. Those of `drand48` without arguments are in `process`.
rows! {
    rand random => [Instead(kept::random)];
    srand srandom => [Instead(kept::srandom)];
    initstate => [Instead(kept::initstate)];
    setstate => [Instead(kept::setstate)];
    rand_r => [Write(0, Bytes(4))];
    random_r => [Write(0, Bytes(48)), Write(1, Bytes(4))];
    srandom_r => [Write(1, Bytes(48))];
    initstate_r => [Write(1, Count(2)), Write(3, Bytes(48))];
    setstate_r => [Read(0, Bytes(4)), Write(1, Bytes(48))];
    erand48 nrand48 jrand48 => [Write(0, Bytes(6))];
    drand48_r lrand48_r mrand48_r => [Write(0, Bytes(24)), Write(1, Bytes(8))];
    erand48_r nrand48_r jrand48_r
        => [Write(0, Bytes(6)), Write(1, Bytes(24)), Write(2, Bytes(8))];
    srand48_r => [Write(1, Bytes(24))];
    seed48_r lcong48_r => [Read(0, Bytes(6)), Write(1, Bytes(24))];
}

// Time.
rows! {
    gmtime => [Instead(kept::gmtime)];
    localtime => [Instead(kept::localtime)];
    asctime => [Instead(kept::asctime)];
    ctime => [Instead(kept::ctime)];
    tzset => [Instead(kept::set_zone)];
    gmtime_r __gmtime_r
        => [Allocates, Read(0, Bytes(TIME)), WriteAfter(1, IfSo(BROKEN_DOWN))];
    localtime_r => [Allocates, Also(kept::take_zone), Read(0, Bytes(TIME)),
        WriteAfter(1, IfSo(BROKEN_DOWN))];
    asctime_r => [Read(0, Bytes(BROKEN_DOWN)), WriteAfter(1, TextIfSo)];
    ctime_r => [Allocates, Also(kept::take_zone), Read(0, Bytes(TIME)), WriteAfter(1, TextIfSo)];
    mktime timelocal => [Allocates, Also(kept::ask_for_zone), Write(0, Bytes(BROKEN_DOWN))];
    timegm => [Allocates, Write(0, Bytes(BROKEN_DOWN))];
    strftime strftime_l __strftime_l
        => [Allocates, Also(kept::ask_for_zone), Read(2, Text), Read(3, Bytes(BROKEN_DOWN)), WriteAfter(0, ResultAndEnd)];
    wcsftime wcsftime_l __wcsftime_l
        => [Allocates, Also(kept::ask_for_zone), Read(2, Wide), Read(3, Bytes(BROKEN_DOWN)), WriteAfter(0, WideResultAndEnd)];
    strptime strptime_l
        => [Allocates, Read(1, Text), Write(2, Bytes(BROKEN_DOWN)), ReadAfter(0, ToResult)];
    getdate => [Allocates, Read(0, Text), Changes(State::Date), Returns(Bytes(BROKEN_DOWN))];
    getdate_r => [Allocates, Read(0, Text), Write(1, Bytes(BROKEN_DOWN))];
    clock_getres timespec_getres => [Write(1, Bytes(TIMESPEC))];
    clock_getcpuclockid => [Write(1, Bytes(4))];
    times => [Write(0, Bytes(32))];
    getitimer => [Write(1, Bytes(32))];
    ftime => [Write(0, Bytes(16))];
}

// Formats.
rows! {
    printf => [Prints { format: 0, rules: Rules::Narrow }];
    fprintf dprintf syslog __printf_chk => [Prints { format: 1, rules: Rules::Narrow }];
    __fprintf_chk __dprintf_chk __syslog_chk => [Prints { format: 2, rules: Rules::Narrow }];
    vprintf => [PrintsList { format: 0, rules: Rules::Narrow }];
    vfprintf vdprintf vsyslog __vprintf_chk => [PrintsList { format: 1, rules: Rules::Narrow }];
    __vfprintf_chk __vdprintf_chk __vsyslog_chk
        => [PrintsList { format: 2, rules: Rules::Narrow }];
    sprintf => [PrintsInto { to: 0, limit: None, format: 1, rules: Rules::Narrow }];
    vsprintf => [PrintsListInto { to: 0, limit: None, format: 1, rules: Rules::Narrow }];
    snprintf __snprintf
        => [PrintsInto { to: 0, limit: Some(1), format: 2, rules: Rules::Narrow }];
    vsnprintf __vsnprintf
        => [PrintsListInto { to: 0, limit: Some(1), format: 2, rules: Rules::Narrow }];
    __sprintf_chk => [PrintsInto { to: 0, limit: None, format: 3, rules: Rules::Narrow }];
    __vsprintf_chk => [PrintsListInto { to: 0, limit: None, format: 3, rules: Rules::Narrow }];
    __snprintf_chk => [PrintsInto { to: 0, limit: Some(1), format: 4, rules: Rules::Narrow }];
    __vsnprintf_chk
        => [PrintsListInto { to: 0, limit: Some(1), format: 4, rules: Rules::Narrow }];
    asprintf __asprintf
        => [Write(0, Bytes(WORD)), Prints { format: 1, rules: Rules::Narrow }];
    vasprintf => [Write(0, Bytes(WORD)), PrintsList { format: 1, rules: Rules::Narrow }];
    __asprintf_chk => [Write(0, Bytes(WORD)), Prints { format: 2, rules: Rules::Narrow }];
    __vasprintf_chk => [Write(0, Bytes(WORD)), PrintsList { format: 2, rules: Rules::Narrow }];
    wprintf => [Prints { format: 0, rules: Rules::Wide }];
    fwprintf __wprintf_chk => [Prints { format: 1, rules: Rules::Wide }];
    __fwprintf_chk => [Prints { format: 2, rules: Rules::Wide }];
    vwprintf => [PrintsList { format: 0, rules: Rules::Wide }];
    vfwprintf __vwprintf_chk => [PrintsList { format: 1, rules: Rules::Wide }];
    __vfwprintf_chk => [PrintsList { format: 2, rules: Rules::Wide }];
    swprintf => [Instead(format::swprintf)];
    vswprintf => [Instead(format::vswprintf)];
    __swprintf_chk => [Instead(format::swprintf_chk)];
    __vswprintf_chk => [Instead(format::vswprintf_chk)];
    warn warnx => [Prints { format: 0, rules: Rules::Narrow }];
    vwarn vwarnx => [PrintsList { format: 0, rules: Rules::Narrow }];
    perror => [Read(0, Text)];
    psignal => [Read(1, Text)];
    // These may end the program, as `exit` does.
    err => [Prints { format: 1, rules: Rules::Narrow }, Instead(|call| format::err(call, true))];
    errx => [Prints { format: 1, rules: Rules::Narrow }, Instead(|call| format::err(call, false))];
    verr => [PrintsList { format: 1, rules: Rules::Narrow },
        Instead(|call| format::verr(call, true))];
    verrx => [PrintsList { format: 1, rules: Rules::Narrow },
        Instead(|call| format::verr(call, false))];
    error => [Prints { format: 2, rules: Rules::Narrow }, Instead(format::error)];
    sscanf => [Read(0, Text), Instead(format::sscanf)];
    vsscanf => [Read(0, Text), Instead(format::vsscanf)];
    fscanf => [MovesStream(0), Instead(format::fscanf)];
    vfscanf => [MovesStream(0), Instead(format::vfscanf)];
    scanf => [Instead(format::scanf)];
    vscanf => [Instead(format::vscanf)];
    __isoc99_sscanf => [Read(0, Text), Instead(format::__isoc99_sscanf)];
    __isoc99_vsscanf => [Read(0, Text), Instead(format::__isoc99_vsscanf)];
    __isoc99_fscanf => [MovesStream(0), Instead(format::__isoc99_fscanf)];
    __isoc99_vfscanf => [MovesStream(0), Instead(format::__isoc99_vfscanf)];
    __isoc99_scanf => [Instead(format::__isoc99_scanf)];
    __isoc99_vscanf => [Instead(format::__isoc99_vscanf)];
    __isoc23_sscanf => [Read(0, Text), Instead(format::__isoc23_sscanf)];
    __isoc23_vsscanf => [Read(0, Text), Instead(format::__isoc23_vsscanf)];
    __isoc23_fscanf => [MovesStream(0), Instead(format::__isoc23_fscanf)];
    __isoc23_vfscanf => [MovesStream(0), Instead(format::__isoc23_vfscanf)];
    __isoc23_scanf => [Instead(format::__isoc23_scanf)];
    __isoc23_vscanf => [Instead(format::__isoc23_vscanf)];
    swscanf => [Read(0, Wide), Instead(format::swscanf)];
    vswscanf => [Read(0, Wide), Instead(format::vswscanf)];
    fwscanf => [MovesStream(0), Instead(format::fwscanf)];
    vfwscanf => [MovesStream(0), Instead(format::vfwscanf)];
    wscanf => [Instead(format::wscanf)];
    vwscanf => [Instead(format::vwscanf)];
    __isoc99_swscanf => [Read(0, Wide), Instead(format::__isoc99_swscanf)];
    __isoc99_vswscanf => [Read(0, Wide), Instead(format::__isoc99_vswscanf)];
    __isoc99_fwscanf => [MovesStream(0), Instead(format::__isoc99_fwscanf)];
    __isoc99_vfwscanf => [MovesStream(0), Instead(format::__isoc99_vfwscanf)];
    __isoc99_wscanf => [Instead(format::__isoc99_wscanf)];
    __isoc99_vwscanf => [Instead(format::__isoc99_vwscanf)];
    __isoc23_swscanf => [Read(0, Wide), Instead(format::__isoc23_swscanf)];
    __isoc23_vswscanf => [Read(0, Wide), Instead(format::__isoc23_vswscanf)];
    __isoc23_fwscanf => [MovesStream(0), Instead(format::__isoc23_fwscanf)];
    __isoc23_vfwscanf => [MovesStream(0), Instead(format::__isoc23_vfwscanf)];
    __isoc23_wscanf => [Instead(format::__isoc23_wscanf)];
    __isoc23_vwscanf => [Instead(format::__isoc23_vwscanf)];
}

// Files, streams and sockets.
rows! {
    read __read __read_chk => [MovesNumber(0), WriteAfter(1, Result)];
    pread pread64 __pread64 __pread_chk __pread64_chk __libc_pread => [WriteAfter(1, Result)];
    readv => [MovesNumber(0), Instead(scatter)];
    preadv preadv64 preadv2 preadv64v2 => [Instead(scatter)];
    write __write pwrite pwrite64 __pwrite64 __libc_pwrite => [Read(1, Count(2))];
    writev pwritev pwritev64 pwritev2 pwritev64v2
        => [Also(|call| gather(call, call.word(1), call.word(2)))];
    send __send sendto => [Read(1, Count(2))];
    recv __recv __recv_chk recvfrom => [WriteAfter(1, Result)];
    sendmsg => [Also(|call| {
        let (array, len) = message(call, 1);
        gather(call, array, len);
    })];
    recvmsg => [Instead(|call| {
        let len = call.make();
        let (array, n_parts) = message(call, 1);
        fill(call, array, n_parts, len);
        call.write(call.word(1), 56);
        len
    })];
    lseek lseek64 __lseek llseek => [MovesNumber(0)];
    fread fread_unlocked => [MovesStream(3), WriteAfter(0, ResultUnits(1))];
    __fread_chk __fread_unlocked_chk => [MovesStream(4), WriteAfter(0, ResultUnits(2))];
    fwrite fwrite_unlocked => [Read(0, Product(1, 2))];
    fgets fgets_unlocked => [MovesStream(2), WriteAfter(0, TextIfSo)];
    __fgets_chk __fgets_unlocked_chk => [MovesStream(3), WriteAfter(0, TextIfSo)];
    fgetws fgetws_unlocked => [MovesStream(2), WriteAfter(0, WideIfSo)];
    __fgetws_chk __fgetws_unlocked_chk => [MovesStream(3), WriteAfter(0, WideIfSo)];
    gets __gets_chk => [WriteAfter(0, TextIfSo)];
    fputs fputs_unlocked puts => [Read(0, Text)];
    fputws fputws_unlocked => [Read(0, Wide)];
    getline => [MovesStream(2), Instead(line)];
    getdelim __getdelim => [MovesStream(3), Instead(line)];
    fgetc getc _IO_getc fgetc_unlocked getc_unlocked fgetwc getwc fgetwc_unlocked getwc_unlocked
        getw rewind fseek fseeko fseeko64 __fseeko64 ungetc ungetwc
        => [MovesStream(0)];
    fgetpos fgetpos64 => [MovesStream(0), Write(1, Bytes(16))];
    fsetpos fsetpos64 => [MovesStream(0), Read(1, Bytes(16))];
    setvbuf => [Write(1, Count(3))];
    setbuf => [Write(1, Bytes(8192))];
    setbuffer => [Write(1, Count(2))];
    stat stat64 lstat lstat64 => [Read(0, Text), WriteAfter(1, IfZero(STAT))];
    fstat fstat64 __fstat64 => [WriteAfter(1, IfZero(STAT))];
    fstatat fstatat64 __xstat __xstat64 __lxstat __lxstat64
        => [Read(1, Text), WriteAfter(2, IfZero(STAT))];
    __fxstat __fxstat64 => [WriteAfter(2, IfZero(STAT))];
    __fxstatat __fxstatat64 => [Read(2, Text), WriteAfter(3, IfZero(STAT))];
    statx => [Read(1, Text), WriteAfter(4, IfZero(256))];
    statfs statfs64 __statfs => [Read(0, Text), WriteAfter(1, IfZero(STATFS))];
    fstatfs fstatfs64 => [WriteAfter(1, IfZero(STATFS))];
    statvfs statvfs64 => [Read(0, Text), WriteAfter(1, IfZero(STATVFS))];
    fstatvfs fstatvfs64 => [WriteAfter(1, IfZero(STATVFS))];
    access eaccess euidaccess pathconf => [Read(0, Text)];
    faccessat => [Read(1, Text)];
    readlink __readlink_chk => [Read(0, Text), WriteAfter(1, Result)];
    readlinkat __readlinkat_chk => [Read(1, Text), WriteAfter(2, Result)];
    realpath __realpath_chk => [Read(0, Text), WriteAfter(1, TextIfSo)];
    canonicalize_file_name => [Read(0, Text)];
    getcwd __getcwd_chk getwd __getwd_chk => [WriteAfter(0, TextIfSo)];
    gethostname __gethostname_chk getdomainname __getdomainname_chk => [WriteAfter(0, TextIfZero)];
    getlogin_r __getlogin_r_chk => [WriteAfter(0, TextIfZero)];
    ttyname_r __ttyname_r_chk ptsname_r __ptsname_r_chk => [WriteAfter(1, TextIfZero)];
    ttyname => [Allocates, Changes(State::Terminal), Returns(Text)];
    ptsname => [Allocates, Changes(State::Terminal), Returns(Text)];
    ctermid => [Allocates, Changes(State::TerminalName)];
    cuserid => [Allocates, Changes(State::TerminalName)];
    getlogin => [Allocates, Changes(State::Login), Returns(Text)];
    getpass => [Allocates, Read(0, Text), Changes(State::Password), Returns(Text)];
    tmpnam => [Allocates, Instead(|call| {
        call.touch(State::Temporary, true);
        let found = call.make();
        call.write(call.word(0), text(call.word(0)));
        found
    })];
    tmpnam_r => [WriteAfter(0, TextIfSo)];
    tempnam => [Read(0, Text), Read(1, Text)];
    mktemp __mktemp => [Write(0, Text)];
    uname => [WriteAfter(0, IfZero(390))];
    sysinfo => [Write(0, Bytes(112))];
    getrusage => [WriteAfter(1, IfZero(144))];
    getrlimit getrlimit64 __getrlimit => [WriteAfter(1, IfZero(16))];
    getloadavg => [Write(0, Units(1, 8))];
    getcpu => [Write(0, Bytes(4)), Write(1, Bytes(4))];
    getgroups __getgroups_chk => [Write(1, Units(0, 4))];
    getresuid getresgid => [Write(0, Bytes(4)), Write(1, Bytes(4)), Write(2, Bytes(4))];
    confstr __confstr_chk => [Write(1, Count(2))];
    sched_getaffinity => [Write(2, Count(1))];
    sched_setaffinity => [Read(2, Count(1))];
    __sched_cpucount => [Read(1, Count(0))];
    sched_getparam => [Write(1, Bytes(4))];
    sched_setparam => [Read(1, Bytes(4))];
    sched_setscheduler => [Read(2, Bytes(4))];
    backtrace __backtrace => [Write(0, Units(1, WORD))];
    dladdr => [Write(1, Bytes(4 * WORD))];
    mincore => [Instead(|call| {
        let error = call.make();
        if error as c_int == 0 {
            const PAGE: usize = 4096;
            call.write(call.word(2), call.word(1).div_ceil(PAGE));
        }
        error
    })];
    sched_rr_get_interval => [Write(1, Bytes(TIMESPEC))];
    tcgetattr => [WriteAfter(1, IfZero(60))];
    getxattr lgetxattr => [Read(0, Text), Read(1, Text), WriteAfter(2, Result)];
    fgetxattr => [Read(1, Text), WriteAfter(2, Result)];
    listxattr llistxattr => [Read(0, Text), WriteAfter(1, Result)];
    flistxattr => [WriteAfter(1, Result)];
    readdir_r readdir64_r => [Write(1, Bytes(280)), Write(2, Bytes(WORD))];
    getsockname getpeername => [Write(2, Bytes(4)), WriteAfter(1, CountAt(2, 1))];
    getsockopt => [Write(4, Bytes(4)), WriteAfter(3, CountAt(4, 1))];
    setsockopt => [Read(3, Count(4))];
}

// The environment and the locale.
rows! {
    getenv secure_getenv __secure_getenv __libc_secure_getenv => [Instead(kept::getenv)];
    setenv => [Instead(kept::setenv)];
    putenv => [Instead(kept::putenv)];
    unsetenv => [Instead(kept::unsetenv)];
    clearenv => [Instead(kept::clearenv)];
    setlocale => [Allocates, Also(|call| {
        call.touch(State::Locale, call.word(1) != 0);
        call.read(call.word(1), text(call.word(1)));
    })];
    localeconv
        => [Allocates, Asks(State::Locale), Changes(State::LocaleFormats), Returns(Bytes(96))];
    nl_langinfo => [Allocates, Asks(State::Locale)];
    getopt => [Instead(getopt::short)];
    __posix_getopt => [Instead(getopt::posix)];
    getopt_long => [Instead(getopt::long)];
    getopt_long_only => [Instead(getopt::long_only)];
    getsubopt => [Write(0, Bytes(WORD)), Write(2, Bytes(WORD)), Instead(suboption)];
    openlog => [Allocates, Changes(State::Log)];
    closelog setlogmask => [Allocates, Changes(State::Log)];
    newlocale __newlocale => [Allocates, Read(1, Text)];
    iconv_open => [Allocates, Read(0, Text), Read(1, Text)];
    iconv => [Allocates, Instead(convert)];
    gettext textdomain => [Allocates, Read(0, Text)];
    dgettext __dgettext bindtextdomain bind_textdomain_codeset
        => [Allocates, Read(0, Text), Read(1, Text)];
    dcgettext __dcgettext => [Allocates, Read(0, Text), Read(1, Text)];
    ngettext => [Allocates, Read(0, Text), Read(1, Text)];
    dngettext dcngettext => [Allocates, Read(0, Text), Read(1, Text), Read(2, Text)];
}

// Sorting and searching. What a comparison reads, the program's own function tells.
rows! {
    qsort qsort_r => [Instead(|call| {
        let len = call.word(1).saturating_mul(call.word(2));
        call.write(call.word(0), len);
        call.make();
        // A comparison may have let other threads go on.
        call.write(call.word(0), len);
        0
    })];
    lfind => [Read(2, Bytes(WORD))];
    lsearch => [Write(2, Bytes(WORD)), Read(0, Count(3)), Instead(|call| {
        let before = word_at(call.word(2));
        let found = call.make();
        if word_at(call.word(2)) != before {
            call.write(found, call.word(3));
        }
        found
    })];
    tsearch __tsearch => [Write(1, Bytes(WORD))];
    tdelete __tdelete => [Write(1, Bytes(WORD))];
    tfind __tfind => [Read(1, Bytes(WORD))];
    hcreate => [Instead(kept::hcreate)];
    hdestroy => [Instead(kept::hdestroy)];
    hsearch => [Instead(kept::hsearch)];
    hcreate_r => [Write(1, Bytes(16))];
    hdestroy_r => [Write(0, Bytes(16))];
    hsearch_r => [Read(0, Text), Write(3, Bytes(WORD)), Also(|call| {
        let (table, len) = (call.word(4), 16);
        match call.word(2) as c_int {
            ENTER => call.write(table, len),
            _ => call.read(table, len),
        }
    })];
    insque => [Write(0, Bytes(16)), Also(|call| {
        let before = call.word(1);
        call.write(before, WORD as usize);
        if before != 0 {
            write_back(call, word_at(before));
        }
    })];
    remque => [Read(0, Bytes(16)), Also(|call| {
        let next = word_at(call.word(0));
        call.write(word_at(call.word(0) + WORD as usize), WORD as usize);
        write_back(call, next);
    })];
}

// Patterns.
rows! {
    regcomp => [Write(0, Bytes(PATTERN)), Read(1, Text)];
    regexec => [Read(0, Bytes(PATTERN)), Read(1, Text), Instead(|call| {
        let result = call.make();
        if result as c_int == 0 {
            call.write(call.word(3), call.word(2).saturating_mul(8));
        }
        result
    })];
    regfree => [Write(0, Bytes(PATTERN))];
    regerror => [Read(1, Bytes(PATTERN)), WriteAfter(2, Result)];
    re_comp => [Allocates, Changes(State::Pattern), Read(0, Text)];
    re_exec => [Asks(State::Pattern), Read(0, Text)];
    fnmatch => [Read(0, Text), Read(1, Text)];
    glob glob64 => [Read(0, Text), Write(3, Bytes(72))];
    globfree globfree64 => [Write(0, Bytes(72))];
    wordexp => [Read(0, Text), Write(1, Bytes(24))];
    wordfree => [Write(0, Bytes(24))];
}

// Sets of signals, and attributes of threads and locks.
rows! {
    sigemptyset sigfillset sigaddset sigdelset __sigaddset __sigdelset
        => [Write(0, Bytes(SIGNALS))];
    sigismember sigisemptyset __sigismember => [Read(0, Bytes(SIGNALS))];
    sigandset sigorset
        => [Write(0, Bytes(SIGNALS)), Read(1, Bytes(SIGNALS)), Read(2, Bytes(SIGNALS))];
    sigpending => [Write(0, Bytes(SIGNALS))];
    sigaltstack => [Read(0, Bytes(24)), Write(1, Bytes(24))];
    pthread_attr_init pthread_attr_destroy pthread_attr_setdetachstate pthread_attr_setguardsize
        pthread_attr_setinheritsched pthread_attr_setschedpolicy pthread_attr_setscope
        pthread_attr_setstack pthread_attr_setstackaddr pthread_attr_setstacksize
        pthread_attr_setsigmask_np
        => [Write(0, Bytes(ATTRIBUTES))];
    pthread_attr_setschedparam => [Write(0, Bytes(ATTRIBUTES)), Read(1, Bytes(4))];
    pthread_attr_setaffinity_np => [Write(0, Bytes(ATTRIBUTES)), Read(2, Count(1))];
    pthread_attr_getaffinity_np => [Read(0, Bytes(ATTRIBUTES)), Write(2, Count(1))];
    pthread_attr_getsigmask_np => [Read(0, Bytes(ATTRIBUTES)), Write(1, Bytes(SIGNALS))];
    pthread_attr_getdetachstate pthread_attr_getinheritsched pthread_attr_getschedparam
        pthread_attr_getschedpolicy pthread_attr_getscope
        => [Read(0, Bytes(ATTRIBUTES)), Write(1, Bytes(4))];
    pthread_attr_getguardsize pthread_attr_getstackaddr pthread_attr_getstacksize
        => [Read(0, Bytes(ATTRIBUTES)), Write(1, Bytes(WORD))];
    pthread_getattr_default_np => [Write(0, Bytes(ATTRIBUTES))];
    pthread_setattr_default_np => [Read(0, Bytes(ATTRIBUTES))];
    pthread_getschedparam => [WriteAfter(1, IfZero(4)), WriteAfter(2, IfZero(4))];
    pthread_setschedparam => [Read(2, Bytes(4))];
    pthread_getaffinity_np => [Write(2, Count(1))];
    pthread_setaffinity_np => [Read(2, Count(1))];
    pthread_getcpuclockid => [WriteAfter(1, IfZero(4))];
    pthread_mutex_getprioceiling => [WriteAfter(1, IfZero(4))];
    pthread_attr_getstack
        => [Read(0, Bytes(ATTRIBUTES)), Write(1, Bytes(WORD)), Write(2, Bytes(WORD))];
    pthread_mutexattr_init __pthread_mutexattr_init pthread_mutexattr_destroy
        __pthread_mutexattr_destroy pthread_mutexattr_settype __pthread_mutexattr_settype
        pthread_mutexattr_setkind_np pthread_mutexattr_setprioceiling pthread_mutexattr_setprotocol
        pthread_mutexattr_setpshared pthread_mutexattr_setrobust pthread_mutexattr_setrobust_np
        pthread_condattr_init pthread_condattr_destroy pthread_condattr_setclock
        pthread_condattr_setpshared pthread_barrierattr_init pthread_barrierattr_destroy
        pthread_barrierattr_setpshared
        => [Write(0, Bytes(4))];
    pthread_mutexattr_gettype pthread_mutexattr_getkind_np pthread_mutexattr_getprioceiling
        pthread_mutexattr_getprotocol pthread_mutexattr_getpshared pthread_mutexattr_getrobust
        pthread_mutexattr_getrobust_np pthread_condattr_getclock pthread_condattr_getpshared
        pthread_barrierattr_getpshared
        => [Read(0, Bytes(4)), Write(1, Bytes(4))];
    pthread_rwlockattr_init pthread_rwlockattr_destroy pthread_rwlockattr_setkind_np
        pthread_rwlockattr_setpshared
        => [Write(0, Bytes(8))];
    pthread_rwlockattr_getkind_np pthread_rwlockattr_getpshared
        => [Read(0, Bytes(8)), Write(1, Bytes(4))];
}

// Jumps out of functions.
rows! {
    longjmp _longjmp siglongjmp __longjmp_chk => [Also(jump)];
}

// Names of hosts and users.
rows! {
    inet_ntop => [Also(|call| call.read(call.word(1), address_len(call.word(0)))),
        WriteAfter(2, TextIfSo)];
    inet_pton => [Read(1, Text), Instead(|call| {
        let result = call.make();
        if result as c_int == 1 {
            call.write(call.word(2), address_len(call.word(0)));
        }
        result
    })];
    inet_aton => [Read(0, Text), WriteAfter(1, IfSo(4))];
    inet_addr inet_network => [Read(0, Text)];
    inet_ntoa => [Allocates, Changes(State::InternetAddress), Returns(Text)];
    getaddrinfo
        => [Allocates, Read(0, Text), Read(1, Text), Read(2, Bytes(ADDRESS_INFO)), WriteAfter(3, IfZero(WORD))];
    getnameinfo => [Read(0, Count(1)), Write(2, Count(3)), Write(4, Count(5)), Instead(name_info)];
    gethostbyname gethostbyname2 gethostbyaddr gethostent
        => [Allocates, Changes(State::Host), Returns(Bytes(32))];
    sethostent endhostent => [Allocates, Changes(State::Host)];
    gethostbyname_r => [Allocates, Read(0, Text), Write(1, Bytes(32)), Write(2, Count(3)),
        Write(4, Bytes(WORD)), Write(5, Bytes(4))];
    getservbyname getservbyport getservent
        => [Allocates, Changes(State::Service), Returns(Bytes(32))];
    setservent endservent => [Allocates, Changes(State::Service)];
    getprotobyname getprotobynumber getprotoent
        => [Allocates, Changes(State::Protocol), Returns(Bytes(24))];
    setprotoent endprotoent => [Allocates, Changes(State::Protocol)];
    getnetbyname getnetbyaddr getnetent => [Allocates, Changes(State::Network), Returns(Bytes(24))];
    setnetent endnetent => [Allocates, Changes(State::Network)];
    getrpcbyname getrpcbynumber getrpcent
        => [Allocates, Changes(State::Remote), Returns(Bytes(24))];
    setrpcent endrpcent => [Allocates, Changes(State::Remote)];
    getaliasbyname getaliasent => [Allocates, Changes(State::Aliases), Returns(Bytes(32))];
    setaliasent endaliasent => [Allocates, Changes(State::Aliases)];
    ether_ntoa ether_aton => [Allocates, Changes(State::Ethernet)];
    ether_ntoa_r => [Read(0, Bytes(6)), WriteAfter(1, TextIfSo)];
    ether_aton_r => [Read(0, Text), WriteAfter(1, IfSo(6))];
    getpwnam => [Allocates, Read(0, Text), Changes(State::UserEntry), Returns(Bytes(PASSWD))];
    getpwuid getpwent fgetpwent => [Allocates, Changes(State::UserEntry), Returns(Bytes(PASSWD))];
    setpwent endpwent => [Allocates, Changes(State::UserEntry)];
    getpwnam_r
        => [Allocates, Read(0, Text), Write(1, Bytes(PASSWD)), Write(2, Count(3)), Write(4, Bytes(WORD))];
    getpwuid_r => [Allocates, Write(1, Bytes(PASSWD)), Write(2, Count(3)), Write(4, Bytes(WORD))];
    getpwent_r
        => [Allocates, Changes(State::UserEntry), Write(0, Bytes(PASSWD)), Write(1, Count(2)),
        Write(3, Bytes(WORD))];
    getgrnam => [Allocates, Read(0, Text), Changes(State::Group), Returns(Bytes(GROUP))];
    getgrgid getgrent fgetgrent => [Allocates, Changes(State::Group), Returns(Bytes(GROUP))];
    setgrent endgrent => [Allocates, Changes(State::Group)];
    getgrnam_r
        => [Allocates, Read(0, Text), Write(1, Bytes(GROUP)), Write(2, Count(3)), Write(4, Bytes(WORD))];
    getgrgid_r => [Allocates, Write(1, Bytes(GROUP)), Write(2, Count(3)), Write(4, Bytes(WORD))];
    getgrent_r => [Allocates, Changes(State::Group), Write(0, Bytes(GROUP)), Write(1, Count(2)),
        Write(3, Bytes(WORD))];
    getgrouplist => [Allocates, Read(0, Text), Write(3, Bytes(4)), WriteAfter(2, CountAt(3, 4))];
    getspnam getspent fgetspent sgetspent
        => [Allocates, Changes(State::Shadow), Returns(Bytes(SHADOW))];
    setspent endspent => [Allocates, Changes(State::Shadow)];
    getutent getutid getutline getutxent getutxid getutxline pututline pututxline
        => [Allocates, Changes(State::Users)];
    setutent endutent setutxent endutxent utmpname utmpxname => [Allocates, Changes(State::Users)];
    getmntent => [Allocates, Changes(State::Mounts), Returns(Bytes(40))];
    getfsent getfsfile getfsspec setfsent endfsent => [Allocates, Changes(State::FileSystems)];
    getttyent getttynam setttyent endttyent => [Allocates, Changes(State::Terminals)];
    getusershell setusershell endusershell => [Allocates, Changes(State::Shells)];
    crypt => [Allocates, Read(0, Text), Read(1, Text), Changes(State::Crypt), Returns(Text)];
    setkey => [Allocates, Read(0, Bytes(64)), Changes(State::Crypt)];
    encrypt => [Allocates, Write(0, Bytes(64)), Changes(State::Crypt)];
    crypt_r => [Read(0, Text), Read(1, Text), Write(2, Bytes(256))];
}

const ENTER: c_int = 1;

/// An element of a list, if there is one, gets another one before it.
fn write_back(call: &Call<'_>, element: usize) {
    if element != 0 {
        call.write(element + WORD as usize, WORD as usize);
    }
}

/// `getsubopt`: reads up to the next comma, and ends the text there; and reads the tokens.
fn suboption(call: &Call<'_>) -> usize {
    let start = word_at(call.word(0));
    for idx in 0.. {
        let place = call.word(1) + idx * WORD as usize;
        call.read(place, WORD as usize);
        let token = word_at(place);
        if token == 0 {
            break;
        }
        call.read(token, text(token));
    }
    let whole = text(start);
    let found = call.make();
    let end = word_at(call.word(0));
    let len = end.saturating_sub(start);
    // Where the text ends, the result is its end.
    let is_last = len + 1 == whole;
    call.read(start, if is_last { whole } else { len });
    if !is_last && len > 0 {
        call.write(end - 1, 1);
    }
    found
}

/// A pointer of the program's; none, if there is none.
fn word_at(address: usize) -> usize {
    if address == 0 {
        return 0;
    }
    // SAFETY: the program gives a pointer to a pointer.
    unsafe { *(address as *const usize) }
}

/// Up to a byte and that, or as far as `limit` goes.
fn to_byte(address: usize, byte: usize, limit: usize) -> usize {
    if address == 0 {
        return 0;
    }
    let mut len = 0;
    while len < limit {
        len += 1;
        // SAFETY: the program gives so many bytes, or has this one among them.
        if unsafe { *(address as *const u8).add(len - 1) } == byte as u8 {
            break;
        }
    }
    len
}

/// `strcat`, of no more than `limit` characters.
fn append(call: &Call<'_>, limit: usize) {
    let (to, from) = (call.word(0), call.word(1));
    if to == 0 || from == 0 {
        return;
    }
    let (old, new) = (text(to), text_up_to(from, limit));
    // Whatever is appended has an end.
    let has_end = new > 0 && new - 1 < limit && text(from) == new;
    call.read(from, new);
    call.read(to, old);
    call.write(to + old - 1, new + usize::from(!has_end));
}

fn append_wide(call: &Call<'_>, limit: usize) {
    let (to, from) = (call.word(0), call.word(1));
    let (old, new) = (wide(to), wide_up_to(from, limit));
    if old == 0 || from == 0 {
        return;
    }
    let has_end = wide(from) == new;
    call.read(from, new);
    call.read(to, old);
    call.write(to + old - WIDE_LEN, new + if has_end { 0 } else { WIDE_LEN });
}

/// `strcmp`, of no more than `limit` characters.
fn compare(call: &Call<'_>, limit: usize, fold: fn(u8) -> u8) {
    let (one, other) = (call.word(0), call.word(1));
    if one != 0 && other != 0 {
        let len = to_difference(one, other, limit, fold);
        call.read(one, len);
        call.read(other, len);
    }
}

/// The state of a conversion, which the library keeps if the program gives none.
fn shift_state<const IDX: u8>(call: &Call<'_>) {
    match call.word(IDX) {
        0 => call.touch(State::Character, true),
        state => call.write(state, SHIFT as usize),
    }
}

/// A character was read that so many bytes stand for, or was not complete.
fn multibyte_character(call: &Call<'_>, idx: u8, len: usize) {
    const INVALID: usize = usize::MAX;
    const INCOMPLETE: usize = usize::MAX - 1;
    let limit = call.word(idx + 1);
    match len {
        INVALID | INCOMPLETE => call.read(call.word(idx), limit),
        len => call.read(call.word(idx), len.max(1).min(limit)),
    }
}

/// `mbsrtowcs`: the string and a pointer that moves on, the result with a limit.
fn multibyte(call: &Call<'_>, limit: usize, most: usize, unit: usize) -> usize {
    let start = word_at(call.word(1));
    let len = call.make();
    let end = word_at(call.word(1));
    if call.word(0) == 0 {
        call.read(start, text_up_to(start, most.min(text(start))));
        return len;
    }
    call.write(call.word(1), WORD as usize);
    let is_whole = end == 0;
    call.read(start, if is_whole { text(start) } else { end.saturating_sub(start) });
    if len != usize::MAX {
        call.write(call.word(0), (len + usize::from(is_whole)).min(limit) * unit);
    }
    len
}

/// `wcsrtombs`, likewise.
fn from_wide(call: &Call<'_>, limit: usize, most: usize) -> usize {
    let start = word_at(call.word(1));
    let whole = wide_up_to(start, most);
    let len = call.make();
    let end = word_at(call.word(1));
    if call.word(0) == 0 {
        call.read(start, whole);
        return len;
    }
    call.write(call.word(1), WORD as usize);
    let is_whole = end == 0;
    call.read(start, if is_whole { whole } else { end.saturating_sub(start) });
    if len != usize::MAX {
        call.write(call.word(0), (len + usize::from(is_whole)).min(limit));
    }
    len
}

/// The parts that something is read from or written to: where, and how long.
fn parts(array: usize, n_parts: usize) -> &'static [(usize, usize)] {
    if array == 0 || n_parts > 1024 {
        return &[];
    }
    // SAFETY: the program gives so many parts, each a pointer and a length.
    unsafe { std::slice::from_raw_parts(array as *const (usize, usize), n_parts) }
}

/// `writev`.
fn gather(call: &Call<'_>, array: usize, n_parts: usize) {
    call.read(array, n_parts.saturating_mul(16));
    for &(start, len) in parts(array, n_parts) {
        call.read(start, len);
    }
}

/// `readv`.
fn scatter(call: &Call<'_>) -> usize {
    let (array, n_parts) = (call.word(1), call.word(2));
    call.read(array, n_parts.saturating_mul(16));
    let len = call.make();
    fill(call, array, n_parts, len);
    len
}

fn fill(call: &Call<'_>, array: usize, n_parts: usize, len: usize) {
    let mut left = usize::try_from(len as isize).unwrap_or(0);
    for &(start, len) in parts(array, n_parts) {
        let written = len.min(left);
        call.write(start, written);
        left -= written;
    }
}

/// The parts of a message: where they are, and how many.
fn message(call: &Call<'_>, idx: u8) -> (usize, usize) {
    const PARTS: usize = 16;
    let address = call.word(idx);
    if address == 0 {
        return (0, 0);
    }
    call.read(address, 56);
    (word_at(address + PARTS), word_at(address + PARTS + WORD as usize))
}

/// `getline` and `getdelim`: the block may be another one afterwards.
fn line(call: &Call<'_>) -> usize {
    let (block, room) = (call.word(0), call.word(1));
    let old = word_at(block);
    if old != 0 {
        call.write(old, 1);
    }
    call.write(block, WORD as usize);
    call.write(room, WORD as usize);
    let len = call.make();
    if let Ok(len) = usize::try_from(len as isize) {
        call.write(word_at(block), len + 1);
    }
    len
}

/// `iconv`: as far as both pointers have moved.
fn convert(call: &Call<'_>) -> usize {
    let [from, to] = [1, 3].map(|idx| word_at(call.word(idx)));
    for idx in 1..=4 {
        call.write(call.word(idx), WORD as usize);
    }
    let result = call.make();
    call.read(from, word_at(call.word(1)).saturating_sub(from));
    call.write(to, word_at(call.word(3)).saturating_sub(to));
    result
}

/// `getnameinfo`, which has seven arguments.
fn name_info(call: &Call<'_>) -> usize {
    type Word = usize;
    let real = original!(getnameinfo(Word, Word, Word, Word, Word, Word, c_int) -> c_int);
    let [a, b, c, d, e, f] = [0, 1, 2, 3, 4, 5].map(|idx| call.word(idx));
    let flags = call.list(6).word() as c_int;
    let mut result = 0;
    // SAFETY: the program wanted to call just this.
    coroutine::as_host(|| result = unsafe { real(a, b, c, d, e, f, flags) });
    result as usize
}

/// `longjmp`: not to a function of another thread. The registers are in no order that is told, and
/// the stack pointer is kept as the C library keeps pointers.
fn jump(call: &Call<'_>) {
    const STACK_POINTER: usize = 6 * WORD as usize;
    const SHIFTED_BY: u32 = 0x11;
    let guard: usize;
    // SAFETY: that is where each thread has it.
    unsafe { asm!("mov {}, fs:[0x30]", out(reg) guard, options(nostack, readonly)) };
    let buffer = call.word(0);
    call.read(buffer, STACK_POINTER + WORD as usize);
    let stack_pointer = word_at(buffer + STACK_POINTER).rotate_right(SHIFTED_BY) ^ guard;
    let idx = coroutine::stack_of(stack_pointer);
    if idx < ThreadId::MAX && idx != coroutine::running() {
        let whose = machine::with(|machine| machine.thread_name(idx));
        let here = names::current_thread();
        let what = format!("`longjmp` of {here} goes to a function of {whose}");
        machine::fail(ViolationKind::Memory, what);
    }
}

/// How long an address of the network is.
fn address_len(family: usize) -> usize {
    match family as c_int {
        libc::AF_INET6 => 16,
        _ => 4,
    }
}
