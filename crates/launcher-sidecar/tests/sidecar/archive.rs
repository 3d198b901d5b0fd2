//! Tests of `launcher-sidecar archive`, which they run as a process and ask over raw sockets.

use std::collections::BTreeMap;
use std::fs::{Permissions, copy, create_dir, create_dir_all, remove_dir, remove_file, rename, set_permissions, write};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use launcher_sidecar::archive::write_archive;
use rustix::fs::{Mode, OFlags, mkdirat, openat};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::support::PATIENCE;
use super::support::program::free;

const TOKEN: &str = "5d41402abc4b2a76b9719d911017c592";
const LIST: &str = "NOT-IN-THIS-ARCHIVE.txt";
/// A user that is not the one of the files.
const STRANGER: u32 = 65534;

fn digest() -> String {
    Sha256::digest(TOKEN).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A volume, and a copy of the program that every user can run.
struct Volume(TempDir);

impl Volume {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        copy(env!("CARGO_BIN_EXE_launcher-sidecar"), folder.path().join("program")).unwrap();
        create_dir(folder.path().join("files")).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join("files").join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        create_dir_all(self.path(name).parent().unwrap()).unwrap();
        write(self.path(name), content).unwrap();
    }

    fn start(&self) -> Reader {
        self.start_with(|_| {})
    }

    /// Starts the program in a shell, after a command that changes limits.
    fn start_with_limit(&self, change: &str) -> Reader {
        self.start_with(|command| {
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", &format!("{change}; exec \"$0\" archive")]).arg(command.get_program());
            shell.env_clear().stdin(Stdio::null()).stderr(Stdio::null());
            shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
            *command = shell;
        })
    }

    fn start_with(&self, change: impl FnOnce(&mut Command)) -> Reader {
        let address = free();
        let mut command = Command::new(self.0.path().join("program"));
        command.arg("archive").env_clear().stdin(Stdio::null()).stderr(Stdio::null());
        command.env("SERVICE_LISTEN_ADDR", address.to_string()).env("SERVICE_ARCHIVE_DIRECTORY", self.path(""));
        command.env("SERVICE_ARCHIVE_TOKEN_SHA256", digest());
        change(&mut command);
        Reader { child: command.spawn().unwrap(), address }
    }
}

/// The running program. Dropping it kills the process.
struct Reader {
    child: Child,
    address: SocketAddr,
}

impl Reader {
    fn connect(&self) -> TcpStream {
        let began = std::time::Instant::now();
        loop {
            match TcpStream::connect(self.address) {
                Ok(stream) => {
                    stream.set_read_timeout(Some(PATIENCE)).unwrap();
                    return stream;
                }
                Err(error) => assert!(began.elapsed() < PATIENCE, "the program does not listen: {error}"),
            }
            std::thread::yield_now();
        }
    }

    /// Sends a request, and returns the status and the raw body.
    fn ask(&self, path: &str, headers: &str) -> (u16, Vec<u8>) {
        let mut stream = self.connect();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: pod\r\n{headers}\r\n").unwrap();
        response(&mut stream)
    }

    fn download(&self, token: &str) -> (u16, Vec<u8>) {
        self.ask("/archive", &format!("Authorization: Bearer {token}\r\n"))
    }

    fn exit_code(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn response(stream: &mut TcpStream) -> (u16, Vec<u8>) {
    let mut received = Vec::new();
    stream.read_to_end(&mut received).unwrap();
    let end = received.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(received[..end].to_vec()).unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), received.split_off(end + 4))
}

/// Decodes a body in chunks; `None` if the last chunk is missing.
fn dechunked(mut body: &[u8]) -> Option<Vec<u8>> {
    let mut decoded = Vec::new();
    loop {
        let line = body.windows(2).position(|window| window == b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(&body[..line]).unwrap(), 16).unwrap();
        body = &body[line + 2..];
        if size == 0 {
            return Some(decoded);
        }
        decoded.extend_from_slice(body.get(..size)?);
        body = &body[size + 2..];
    }
}

