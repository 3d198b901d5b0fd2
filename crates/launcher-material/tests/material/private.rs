//! Private sources: real git and https servers that require a user name and a password.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use launcher_domain::material::{MATERIAL_VARIABLE, MaterialConfig};
use launcher_domain::material::{MaterialOutcome, MaterialReport, SourceReport};
use launcher_domain::template::MaterialSource;
use tempfile::TempDir;

use crate::support::archives::{sha256, tar};
use crate::support::http::{Request, Server, respond};
use crate::support::repository::{Protocol, Repository, serve};
use crate::support::secure::{Certificate, SecureServer};
use crate::support::{Student, archive, assert_failed, assert_outcome, git};

const PASSWORD: &str = "correct-horse";
/// Header of the user `teacher` with this password.
const TEACHER: &str = "Basic dGVhY2hlcjpjb3JyZWN0LWhvcnNl";
/// Header of the user `git` with this password.
const GIT: &str = "Basic Z2l0OmNvcnJlY3QtaG9yc2U=";

/// Student, secrets, and the certificate of all servers.
struct Private {
    student: Student,
    secrets: TempDir,
    certificate: Certificate,
}

impl Private {
    /// Creates the secret `statistics`, with line ends as an editor writes them.
    fn new() -> Self {
        let private =
            Self { student: Student::new(), secrets: TempDir::new().unwrap(), certificate: Certificate::new() };
        private.write("username", "teacher\n");
        private.write("password", &format!("{PASSWORD}\r\n"));
        private
    }

    fn file(&self, file: &str) -> std::path::PathBuf {
        self.secrets.path().join("statistics").join(file)
    }

    fn write(&self, file: &str, content: &str) {
        fs::create_dir_all(self.secrets.path().join("statistics")).unwrap();
        fs::write(self.file(file), content).unwrap();
    }

    fn place(&self, source: &MaterialSource) -> SourceReport {
        self.run(std::slice::from_ref(source), Some(self.secrets.path())).remove(0)
    }

    /// Runs the program, because the certificates are read once for each process. No output and no file of the student has
    /// the password.
    fn run(&self, sources: &[MaterialSource], secrets: Option<&Path>) -> Vec<SourceReport> {
        let secrets = secrets.map(|path| path.to_str().unwrap().to_owned());
        let config = MaterialConfig { secrets, ..self.student.config(sources.to_vec()) };
        let mut command = Command::new(env!("CARGO_BIN_EXE_launcher-material"));
        command.env(MATERIAL_VARIABLE, serde_json::to_string(&config).unwrap());
        command.env("SSL_CERT_FILE", self.certificate.file()).env_remove("SSL_CERT_DIR");
        let output = command.output().unwrap();
        let shown = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let mut written = self.student.files(".course-material");
        written.extend(self.student.files("course"));
        for word in [PASSWORD, &TEACHER[6..], &GIT[6..]] {
            assert!(!shown.contains(word), "{shown}");
            assert!(!format!("{written:?}").contains(word), "{written:?}");
        }
        serde_json::from_slice::<MaterialReport>(&output.stdout).unwrap().sources
    }

    /// Serves a repository to clients with the header.
    fn repository(&self, header: &'static str) -> (Repository, SecureServer) {
        let repository = Repository::new();
        repository.commit(&[("a", "1")]);
        let root = repository.root();
        let server = self.serve(header, move |request, stream| serve(&root, Protocol::Version2, request, stream));
        (repository, server)
    }

    /// Serves this content to clients with the header.
    fn file_server(&self, header: &'static str, content: Vec<u8>) -> SecureServer {
        self.serve(header, move |_, stream| respond(stream, "200 OK", &[], &content))
    }

    fn serve(
        &self,
        header: &'static str,
        answer: impl Fn(&Request, &mut TcpStream) + Send + Sync + 'static,
    ) -> SecureServer {
        SecureServer::start(&self.certificate, move |request, stream| {
            if request.header("authorization") == Some(header) {
                return answer(request, stream);
            }
            respond(stream, "401 Unauthorized", &[("WWW-Authenticate", "Basic realm=\"git\"")], b"");
        })
    }

    /// Redirects all requests to this address, with the rest of the path and the query.
    fn redirect(&self, target: String) -> SecureServer {
        SecureServer::start(&self.certificate, move |request, stream| {
            let location = format!("{target}{}?{}", request.path, request.query);
            respond(stream, "302 Found", &[("Location", &location)], b"");
        })
    }
}

fn private(source: MaterialSource) -> MaterialSource {
    MaterialSource { secret: Some("statistics".to_owned()), ..source }
}

/// Returns the headers `Authorization` of all requests.
fn headers(requests: &[Request]) -> Vec<Option<&str>> {
    requests.iter().map(|request| request.header("authorization")).collect()
}

