//! Requests by https: certificates, and redirects to http. The server is that of OpenSSL.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use launcher_domain::material::MATERIAL_VARIABLE;
use launcher_domain::material::{MaterialOutcome, MaterialReport, SourceReport};
use tempfile::TempDir;

use crate::support::archives::{sha256, tar};
use crate::support::http::{self, respond};
use crate::support::{Student, archive, assert_failed, assert_outcome};

/// Server of the files in a directory, with a certificate for 127.0.0.1 of its own.
struct Server {
    directory: TempDir,
    process: Child,
    port: String,
    /// Open output: the server ends if it cannot write.
    _output: BufReader<ChildStdout>,
}

impl Server {
    /// Each file is a complete answer.
    fn start(files: &[(&str, Vec<u8>)]) -> Self {
        let directory = TempDir::new().unwrap();
        for (name, content) in files {
            fs::write(directory.path().join(name), content).unwrap();
        }
        let openssl = || {
            let mut command = Command::new("openssl");
            command.current_dir(directory.path()).stderr(Stdio::null()).stdin(Stdio::piped());
            command
        };
        let request = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=test \
                       -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE -keyout key.pem -out cert.pem";
        let created = openssl().args(request.split_whitespace()).stdout(Stdio::null()).status();
        assert!(created.expect("openssl is installed").success());
        let serve = "s_server -accept 127.0.0.1:0 -key key.pem -cert cert.pem -HTTP";
        let mut process = openssl().args(serve.split(' ')).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        while !line.starts_with("ACCEPT ") {
            line.clear();
            assert_ne!(output.read_line(&mut line).unwrap(), 0, "the server has ended");
        }
        let port = line.trim_end().rsplit_once(':').unwrap().1.to_owned();
        Self { directory, process, port, _output: output }
    }

    fn url(&self, path: &str) -> String {
        format!("https://127.0.0.1:{}/{path}", self.port)
    }

    fn certificate(&self) -> PathBuf {
        self.directory.path().join("cert.pem")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Runs the program, because the certificates are read once for each process.
fn place(student: &Student, url: &str, digest: &str, certificates: PathBuf) -> SourceReport {
    let config = serde_json::to_string(&student.config(vec![archive(url, digest)])).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_launcher-material"));
    command.env(MATERIAL_VARIABLE, config).env("SSL_CERT_FILE", certificates).env_remove("SSL_CERT_DIR");
    let report: MaterialReport = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    report.sources.into_iter().next().unwrap()
}

fn answer(head: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.0 {head}\r\n\r\n").as_bytes(), body].concat()
}

#[test]
fn only_a_trusted_certificate_is_accepted() {
    let content = tar(&[("a", b"1")]);
    let (server, other) = (Server::start(&[("a.tar", answer("200 OK", &content))]), Server::start(&[]));
    let student = Student::new();
    let report = place(&student, &server.url("a.tar"), &sha256(&content), other.certificate());
    assert_failed(&report, "certificate of 127.0.0.1 is not accepted");
    let report = place(&student, &server.url("a.tar"), &sha256(&content), server.certificate());
    assert_outcome(&report, MaterialOutcome::Placed);
    assert_eq!(student.read("course/a"), "1");
}

#[test]
fn redirect_from_https_to_http_is_refused() {
    let head = "302 Found\r\nLocation: http://127.0.0.1:1/a.tar";
    let server = Server::start(&[("a.tar", answer(head, b""))]);
    let report = place(&Student::new(), &server.url("a.tar"), &sha256(b""), server.certificate());
    assert_failed(&report, "from https to http");
}

#[test]
fn redirect_from_http_to_https_is_followed() {
    let content = tar(&[("a", b"1")]);
    let server = Server::start(&[("a.tar", answer("200 OK", &content))]);
    let location = server.url("a.tar");
    let plain = http::Server::start(move |_, stream| respond(stream, "302 Found", &[("Location", &location)], b""));
    let student = Student::new();
    let report = place(&student, &plain.url("a.tar"), &sha256(&content), server.certificate());
    assert_outcome(&report, MaterialOutcome::Placed);
    assert_eq!(student.read("course/a"), "1");
}
