//! The release tarball: the command, completions for shells, manual pages, licences.

use crate::command::{Done, cargo, heading, output, root, run, target};
use crate::stage::FLEET;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where what is for a shell belongs below the folder that everything is unpacked into.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/mazurka"),
    ("zsh", "share/zsh/site-functions/_mazurka"),
    ("fish", "share/fish/vendor_completions.d/mazurka.fish"),
];
const TEXTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Builds the command as it is published and packs it with what belongs to it.
pub(crate) fn make() -> Done {
    heading("the command, by the profile `dist`");
    let build = ["build", "--profile", "dist", "--locked", "--package", "mazurka-cli", FLEET];
    run(cargo().args(build))?;
    let command = target().join("dist/mazurka");
    let name = format!("mazurka-{}-{}", env!("CARGO_PKG_VERSION"), host()?);
    let place = target().join("xtask");
    let folder = place.join(&name);
    let _ = fs::remove_dir_all(&folder);
    copy(&command, &folder.join("bin/mazurka"))?;
    for text in TEXTS {
        copy(&root().join(text), &folder.join(text))?;
    }
    for (shell, path) in COMPLETIONS {
        let text = output(Command::new(&command).args(["completions", shell]))?;
        write(&folder.join(path), &text)?;
    }
    run(Command::new(&command).arg("man").arg(folder.join("share/man/man1")))?;
    let tarball = place.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    // The same files make the same tarball, on any machine.
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0"]);
    run(tar.arg("-czf").arg(&tarball).arg("-C").arg(&place).arg(&name))?;
    heading(&format!(
        "{}: {:.1} MB, the command {:.1} MB",
        tarball.display(),
        megabytes(&tarball)?,
        megabytes(&command)?
    ));
    Ok(())
}

/// The kind of machine that the compiler makes programs for.
fn host() -> Done<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let text = output(Command::new(rustc).arg("-vV"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not say what it compiles for".to_owned())
}

fn copy(from: &Path, to: &Path) -> Done {
    make_folder_of(to)?;
    let copied = fs::copy(from, to);
    copied.map(drop).map_err(|error| format!("{}: {error}", from.display()))
}

fn write(path: &PathBuf, text: &str) -> Done {
    make_folder_of(path)?;
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

fn make_folder_of(path: &Path) -> Done {
    let folder = path.parent().expect("it is in a folder");
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

fn megabytes(path: &Path) -> Done<f64> {
    let size = fs::metadata(path).map_err(|error| format!("{}: {error}", path.display()))?.len();
    Ok(size as f64 / 1e6)
}
