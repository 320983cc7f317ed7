//! Unpacks the runtime library of native programs into a cache folder of the user, where programs
//! can load it.
//!
//! The command `mazurka` is one file, which may be moved, copied and installed. Programs that it
//! builds are linked with a shared library, so that one has to be a file, too:
//! `HASH/libmazurka_native.so` in a cache folder of the user, where `HASH` is of its content.
//! Commands of several versions each have their own, and what a program was linked with does not
//! change under it. The file appears there all at once, by renaming, since two commands may unpack
//! it at the same time. No other user may write to these folders.

use super::{LIBRARY, Packed};
use crate::Fault;
use miniz_oxide::inflate;
use rustix::fs::{StatVfsMountFlags, statvfs};
use std::fs::{self, DirBuilder};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Libraries that no command has used for so long are removed when another one comes.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// And those that are not among so many that were used last: a developer of Mazurka makes many.
const N_KEPT: usize = 10;

/// Makes sure that the library is in a folder of this user, and says where.
pub fn unpack(library: Packed<'_>) -> Result<PathBuf, Fault> {
    let mut wrong = Vec::new();
    for place in places() {
        match place.unpack(library) {
            Ok(path) => return Ok(path),
            Err(error) => wrong.push(format!("{}: {error}", place.folder.display())),
        }
    }
    let text = format!("the runtime library cannot be unpacked ({})", wrong.join("; "));
    Err(Fault::input(text)
        .help("name a folder that you may write to by the variable `XDG_CACHE_HOME`"))
}

/// A folder of this user for libraries.
struct Place {
    folder: PathBuf,
    /// Whether it is made in a folder of the same user. The temporary folder is everybody's.
    is_at_home: bool,
}

/// Where libraries may be, the best place first: the user's cache, or else the temporary folder.
fn places() -> Vec<Place> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = variable("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    // A home that is not there, such as that of a service, is not made.
    let home = variable("HOME").filter(|path| path.is_absolute() && path.is_dir());
    let cache = cache.or_else(|| home.map(|home| home.join(".cache")));
    let at_home = cache.map(|cache| Place { folder: cache.join("mazurka"), is_at_home: true });
    let user = rustix::process::geteuid().as_raw();
    let temporary = std::env::temp_dir().join(format!("mazurka-{user}"));
    at_home.into_iter().chain([Place { folder: temporary, is_at_home: false }]).collect()
}

impl Place {
    /// Makes sure that the library is here.
    fn unpack(&self, library: Packed<'_>) -> io::Result<PathBuf> {
        let Packed { hash, size, deflated } = library;
        // The linker and the loader take these apart, cargo wants text.
        let is_plain = |text: &str| !text.contains([':', '$', '\n', '\x1f']);
        if !self.folder.to_str().is_some_and(is_plain) {
            return Err(io::Error::other("programs cannot be linked with what is in there"));
        }
        if self.is_at_home && !self.folder.exists() {
            // `sudo` may leave the home of another user, who could not use what is made there.
            let there = self.folder.ancestors().find_map(|folder| folder.metadata().ok());
            if there.is_some_and(|there| there.uid() != rustix::process::geteuid().as_raw()) {
                return Err(io::Error::other("this would be in a folder of another user"));
            }
        }
        let folder = self.folder.join(hash);
        for folder in [&self.folder, &folder] {
            make_private(folder)?;
        }
        if statvfs(&folder)?.f_flag.contains(StatVfsMountFlags::NOEXEC) {
            return Err(io::Error::other("nothing in there may be executed"));
        }
        let path = folder.join(LIBRARY);
        let known = path.symlink_metadata().ok().filter(|it| it.is_file());
        if known.is_some_and(|it| it.len() == size as u64) {
            mark_as_used(&path);
            return Ok(path);
        }
        let mut file = tempfile::Builder::new().prefix(".unpacking-").tempfile_in(&folder)?;
        let bytes = inflate::decompress_to_vec_with_limit(deflated, size);
        let bytes = bytes.map_err(|error| io::Error::other(error.to_string()))?;
        if bytes.len() != size {
            return Err(io::Error::other("it is damaged"));
        }
        file.write_all(&bytes)?;
        // After a loss of power there is either no file of this name, or all of it.
        file.as_file().sync_all()?;
        file.persist(&path)?;
        self.remove_unused(hash);
        Ok(path)
    }

