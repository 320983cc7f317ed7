//! Keys of those who may ask: a worker runs the programs of others, so it takes only jobs that are
//! signed by a key that it was given (Ed25519, RFC 8032).

use mazurka_check::Fault;
use ring::rand::SystemRandom;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use std::fmt;
use std::path::{Path, PathBuf};

/// What the text of a private key begins with.
const PRIVATE: &str = "mazurka-private-key-1 ";
/// What the text of a public key begins with.
const PUBLIC: &str = "mazurka-public-key-1 ";

/// Why a text is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// It is something else.
    #[error("it is no private key of `mazurka fleet keygen`")]
    NotPrivate,
    /// It is something else, at this line.
    #[error("line {0} is no public key of `mazurka fleet keygen`")]
    NotPublic(usize),
    /// There is none.
    #[error("it has no public key")]
    Empty,
    /// The system has no random numbers.
    #[error("the system gives no random numbers")]
    NoRandom,
}

/// What jobs are signed with.
pub struct PrivateKey(Ed25519KeyPair);

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey(of {})", self.public())
    }
}

/// What tells who has signed a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey([u8; 32]);

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// The texts of a new key: the private one, and the public one.
pub fn generate() -> Result<(String, String), KeyError> {
    let bytes = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new());
    let bytes = bytes.map_err(|_| KeyError::NoRandom)?;
    let private = format!("{PRIVATE}{}\n", hex(bytes.as_ref()));
    let public = PrivateKey::parse(&private)?.public();
    Ok((private, format!("{PUBLIC}{public}\n")))
}

impl PrivateKey {
    /// The key that a text is.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let bytes = text.trim().strip_prefix(PRIVATE).and_then(of_hex);
        let pair = bytes.and_then(|bytes| Ed25519KeyPair::from_pkcs8(&bytes).ok());
        pair.map(Self).ok_or(KeyError::NotPrivate)
    }

    /// The other half of it.
    pub fn public(&self) -> PublicKey {
        let bytes = self.0.public_key().as_ref().try_into();
        PublicKey(bytes.expect("a public key has 32 bytes"))
    }

    /// Signs a text.
    pub fn sign(&self, text: &[u8]) -> Vec<u8> {
        self.0.sign(text).as_ref().to_vec()
    }
}

impl PublicKey {
    /// The keys of a text, one in each line that is not empty and does not begin with `#`.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, KeyError> {
        let lines = text.lines().enumerate().map(|(idx, line)| (idx + 1, line.trim()));
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let key = |(number, line): (usize, &str)| {
            let bytes = line.strip_prefix(PUBLIC.trim_end()).map(str::trim).and_then(of_hex);
            let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
            bytes.map(Self).ok_or(KeyError::NotPublic(number))
        };
        let keys = lines.map(key).collect::<Result<Vec<_>, _>>()?;
        if keys.is_empty() { Err(KeyError::Empty) } else { Ok(keys) }
    }

    /// Whether it is the key that a text was signed with.
    pub fn has_signed(&self, text: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, &self.0).verify(text, signature).is_ok()
    }
}

/// Bytes as text.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of such a text.
pub(crate) fn of_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    let byte = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    (0..text.len()).step_by(2).map(byte).collect()
}

/// Writes a new key to two files, neither of which is there: the private one, and the public one
/// beside it, whose name is returned.
pub fn write_pair(file: &Path) -> Result<PathBuf, Fault> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let (private, public) = generate().map_err(|error| Fault::defect(error.to_string()))?;
    let mut name = file.as_os_str().to_owned();
    name.push(".pub");
    let name = PathBuf::from(name);
    for (path, text, mode) in [(file, private, 0o600), (&*name, public, 0o644)] {
        let mut options = std::fs::OpenOptions::new();
        let opened = options.write(true).create_new(true).mode(mode).open(path);
        opened.and_then(|mut to| to.write_all(text.as_bytes())).map_err(|error| {
            Fault::input(format!("`{}` cannot be written: {error}", path.display()))
        })?;
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_of_one_key_and_one_text() {
        let (private, public) = generate().expect("there are random numbers");
        let key = PrivateKey::parse(&private).expect("it is a key");
        let trusted = PublicKey::parse_all(&format!("# ours\n\n{public}")).expect("it is a key");
        let signature = key.sign(b"job");
        assert_eq!(trusted, [key.public()]);
        assert!(trusted[0].has_signed(b"job", &signature));
        assert!(!trusted[0].has_signed(b"jobs", &signature));
        assert!(!trusted[0].has_signed(b"job", &signature[1..]));
        let (_, other) = generate().expect("there are random numbers");
        let other = PublicKey::parse_all(&other).expect("it is a key");
        assert!(!other[0].has_signed(b"job", &signature));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let (private, public) = generate().expect("there are random numbers");
        assert_eq!(PrivateKey::parse(&public).err(), Some(KeyError::NotPrivate));
        assert_eq!(PrivateKey::parse(&private[..60]).err(), Some(KeyError::NotPrivate));
        assert_eq!(PublicKey::parse_all(&private), Err(KeyError::NotPublic(1)));
        let twice = format!("{public}mazurka-public-key-1 00é\n");
        assert_eq!(PublicKey::parse_all(&twice), Err(KeyError::NotPublic(2)));
        assert_eq!(PublicKey::parse_all("# nobody\n"), Err(KeyError::Empty));
    }
}