fn entries(body: &[u8]) -> BTreeMap<String, Vec<u8>> {
    files_of(&dechunked(body).expect("the archive is incomplete"))
}

fn files_of(tar: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in tar::Archive::new(tar).entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        assert_eq!(found.insert(entry.path().unwrap().to_str().unwrap().to_owned(), content), None);
    }
    found
}

#[test]
fn archive_is_sent_once_to_the_client_with_the_token() {
    let volume = Volume::new();
    let large = vec![7; 3_000_000];
    volume.write("notes/ü 1.txt", "saved");
    volume.write("large", &large);
    symlink("/etc/passwd", volume.path("link")).unwrap();
    let mut reader = volume.start();
    assert_eq!(reader.ask("/ready", "").0, 200);
    for headers in ["", "Authorization: Bearer \r\n", &format!("Authorization: Bearer {TOKEN}x\r\n")] {
        assert_eq!(reader.ask("/archive", headers).0, 401, "{headers}");
    }
    assert_eq!(reader.download(&digest()).0, 401, "the digest is not the token");
    assert_eq!(reader.ask("/files", "").0, 404);

    let (status, body) = reader.download(TOKEN);
    assert_eq!(status, 200);
    let found = entries(&body);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["large", "notes/", "notes/ü 1.txt"]);
    assert_eq!((&found["large"], &*found["notes/ü 1.txt"]), (&large, &b"saved"[..]));
    assert_eq!(reader.exit_code(), Some(0));
}

#[test]
fn program_waits_until_the_client_has_received_all() {
    let volume = Volume::new();
    volume.write("a.txt", "a");
    let mut reader = volume.start();
    let mut stream = reader.connect();
    write!(stream, "GET /archive HTTP/1.1\r\nHost: pod\r\nAuthorization: Bearer {TOKEN}\r\n\r\n").unwrap();
    assert_eq!(response(&mut stream).0, 200);
    // The end of the process would end the pod, and so the connection of a client that is slower than this one.
    let began = std::time::Instant::now();
    while began.elapsed() < std::time::Duration::from_millis(300) {
        assert_eq!(reader.child.try_wait().unwrap(), None);
        std::thread::yield_now();
    }
    drop(stream);
    assert_eq!(reader.exit_code(), Some(0));
}

#[test]
fn second_download_is_refused_while_the_first_runs() {
    let volume = Volume::new();
    volume.write("large", vec![7; 30_000_000]);
    let mut reader = volume.start();
    let mut first = reader.connect();
    write!(first, "GET /archive HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\n\r\n").unwrap();
    first.read_exact(&mut [0; 1000]).unwrap();
    assert_eq!(reader.download(TOKEN).0, 409);
    assert_eq!(reader.ask("/ready", "").0, 200);
    let mut rest = Vec::new();
    first.read_to_end(&mut rest).unwrap();
    assert!(rest.ends_with(b"\r\n0\r\n\r\n"));
    drop(first);
    assert_eq!(reader.exit_code(), Some(0));
}

#[test]
fn program_ends_when_the_client_is_gone() {
    let volume = Volume::new();
    volume.write("large", vec![7; 30_000_000]);
    let mut reader = volume.start();
    let mut client = reader.connect();
    write!(client, "GET /archive HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\n\r\n").unwrap();
    client.read_exact(&mut [0; 1000]).unwrap();
    client.shutdown(Shutdown::Both).unwrap();
    drop(client);
    assert_eq!(reader.exit_code(), Some(1));
}

#[test]
fn program_ends_if_no_client_asks_in_time() {
    let volume = Volume::new();
    let mut reader = volume.start_with(|command| {
        command.env("SERVICE_ARCHIVE_WAIT", "1");
    });
    assert_eq!(reader.ask("/ready", "").0, 200, "a probe is no download");
    assert_eq!(reader.exit_code(), Some(1));
}

/// Starts the program as beside an app: without a maximum time.
fn start_beside_app(volume: &Volume) -> Reader {
    volume.start_with(|command| {
        command.env("SERVICE_ARCHIVE_WAIT", "0");
    })
}