    /// Removes the libraries of other versions that have not been used for long.
    fn remove_unused(&self, hash: &str) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let now = SystemTime::now();
        let others = entries.flatten().filter(|entry| {
            let name = entry.file_name();
            name.len() == hash.len() && name != hash
        });
        let with_age = others.map(|entry| {
            let used = entry.path().join(LIBRARY).metadata().and_then(|it| it.modified());
            // Without a file another process is about to unpack one.
            let age = used.ok().and_then(|used| now.duration_since(used).ok()).unwrap_or_default();
            (age, entry.path())
        });
        let mut with_age: Vec<_> = with_age.collect();
        with_age.sort();
        for (idx, (age, folder)) in with_age.into_iter().enumerate() {
            if age > KEPT || idx >= N_KEPT {
                // Another command may be doing the same.
                let _ = fs::remove_dir_all(folder);
            }
        }
    }
}

/// Makes a folder that only this user can look into, or makes sure that the one that is there can
/// be trusted: no other user can have put anything into it.
fn make_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let found = folder.symlink_metadata()?;
    let is_ours = found.uid() == rustix::process::geteuid().as_raw();
    match found.is_dir() && is_ours && found.mode() & 0o022 == 0 {
        true => Ok(()),
        false => Err(io::Error::other("others may write to it, or it is a link")),
    }
}

