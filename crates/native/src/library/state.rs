//! What functions of the C library keep between two calls, as objects that threads share.
//!
//! The manual of the GNU C library says of each function whether threads may call it at the same
//! time ("MT-Unsafe race:strtok"). Two calls that are not ordered race there, and so do two calls
//! of functions that POSIX (2.9.1) does not require to be thread-safe.

use std::sync::Mutex;
use std::sync::PoisonError;

/// Declares them, each with what people call it.
macro_rules! states {
    ($($state:ident $name:literal;)*) => {
        /// Something that the library keeps.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum State { $($state,)* }

        const NAMES: &[&str] = &[$($name,)*];
    };
}

states! {
    Aliases "the mail alias of getaliasent";
    AsciiTime "the text of asctime";
    Character "the shift state of mbtowc";
    Crypt "the text of crypt";
    Date "the time of getdate";
    Digits "the text of ecvt";
    Environment "the environment";
    Error "the text of strerror";
    Ethernet "the address of ether_aton";
    FileSystems "the entry of getfsent";
    Group "the entry of getgrent";
    HashTable "the table of hsearch";
    Host "the entry of gethostbyname";
    InternetAddress "the text of inet_ntoa";
    Letters "the text of l64a";
    Locale "the locale";
    LocaleFormats "the formats of localeconv";
    Log "the settings of openlog";
    Login "the name of getlogin";
    Mounts "the entry of getmntent";
    Network "the entry of getnetbyname";
    Options "the position of getopt";
    Password "the text of getpass";
    Pattern "the pattern of re_comp";
    Protocol "the entry of getprotobyname";
    Rand48 "the random numbers of drand48";
    Random "the random numbers of rand";
    Remote "the entry of getrpcbyname";
    Service "the entry of getservbyname";
    Shadow "the entry of getspnam";
    Shells "the position of getusershell";
    Signal "the text of strsignal";
    SignOfGamma "the variable signgam";
    Temporary "the name of tmpnam";
    Terminal "the name of ttyname";
    TerminalName "the name of ctermid";
    Terminals "the entry of getttyent";
    Time "the time of gmtime";
    Token "the position of strtok";
    Users "the entry of getutent";
    UserEntry "the entry of getpwnam";
    Zone "the time zone";
}

static PLACES: [u8; NAMES.len()] = [0; NAMES.len()];

/// Buffers of the library that were returned to the program: where, how long, and by what.
static BUFFERS: Mutex<Vec<(usize, usize, &'static str)>> = Mutex::new(Vec::new());

impl State {
    /// Stands for it, as an address.
    pub(crate) fn address(self) -> usize {
        &raw const PLACES[self as usize] as usize
    }
}

/// A function has returned a pointer to something of the library's own.
pub(super) fn note_buffer(address: usize, len: usize, function: &'static str) {
    crate::coroutine::as_host(|| {
        let mut buffers = BUFFERS.lock().unwrap_or_else(PoisonError::into_inner);
        if !buffers.iter().any(|&(start, known, _)| start == address && known >= len) {
            buffers.push((address, len, function));
        }
    });
}

/// What people call the thing at an address, if the library keeps it.
pub(crate) fn name_of(address: usize) -> Option<String> {
    let idx = address.wrapping_sub(PLACES.as_ptr() as usize);
    if let Some(name) = NAMES.get(idx) {
        return Some((*name).to_owned());
    }
    let buffers = BUFFERS.lock().unwrap_or_else(PoisonError::into_inner);
    let found = buffers.iter().find(|&&(start, len, _)| (start..start + len).contains(&address));
    found.map(|(_, _, function)| format!("what {function} has returned"))
}