#[test]
fn private_repository_is_placed_and_found_unchanged() {
    let private_sources = Private::new();
    let (_repository, server) = private_sources.repository(TEACHER);
    let source = private(git(&server.url("course.git")));
    assert_outcome(&private_sources.place(&source), MaterialOutcome::Placed);
    assert_eq!(private_sources.student.read("course/a"), "1");
    let requests = server.requests();
    assert_eq!(headers(&requests), [Some(TEACHER); 3], "the references, the branch, and the pack");
    assert_outcome(&private_sources.place(&source), MaterialOutcome::Unchanged);
}

#[test]
fn private_archive_is_placed_and_later_needs_no_secret() {
    let private_sources = Private::new();
    let content = tar(&[("a", b"1")]);
    let digest = sha256(&content);
    let server = private_sources.file_server(TEACHER, content);
    let source = private(archive(&server.url("a.tar"), &digest));
    assert_outcome(&private_sources.place(&source), MaterialOutcome::Placed);
    assert_eq!(private_sources.student.read("course/a"), "1");
    fs::remove_file(private_sources.file("password")).unwrap();
    assert_outcome(&private_sources.place(&source), MaterialOutcome::Unchanged);
}

#[test]
fn secret_without_user_name_has_the_user_git() {
    let private_sources = Private::new();
    fs::remove_file(private_sources.file("username")).unwrap();
    let (_repository, server) = private_sources.repository(GIT);
    let report = private_sources.place(&private(git(&server.url("course.git"))));
    assert_outcome(&report, MaterialOutcome::Placed);
}

#[test]
fn wrong_password_and_missing_permission_name_the_secret() {
    let private_sources = Private::new();
    let (_repository, server) = private_sources.repository(TEACHER);
    let source = private(git(&server.url("course.git")));
    private_sources.write("password", "wrong");
    assert_failed(
        &private_sources.place(&source),
        "127.0.0.1 refuses the secret statistics (401): ask an administrator",
    );
    let public = MaterialSource { secret: None, ..source };
    assert_failed(&private_sources.place(&public), "127.0.0.1 requires a login (401)");
    for (status, words) in [
        ("403 Forbidden", "refuses the secret statistics (403)"),
        ("404 Not Found", "or does not show it with the secret statistics (404)"),
        ("200 OK", "or its server refuses the secret statistics"),
    ] {
        let server =
            SecureServer::start(&private_sources.certificate, move |_, stream| respond(stream, status, &[], b""));
        assert_failed(&private_sources.place(&private(git(&server.url("a.git")))), words);
    }
}