/// Remembers in the file's time that the library is used, to the day.
fn mark_as_used(path: &Path) {
    let now = SystemTime::now();
    let used = path.metadata().and_then(|it| it.modified()).ok();
    if used.and_then(|used| now.duration_since(used).ok()).is_some_and(|age| age > DAY) {
        // It is still there if it cannot be marked.
        let _ = fs::File::options().append(true).open(path).and_then(|it| it.set_modified(now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;
    use std::thread;

    const ONE: &str = "00000000000000000000000000000001";
    const TWO: &str = "00000000000000000000000000000002";

    impl Place {
        fn unpack_plain(&self, hash: &str, bytes: &[u8]) -> io::Result<PathBuf> {
            let deflated = miniz_oxide::deflate::compress_to_vec(bytes, 6);
            self.unpack(Packed { hash, size: bytes.len(), deflated: &deflated })
        }
    }

    fn place(folder: &tempfile::TempDir) -> Place {
        Place { folder: folder.path().join("new/mazurka"), is_at_home: true }
    }

    fn temporary() -> tempfile::TempDir {
        tempfile::tempdir().expect("there is room")
    }

    #[test]
    fn versions_lie_beside_each_other_and_only_their_user_can_look() {
        let folder = temporary();
        let place = place(&folder);
        let one = place.unpack_plain(ONE, b"one").expect("it can be unpacked");
        let two = place.unpack_plain(TWO, b"two").expect("so can another");
        assert_eq!(fs::read(&one).expect("it is there"), b"one");
        assert_eq!(fs::read(&two).expect("so is this one"), b"two");
        assert_eq!(one, place.folder.join(ONE).join(LIBRARY));
        for folder in [one.parent().expect("a folder"), &place.folder] {
            let mode = folder.metadata().expect("it is there").mode();
            assert_eq!(mode & 0o777, 0o700, "{}", folder.display());
        }
    }

    #[test]
    fn what_is_there_is_left_alone_unless_it_is_broken() {
        let folder = temporary();
        let place = place(&folder);
        let path = place.unpack_plain(ONE, b"one").expect("it can be unpacked");
        let number = || path.metadata().expect("it is there").ino();
        let before = number();
        place.unpack_plain(ONE, b"one").expect("it is there");
        assert_eq!(number(), before);
        fs::write(&path, b"o").expect("it can be broken");
        place.unpack_plain(ONE, b"one").expect("it can be unpacked again");
        assert_eq!(fs::read(&path).expect("it is there"), b"one");
    }

    #[test]
    fn many_commands_may_unpack_at_once() {
        let folder = temporary();
        let bytes = vec![7; 1 << 20];
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let path =
                        place(&folder).unpack_plain(ONE, &bytes).expect("it can be unpacked");
                    assert_eq!(fs::read(path).expect("it is there"), bytes);
                });
            }
        });
        let entries = fs::read_dir(place(&folder).folder.join(ONE)).expect("it is a folder");
        assert_eq!(entries.count(), 1, "nothing is left of unpacking");
    }

    #[test]
    fn what_is_damaged_is_not_unpacked() {
        let folder = temporary();
        let deflated = miniz_oxide::deflate::compress_to_vec(b"a library", 6);
        let damaged = Packed { hash: ONE, size: 9, deflated: &deflated[..deflated.len() - 1] };
        place(&folder).unpack(damaged).expect_err("the end is missing");
        let longer = Packed { hash: ONE, size: 4, deflated: &deflated };
        place(&folder).unpack(longer).expect_err("it has more bytes than it should");
        let shorter = Packed { hash: ONE, size: 10, deflated: &deflated };
        place(&folder).unpack(shorter).expect_err("it has fewer bytes than it should");
    }

    #[test]
    fn unused_libraries_go_when_another_one_comes() {
        let folder = temporary();
        let place = place(&folder);
        let [one, two] = [(ONE, b"one"), (TWO, b"two")]
            .map(|(hash, bytes)| place.unpack_plain(hash, bytes).expect("it can be unpacked"));
        let old = SystemTime::now() - 2 * KEPT;
        for path in [&one, &two] {
            let file = fs::File::options().append(true).open(path).expect("it is there");
            file.set_modified(old).expect("it can be made old");
        }
        place.unpack_plain(TWO, b"two").expect("it is there, and used");
        place
            .unpack_plain("00000000000000000000000000000003", b"three")
            .expect("it can be unpacked");
        assert!(!one.exists() && two.exists());
    }

    #[test]
    fn not_more_than_some_libraries_are_kept() {
        let folder = temporary();
        let place = place(&folder);
        for number in 0..2 * N_KEPT {
            place.unpack_plain(&format!("{number:032x}"), b"bytes").expect("it can be unpacked");
        }
        let n_left = fs::read_dir(&place.folder).expect("it is a folder").count();
        assert_eq!(n_left, 1 + N_KEPT);
        assert!(place.folder.join(format!("{:032x}", 2 * N_KEPT - 1)).exists(), "the last one");
    }

    #[test]
    fn folders_that_others_could_have_filled_are_not_used() {
        let folder = temporary();
        let place = place(&folder);
        fs::create_dir_all(&place.folder).expect("there is room");
        fs::set_permissions(&place.folder, fs::Permissions::from_mode(0o777)).expect("it is ours");
        place.unpack_plain(ONE, b"one").expect_err("others may write to it");
        fs::remove_dir(&place.folder).expect("it is empty");
        std::os::unix::fs::symlink(folder.path(), &place.folder).expect("there is room");
        place.unpack_plain(ONE, b"one").expect_err("it is a link");
    }

    #[test]
    fn folders_that_the_linker_would_take_apart_are_not_used() {
        let folder = temporary();
        for name in ["a:b", "$ORIGIN"] {
            let place = Place { folder: folder.path().join(name), is_at_home: true };
            place.unpack_plain(ONE, b"one").expect_err(name);
        }
        let place = Place { folder: folder.path().join("a, b"), is_at_home: true };
        place.unpack_plain(ONE, b"one").expect("commas and spaces are fine");
    }
}
