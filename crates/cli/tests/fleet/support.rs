//! A broker on loopback, with workers and askers.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Whether there is a server to test with.
pub(crate) fn nats_is_here() -> bool {
    mazurka_effort::has_tool("nats-server")
}

/// What a command has said.
pub(crate) struct Said {
    status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    #[track_caller]
    pub(crate) fn ends_with(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "{}{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn prints(&self, part: &str) {
        assert!(self.stdout.contains(part), "no `{part}` in {}", self.stdout);
    }
}

/// A broker, workers, and a folder for programs.
pub(crate) struct Fleet {
    folder: TempDir,
    port: u16,
    server: Child,
    workers: Vec<Child>,
    n_workers: usize,
    /// Whether the broker wants TLS.
    is_encrypted: bool,
    /// What every command is told of how it is let in.
    environment: Vec<(&'static str, String)>,
}

fn mazurka(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command.current_dir(folder).stdin(Stdio::null());
    for name in ["MAZURKA_NATIVE", "CC", "CXX", "NATS_CREDS", "NATS_CA", "NATS_CERT", "NATS_KEY"] {
        command.env_remove(name);
    }
    command
}

fn said(command: &mut Command) -> Said {
    let output = command.output().expect("the command can be started");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it prints UTF-8");
    Said { status: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

impl Fleet {
    /// A broker with a key, and without workers.
    pub(crate) fn start() -> Self {
        Self::with_room("1GB")
    }

    /// The same, with a store of this size.
    pub(crate) fn with_room(room: &str) -> Self {
        let folder = TempDir::new().expect("there is room");
        let port = free_port();
        Self::with_config(folder, port, &format!("jetstream {{ max_file_store: {room} }}\n"))
    }

    /// A broker that wants TLS and a certificate of its clients, both signed by an authority of its
    /// own.
    pub(crate) fn encrypted() -> Self {
        let folder = TempDir::new().expect("there is room");
        let port = free_port();
        let openssl = |words: &str| {
            let mut command = Command::new("openssl");
            command.args(words.split_whitespace()).current_dir(folder.path());
            let output = command.output().expect("it can be started");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        let new = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2";
        openssl(&format!("req -x509 {new} -keyout ca.key -out ca.pem -subj /CN=authority"));
        for name in ["server", "client"] {
            std::fs::write(folder.path().join("names"), "subjectAltName=IP:127.0.0.1\n")
                .expect("there is room");
            openssl(&format!("req {new} -keyout {name}.key -out {name}.csr -subj /CN={name}"));
            openssl(&format!(
                "x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
                 -extfile names -out {name}.pem"
            ));
        }
        let mut config = "jetstream { max_file_store: 1GB }\n".to_owned();
        config += "tls { cert_file: \"server.pem\", key_file: \"server.key\", \
                   ca_file: \"ca.pem\", verify: true }\n";
        let mut fleet = Self::with_config(folder, port, &config);
        let file = |name: &str| fleet.folder.path().join(name).display().to_string();
        fleet.environment = vec![
            ("NATS_CA", file("ca.pem")),
            ("NATS_CERT", file("client.pem")),
            ("NATS_KEY", file("client.key")),
        ];
        fleet.is_encrypted = true;
        fleet
    }

    fn with_config(folder: TempDir, port: u16, more: &str) -> Self {
        let store = folder.path().join("store");
        let more = more
            .replace("jetstream {", &format!("jetstream {{ store_dir: \"{}\",", store.display()));
        let config = format!("host: 127.0.0.1\nport: {port}\n{more}");
        std::fs::write(folder.path().join("nats.conf"), config).expect("there is room");
        let server = serve(folder.path(), port);
        let fleet = Self {
            folder,
            port,
            server,
            workers: Vec::new(),
            n_workers: 0,
            is_encrypted: false,
            environment: Vec::new(),
        };
        fleet.run(&["fleet", "keygen", "key"]).ends_with(0);
        fleet
    }

    /// Takes something of how clients are let in away from them.
    pub(crate) fn forget(&mut self, variables: &[&str]) {
        self.environment.retain(|(name, _)| !variables.contains(name));
    }

    pub(crate) fn url(&self) -> String {
        let scheme = if self.is_encrypted { "tls" } else { "nats" };
        format!("{scheme}://127.0.0.1:{}", self.port)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).expect("there is room");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).expect("it was written")
    }

    /// What the command says.
    pub(crate) fn run(&self, words: &[&str]) -> Said {
        said(mazurka(self.folder.path()).envs(self.environment.iter().cloned()).args(words))
    }

    /// What it says when workers explore, in a thread of its own.
    pub(crate) fn ask(&self, words: &[&str]) -> JoinHandle<Said> {
        let mut command = mazurka(self.folder.path());
        command.envs(self.environment.iter().cloned());
        command.args(words).args(["--workers", &self.url(), "--sign-key", "key"]);
        std::thread::spawn(move || said(&mut command))
    }

    fn worker(&mut self, trusts: &str, environment: &[(&str, &str)]) -> Child {
        self.n_workers += 1;
        let mut command = mazurka(self.folder.path());
        command.envs(self.environment.iter().cloned());
        command.args(["worker", &self.url(), "--jobs", "1", "--trust-key", trusts]);
        command.args(["--name", &format!("w{}", self.n_workers)]);
        command.envs(environment.iter().copied()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("the command can be started")
    }

    pub(crate) fn add_worker(&mut self, environment: &[(&str, &str)]) {
        let worker = self.worker("key.pub", environment);
        self.workers.push(worker);
    }

    pub(crate) fn add_worker_that_trusts(&mut self, key: &str) {
        let worker = self.worker(key, &[]);
        self.workers.push(worker);
    }

    /// Kills a worker at once, as `kill -9` does, and starts another one.
    pub(crate) fn kill_worker(&mut self, idx: usize) {
        end(&mut self.workers[idx]);
        self.workers[idx] = self.worker("key.pub", &[]);
    }

    /// Kills the broker, and starts it again.
    pub(crate) fn restart_server(&mut self) {
        end(&mut self.server);
        self.server = serve(self.folder.path(), self.port);
    }

    pub(crate) fn signal_server(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.server.id().to_string()]).status();
        assert!(status.expect("there is such a command").success());
    }

    /// The runtime library of a build that is none.
    pub(crate) fn other_library(&self) -> PathBuf {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let home = || PathBuf::from(std::env::var_os("HOME").expect("there is a home"));
        let cache = cache.unwrap_or_else(|| home().join(".cache"));
        let is_library = |path: &PathBuf| path.ends_with("libmazurka_native.so");
        let library = files(&cache.join("mazurka")).into_iter().find(is_library);
        let mut bytes = std::fs::read(library.expect("a program was built")).expect("it is a file");
        bytes.push(0);
        let other = self.folder.path().join("libmazurka_native.so");
        std::fs::write(&other, bytes).expect("there is room");
        other
    }
}

fn free_port() -> u16 {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a free port");
    free.local_addr().expect("it has an address").port()
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let below = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    entries.flatten().flat_map(|entry| below(entry.path())).collect()
}

fn serve(folder: &Path, port: u16) -> Child {
    let mut command = Command::new("nats-server");
    command.args(["-c", "nats.conf"]).current_dir(folder);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let server = command.spawn().expect("the server can be started");
    let begun = Instant::now();
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(30), "the server does not listen");
        std::thread::sleep(Duration::from_millis(20));
    }
    server
}

fn end(child: &mut Child) {
    child.kill().expect("it is ours");
    child.wait().expect("it is ours");
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.workers.iter_mut().for_each(end);
        end(&mut self.server);
    }
}