#[test]
fn missing_and_unusable_secrets_are_explained_and_nothing_is_sent() {
    let private_sources = Private::new();
    let (_repository, server) = private_sources.repository(TEACHER);
    let source = private(git(&server.url("course.git")));
    let missing = "The secret statistics is missing or has no password.";
    for empty in ["", "\n"] {
        private_sources.write("password", empty);
        assert_failed(&private_sources.place(&source), missing);
    }
    private_sources.write("password", &"x".repeat(4097));
    assert_failed(&private_sources.place(&source), "its password has more than 4096 bytes");
    fs::remove_file(private_sources.file("password")).unwrap();
    fs::create_dir(private_sources.file("password")).unwrap();
    assert_failed(&private_sources.place(&source), "its password cannot be read");
    fs::remove_dir_all(private_sources.secrets.path().join("statistics")).unwrap();
    let report = private_sources.place(&source);
    assert_failed(&report, missing);
    assert_failed(
        &report,
        "on a cluster as the Secret material-statistics, otherwise as the folder material-secrets/statistics",
    );
    let report = private_sources.run(&[source], None).remove(0);
    assert_failed(&report, missing);
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn secret_with_a_url_is_only_for_sources_whose_address_begins_with_it() {
    let private_sources = Private::new();
    let (_repository, server) = private_sources.repository(TEACHER);
    let source = private(git(&server.url("course.git")));
    for other in ["https://127.0.0.1/", &server.url("other"), &server.url("course"), "nonsense", "http://127.0.0.1/"] {
        private_sources.write("url", other);
        assert_failed(&private_sources.place(&source), "The secret statistics is not for this address");
    }
    assert_eq!(server.requests().len(), 0);
    private_sources.write("url", &format!("{}\n", server.url("")));
    assert_outcome(&private_sources.place(&source), MaterialOutcome::Placed);
}

#[test]
fn redirect_on_the_same_server_has_the_password() {
    let private_sources = Private::new();
    let repository = Repository::new();
    repository.commit(&[("a", "1")]);
    let root = repository.root();
    let server = private_sources.serve(TEACHER, move |request, stream| match request.path.strip_prefix("/old") {
        Some(rest) => {
            let location = format!("/course.git{rest}?{}", request.query);
            respond(stream, "301 Moved Permanently", &[("Location", &location)], b"");
        }
        None => serve(&root, Protocol::Version2, request, stream),
    });
    assert_outcome(&private_sources.place(&private(git(&server.url("old")))), MaterialOutcome::Placed);
}

#[test]
fn redirect_to_another_server_never_has_the_password() {
    let private_sources = Private::new();
    let (_repository, thief) = private_sources.repository(TEACHER);
    let front = private_sources.redirect(thief.url("").trim_end_matches('/').to_owned());
    let report = private_sources.place(&private(git(&front.url("course.git"))));
    assert_failed(&report, "The source redirects to 127.0.0.1, which does not get the secret statistics (401)");
    assert_eq!(headers(&front.requests()), [Some(TEACHER)]);
    assert_eq!(headers(&thief.requests()), [None]);

    let content = tar(&[("a", b"1")]);
    let digest = sha256(&content);
    let public = SecureServer::start(&private_sources.certificate, move |_, stream| {
        respond(stream, "200 OK", &[], &content);
    });
    let front = private_sources.redirect(public.url("").trim_end_matches('/').to_owned());
    let report = private_sources.place(&private(archive(&front.url("a.tar"), &digest)));
    assert_outcome(&report, MaterialOutcome::Placed);
    assert_eq!(headers(&public.requests()), [None], "a store of files with its own tokens in the address");
}

#[test]
fn redirect_to_another_public_git_server_sends_no_password_with_any_request() {
    let private_sources = Private::new();
    let repository = Repository::new();
    repository.commit(&[("a", "1")]);
    let root = repository.root();
    let public = SecureServer::start(&private_sources.certificate, move |request, stream| {
        serve(&root, Protocol::Version2, request, stream);
    });
    let front = private_sources.redirect(public.url("").trim_end_matches('/').to_owned());
    let report = private_sources.place(&private(git(&front.url("course.git"))));
    assert_outcome(&report, MaterialOutcome::Placed);
    assert_eq!(headers(&public.requests()), [None; 3]);
}

#[test]
fn other_name_of_the_same_server_is_another_server() {
    let private_sources = Private::new();
    let server = SecureServer::start(&private_sources.certificate, move |request, stream| {
        let host = request.header("host").unwrap_or_default().to_owned();
        match host.strip_prefix("127.0.0.1:") {
            Some(port) => {
                let location = format!("https://localhost:{port}{}?{}", request.path, request.query);
                respond(stream, "307 Temporary Redirect", &[("Location", &location)], b"");
            }
            None => respond(stream, "401 Unauthorized", &[], b""),
        }
    });
    let report = private_sources.place(&private(git(&server.url("course.git"))));
    assert_failed(&report, "The source redirects to localhost");
    assert_eq!(headers(&server.requests()), [Some(TEACHER), None]);
}

#[test]
fn redirect_to_http_is_refused_before_a_request() {
    let private_sources = Private::new();
    let plain = Server::file(b"stolen".to_vec());
    let front = private_sources.redirect(plain.url("").trim_end_matches('/').to_owned());
    let report = private_sources.place(&private(git(&front.url("course.git"))));
    assert_failed(&report, "redirects from https to http");
    assert_eq!(plain.requests().len(), 0);
}

#[test]
fn source_by_http_gets_no_password() {
    let private_sources = Private::new();
    let plain = Server::file(Vec::new());
    assert_failed(
        &private_sources.place(&private(git(&plain.url("course.git")))),
        "The field url of the source is invalid",
    );
    assert_eq!(plain.requests().len(), 0);
}

#[test]
fn public_source_beside_a_private_one_of_the_same_server_gets_no_password() {
    let private_sources = Private::new();
    let content = tar(&[("a", b"1")]);
    let digest = sha256(&content);
    let server = private_sources.file_server(TEACHER, content);
    let public = MaterialSource { target: "public".to_owned(), ..archive(&server.url("public.tar"), &digest) };
    let sources = [private(archive(&server.url("private.tar"), &digest)), public];
    let reports = private_sources.run(&sources, Some(private_sources.secrets.path()));
    assert_outcome(&reports[0], MaterialOutcome::Placed);
    assert_failed(&reports[1], "requires a login (401)");
    let of = |path: &str| {
        let requests = server.requests();
        let request = requests.iter().find(|request| request.path == path).unwrap();
        request.header("authorization").map(str::to_owned)
    };
    assert_eq!((of("/private.tar").as_deref(), of("/public.tar")), (Some(TEACHER), None));
}
