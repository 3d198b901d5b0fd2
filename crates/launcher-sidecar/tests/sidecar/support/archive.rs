//! Runs `launcher-sidecar archive` as a process, and reads its archives.

use std::collections::BTreeMap;
use std::fs::{Permissions, create_dir, create_dir_all, set_permissions, write};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::program::free;
use super::{PATIENCE, wait_until};

pub(crate) const TOKEN: &str = "5d41402abc4b2a76b9719d911017c592";

pub(crate) fn digest() -> String {
    Sha256::digest(TOKEN).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A volume, and a copy of the program that every user can run.
pub(crate) struct Volume(pub(crate) TempDir);

impl Volume {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        // Another process writes the file. A child that a parallel test forks would inherit the open file of this process,
        // and the file could not be executed until then.
        let copied =
            Command::new("cp").arg(env!("CARGO_BIN_EXE_launcher-sidecar")).arg(folder.path().join("program")).status();
        assert!(copied.unwrap().success());
        create_dir(folder.path().join("files")).unwrap();
        Self(folder)
    }

    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join("files").join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        create_dir_all(self.path(name).parent().unwrap()).unwrap();
        write(self.path(name), content).unwrap();
    }

    pub(crate) fn start(&self) -> Reader {
        self.start_with(|_| {})
    }

    /// Starts the program in a shell, after a command that changes limits.
    pub(crate) fn start_with_limit(&self, change: &str) -> Reader {
        self.start_with(|command| {
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", &format!("{change}; exec \"$0\" archive")]).arg(command.get_program());
            shell.env_clear().stdin(Stdio::null()).stderr(Stdio::null());
            shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
            *command = shell;
        })
    }

    pub(crate) fn start_with(&self, change: impl FnOnce(&mut Command)) -> Reader {
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
pub(crate) struct Reader {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
}

impl Reader {
    pub(crate) fn connect(&self) -> TcpStream {
        let mut connected = None;
        wait_until("the program listens", || {
            connected = TcpStream::connect(self.address).ok();
            connected.is_some()
        });
        let stream = connected.unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends a request, and returns the status and the raw body.
    pub(crate) fn ask(&self, path: &str, headers: &str) -> (u16, Vec<u8>) {
        let mut stream = self.connect();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: pod\r\n{headers}\r\n").unwrap();
        response(&mut stream)
    }

    pub(crate) fn download(&self, token: &str) -> (u16, Vec<u8>) {
        self.ask("/archive", &format!("Authorization: Bearer {token}\r\n"))
    }

    pub(crate) fn exit_code(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn response(stream: &mut TcpStream) -> (u16, Vec<u8>) {
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

pub(crate) fn entries(body: &[u8]) -> BTreeMap<String, Vec<u8>> {
    files_of(&dechunked(body).expect("the archive is incomplete"))
}

pub(crate) fn files_of(tar: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in tar::Archive::new(tar).entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        assert_eq!(found.insert(entry.path().unwrap().to_str().unwrap().to_owned(), content), None);
    }
    found
}