/// Sends SIGTERM, and returns the exit code.
fn terminated(reader: &mut Reader) -> Option<i32> {
    kill_process(Pid::from_child(&reader.child), Signal::TERM).unwrap();
    reader.exit_code()
}

#[test]
fn program_beside_an_app_sends_each_archive_with_the_current_files_until_sigterm() {
    let volume = Volume::new();
    let mut reader = start_beside_app(&volume);
    for content in ["first", "second", "third"] {
        volume.write("a.txt", content);
        assert_eq!(reader.download("wrong").0, 401);
        let (status, body) = reader.download(TOKEN);
        assert_eq!((status, &*entries(&body)["a.txt"]), (200, content.as_bytes()));
    }
    assert_eq!(terminated(&mut reader), Some(0));
}

#[test]
fn program_beside_an_app_sends_one_archive_at_a_time_and_survives_a_client_that_leaves() {
    let volume = Volume::new();
    volume.write("large", vec![7; 30_000_000]);
    let mut reader = start_beside_app(&volume);
    let mut first = reader.connect();
    write!(first, "GET /archive HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\n\r\n").unwrap();
    first.read_exact(&mut [0; 1000]).unwrap();
    assert_eq!(reader.download(TOKEN).0, 409);
    first.shutdown(Shutdown::Both).unwrap();
    drop(first);
    let began = std::time::Instant::now();
    let body = loop {
        let (status, body) = reader.download(TOKEN);
        if status == 200 {
            break body;
        }
        assert!(status == 409 && began.elapsed() < PATIENCE, "{status}");
    };
    assert_eq!(entries(&body)["large"].len(), 30_000_000);
    assert_eq!(terminated(&mut reader), Some(0));
}

#[test]
fn program_beside_an_app_waits_until_the_port_is_free() {
    let volume = Volume::new();
    volume.write("a.txt", "a");
    let address = free();
    let app = std::net::TcpListener::bind(address).unwrap();
    let mut reader = volume.start_with(|command| {
        command.env("SERVICE_ARCHIVE_WAIT", "0").env("SERVICE_LISTEN_ADDR", address.to_string());
        command.stderr(Stdio::piped());
    });
    let mut log = BufReader::new(reader.child.stderr.take().unwrap()).lines();
    assert!(log.any(|line| line.unwrap().contains("listening failed, retrying")));
    drop(app);
    assert!(log.any(|line| line.unwrap().contains("waiting for the launcher")));
    reader.address = address;
    assert_eq!(reader.download(TOKEN).0, 200);
    assert_eq!(terminated(&mut reader), Some(0));
}

#[test]
fn silent_connections_do_not_delay_the_download() {
    let volume = Volume::new();
    volume.write("a", "1");
    let mut reader = volume.start();
    let silent: Vec<_> = (0..4).map(|_| reader.connect()).collect();
    let (status, body) = reader.download(TOKEN);
    assert_eq!((status, entries(&body).len()), (200, 1));
    assert_eq!(reader.exit_code(), Some(0));
    drop(silent);
}

/// Starts the program as a user that is neither root nor the owner of the files.
fn start_as_stranger(volume: &Volume) -> Reader {
    volume.start_with(|command| {
        // Without root, the modes below also refuse the owner.
        if rustix::process::geteuid().is_root() {
            command.uid(STRANGER).gid(STRANGER);
        }
    })
}

fn forbid(path: &Path) {
    set_permissions(path, Permissions::from_mode(0o000)).unwrap();
}

#[test]
fn files_that_cannot_be_read_are_listed_and_all_others_are_in_the_archive() {
    let volume = Volume::new();
    volume.write("notes.txt", "saved");
    volume.write("private/key", "secret");
    volume.write("locked.txt", "secret");
    volume.write("line\nfeed", "secret");
    for name in ["private", "locked.txt", "line\nfeed"] {
        forbid(&volume.path(name));
    }
    let reader = start_as_stranger(&volume);
    let found = entries(&reader.download(TOKEN).1);
    assert_eq!(found.keys().collect::<Vec<_>>(), [LIST, "notes.txt", "private/"]);
    let list = std::str::from_utf8(&found[LIST]).unwrap();
    for line in ["private/: permission denied\n", "locked.txt: permission denied\n", "line\\nfeed: permission denied\n"]
    {
        assert!(list.contains(line), "{line} in {list}");
    }
    set_permissions(volume.path("private"), Permissions::from_mode(0o755)).unwrap();
}

