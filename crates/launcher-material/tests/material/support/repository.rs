//! Repositories, and a git server: git's own program for it, behind the HTTP server of the tests.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::http::{Request, Server, respond};
use super::memory_directory;

/// Version of the protocol that a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Version0,
    Version2,
}

/// Repository with a server.
pub(crate) struct Repository {
    pub(crate) server: Server,
    directory: TempDir,
}

impl Repository {
    pub(crate) fn new() -> Self {
        Self::with(Protocol::Version2)
    }

    pub(crate) fn with(protocol: Protocol) -> Self {
        let directory = memory_directory();
        let root = directory.path().to_owned();
        let server = Server::start(move |request, stream| serve(&root, protocol, request, stream));
        let repository = Self { server, directory };
        fs::create_dir(repository.directory.path().join("work")).unwrap();
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository
    }

    pub(crate) fn url(&self) -> String {
        self.server.url("course.git")
    }

    /// Directory that a server of the repository publishes.
    pub(crate) fn root(&self) -> PathBuf {
        self.directory.path().to_owned()
    }

    fn bare(&self) -> PathBuf {
        self.directory.path().join("course.git")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.args(arguments);
        clean(&mut command);
        command.env("GIT_DIR", self.bare()).env("GIT_WORK_TREE", self.directory.path().join("work"));
        command.current_dir(self.directory.path());
        command
    }

    /// Runs git, and returns its output.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.git_with(arguments, b"")
    }

    pub(crate) fn git_with(&self, arguments: &[&str], input: &[u8]) -> String {
        let mut command = self.command(arguments);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.expect("git is installed");
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Commits exactly these files, and returns the commit.
    pub(crate) fn commit(&self, files: &[(&str, &str)]) -> String {
        let files: BTreeMap<&str, &[u8]> = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
        self.commit_bytes(&files)
    }

    pub(crate) fn commit_bytes(&self, files: &BTreeMap<&str, &[u8]>) -> String {
        let work = self.directory.path().join("work");
        fs::remove_dir_all(&work).unwrap();
        for (path, content) in files {
            let path = work.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        fs::create_dir_all(&work).unwrap();
        self.git(&["add", "--all", "--force"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message=change"]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Commits a tree with these lines of `git ls-tree`. The names may be invalid.
    pub(crate) fn commit_tree(&self, lines: &[(&str, &str, &str, &str)]) -> String {
        let tree = self.tree(lines);
        let commit = self.git(&["commit-tree", "-m", "hostile", &tree]);
        self.git(&["update-ref", "refs/heads/main", &commit]);
        commit
    }

    /// Creates a tree from modes, types, objects and names.
    pub(crate) fn tree(&self, lines: &[(&str, &str, &str, &str)]) -> String {
        let lines = lines.iter().map(|(mode, kind, object, name)| format!("{mode} {kind} {object}\t{name}\0"));
        self.git_with(&["mktree", "-z", "--missing"], lines.collect::<String>().as_bytes())
    }

    pub(crate) fn blob(&self, content: &str) -> String {
        self.git_with(&["hash-object", "-w", "--stdin"], content.as_bytes())
    }

    /// Number of requests for packs.
    pub(crate) fn fetches(&self) -> usize {
        let is_fetch = |request: &Request| request.body.windows(5).any(|window| window == b"want ");
        self.server.requests().iter().filter(|request| is_fetch(request)).count()
    }
}

/// Removes the settings of this machine's user.
fn clean(command: &mut Command) {
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "teacher").env(format!("GIT_{role}_EMAIL"), "teacher@example.org");
    }
}

/// Answers one request with `git http-backend`.
pub(crate) fn serve(root: &Path, protocol: Protocol, request: &Request, stream: &mut TcpStream) {
    let mut command = Command::new("git");
    clean(&mut command);
    command.arg("http-backend").env("GIT_PROJECT_ROOT", root).env("GIT_HTTP_EXPORT_ALL", "1");
    command.env("REQUEST_METHOD", &request.method).env("PATH_INFO", &request.path).env("QUERY_STRING", &request.query);
    command.env("CONTENT_TYPE", request.header("content-type").unwrap_or_default());
    command.env("CONTENT_LENGTH", request.body.len().to_string());
    if let Some(version) = request.header("git-protocol").filter(|_| protocol == Protocol::Version2) {
        command.env("GIT_PROTOCOL", version);
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    // A client that ends early closes the connection, and git its input.
    let _ = child.stdin.take().unwrap().write_all(&request.body);
    let mut answer = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut answer).unwrap();
    child.wait().unwrap();
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap_or(answer.len());
    let (head, body) = answer.split_at(end);
    let head = String::from_utf8_lossy(head);
    let lines: Vec<(&str, &str)> = head.lines().filter_map(|line| line.split_once(": ")).collect();
    let status = lines.iter().find(|(name, _)| *name == "Status").map_or("200 OK", |(_, status)| status);
    respond(stream, status, &lines, body.get(4..).unwrap_or_default());
}