/// Creates directories below each other. The path of the deepest one is too long for the kernel.
fn nest(top: &Path, levels: usize) {
    let mut parent = OwnedFd::from(std::fs::File::open(top).unwrap());
    for _ in 0..levels {
        mkdirat(&parent, "a", Mode::RWXU).unwrap();
        parent = openat(&parent, "a", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap();
    }
}

/// Removes these directories: moves each out of its parent, and removes the empty parent.
fn remove_nested(top: &Path) {
    let (first, second) = (top.join("a"), top.join("b"));
    while rename(first.join("a"), &second).is_ok() {
        remove_dir(&first).unwrap();
        rename(&second, &first).unwrap();
    }
    remove_dir(&first).unwrap();
}

#[test]
fn deep_directories_need_no_stack_and_no_open_files() {
    let volume = Volume::new();
    let top = volume.path("");
    nest(&top, 3_000);
    volume.write("a/a/notes.txt", "saved");
    // A small stack, and few open files.
    let archived = std::thread::Builder::new().stack_size(256 * 1024).spawn({
        let top = top.clone();
        move || {
            let mut tar = Vec::new();
            write_archive(&top, &mut tar).unwrap();
            tar
        }
    });
    let tar = archived.unwrap().join().unwrap();
    let reader = volume.start_with_limit("ulimit -n 32");
    let (status, body) = reader.download(TOKEN);
    remove_file(volume.path("a/a/notes.txt")).unwrap();
    remove_nested(&top);

    let found = files_of(&tar);
    // The longest path has 4,096 bytes: 2,048 names and as many slashes.
    assert_eq!(found.len(), 2048 + 2);
    assert_eq!(found["a/a/notes.txt"], b"saved");
    let list = String::from_utf8(found[LIST].clone()).unwrap();
    assert!(list.ends_with(&format!("\n{}a: its path is too long\n", "a/".repeat(2048))), "{list}");
    assert_eq!((status, entries(&body)), (200, found));
}

#[test]
fn file_without_content_on_the_disk_is_listed() {
    let volume = Volume::new();
    volume.write("notes.txt", "saved");
    std::fs::File::create(volume.path("sparse")).unwrap().set_len((1 << 30) + 1).unwrap();
    let reader = volume.start();
    let found = entries(&reader.download(TOKEN).1);
    assert_eq!(found.keys().collect::<Vec<_>>(), [LIST, "notes.txt"]);
    let list = std::str::from_utf8(&found[LIST]).unwrap();
    assert!(list.ends_with("\n\nsparse: it is sparse\n"), "{list}");
}

/// An archive. Replaces a directory by a link as soon as its entry is written.
struct Swap<'a> {
    volume: &'a Volume,
    written: Vec<u8>,
}

impl Write for Swap<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if bytes.starts_with(b"outer/inner/\0") {
            let inner = self.volume.path("outer/inner");
            rename(&inner, self.volume.path("outer/gone")).unwrap();
            symlink(self.volume.0.path().join("foreign"), &inner).unwrap();
        }
        self.written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn directory_that_becomes_a_link_is_not_followed() {
    let volume = Volume::new();
    for name in ["one", "two"] {
        volume.write(&format!("outer/inner/{name}/notes.txt"), "mine");
        volume.write(&format!("../foreign/{name}/notes.txt"), "secret");
    }
    let mut swap = Swap { volume: &volume, written: Vec::new() };
    write_archive(&volume.path(""), &mut swap).unwrap();
    let found = files_of(&swap.written);
    assert!(found.values().all(|content| content != b"secret"), "{found:?}");
    // The directory that is still open is in the archive.
    let list = std::str::from_utf8(&found[LIST]).unwrap();
    let (archived, missing) = if list.contains("one") { ("two", "one") } else { ("one", "two") };
    assert_eq!(found[&format!("outer/inner/{archived}/notes.txt")], b"mine");
    assert!(list.ends_with(&format!("\n\nouter/inner/{missing}/: not a directory\n")), "{list}");
}

#[test]
fn connection_without_a_free_file_does_not_end_the_running_download() {
    let volume = Volume::new();
    volume.write("large", vec![7; 30_000_000]);
    let mut reader = volume.start_with(|command| {
        command.stderr(Stdio::piped());
    });
    let mut log = BufReader::new(reader.child.stderr.take().unwrap()).lines();
    let mut first = reader.connect();
    write!(first, "GET /archive HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\n\r\n").unwrap();
    first.read_exact(&mut [0; 100_000]).unwrap();
    let limit = Rlimit { current: Some(1), maximum: Some(1) };
    let pid = Pid::from_raw(reader.child.id().cast_signed());
    prlimit(pid, Resource::Nofile, limit).unwrap();
    let second = reader.connect();
    let line = log.find_map(|line| line.ok().filter(|line| line.contains("accept"))).unwrap();
    assert!(line.contains("accepting a connection failed, retrying"), "{line}");
    let mut rest = Vec::new();
    first.read_to_end(&mut rest).unwrap();
    assert!(rest.ends_with(b"\r\n0\r\n\r\n"));
    drop(first);
    assert_eq!(reader.exit_code(), Some(0));
    drop(second);
}

#[test]
fn program_raises_its_limit_of_open_files() {
    let volume = Volume::new();
    let reader = volume.start_with_limit("ulimit -n 100; ulimit -Sn 50");
    assert_eq!(reader.ask("/ready", "").0, 200);
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", reader.child.id())).unwrap();
    let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    assert_eq!(files.split_whitespace().nth(3), Some("100"), "{files}");
}

#[test]
fn list_does_not_replace_a_file_of_the_user() {
    let volume = Volume::new();
    volume.write(LIST, "of an earlier download");
    volume.write("locked.txt", "secret");
    forbid(&volume.path("locked.txt"));
    let reader = start_as_stranger(&volume);
    let found = entries(&reader.download(TOKEN).1);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["NOT-IN-THIS-ARCHIVE-2.txt", LIST]);
    assert_eq!(found[LIST], b"of an earlier download");
}

#[test]
fn directory_of_the_file_system_for_damaged_files_is_omitted() {
    let volume = Volume::new();
    for name in ["lost+found/damaged", "mine/lost+found/kept"] {
        volume.write(name, "1");
    }
    let reader = volume.start();
    let found = entries(&reader.download(TOKEN).1);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["mine/", "mine/lost+found/", "mine/lost+found/kept"]);
}

#[test]
fn invalid_setting_fails_start_with_one_line_error() {
    let digest = digest();
    for (directory, token, said) in [
        ("", &*digest, "SERVICE_ARCHIVE_DIRECTORY"),
        ("/tmp", "", "SERVICE_ARCHIVE_TOKEN_SHA256"),
        ("/tmp", TOKEN, "write 64 hexadecimal digits"),
    ] {
        let settings = [("SERVICE_ARCHIVE_DIRECTORY", directory), ("SERVICE_ARCHIVE_TOKEN_SHA256", token)];
        let mut command = super::support::program::command(&settings);
        let output = command.arg("archive").output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(said) && error.lines().count() == 1, "{error}");
    }
}

#[test]
fn memory_stays_small_while_a_slow_client_reads_a_large_file() {
    let volume = Volume::new();
    std::fs::File::create(volume.path("sparse")).unwrap().set_len(1 << 30).unwrap();
    let reader = volume.start();
    let mut client = reader.connect();
    write!(client, "GET /archive HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\n\r\n").unwrap();
    let mut read = vec![0; 64 * 1024];
    for _ in 0..500 {
        client.read_exact(&mut read).unwrap();
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", reader.child.id())).unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    let kib: u64 = resident.split_whitespace().next().unwrap().parse().unwrap();
    assert!(kib < 8 * 1024, "{kib} KiB");
}
