use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use launcher_process::settings::{parse_bool, read_from, unknown_names};

#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    _command: Command,
}

#[derive(Subcommand)]
enum Command {
    Serve {
        #[arg(long, env = "SERVICE_KNOWN")]
        _known: Option<String>,
    },
}

#[test]
fn bool_setting_accepts_only_true_and_false() {
    assert_eq!(parse_bool("true"), Ok(true));
    assert_eq!(parse_bool(" false "), Ok(false));
    for text in ["", "0", "no", "flase", "FALSE", "off"] {
        assert_eq!(parse_bool(text).unwrap_err().to_string(), "write true or false", "{text:?}");
    }
}

#[test]
fn mistyped_setting_name_is_reported_as_unknown() {
    let environment =
        ["SERVICE_KNOWN", "SERVICE_KNWON", "PATH"].map(|name| (OsString::from(name), OsString::from("x")));
    assert_eq!(unknown_names::<Cli>(environment.into_iter()), ["SERVICE_KNWON"]);
}

/// Settings with environment variables that are never set on a test machine.
#[derive(Debug, Parser)]
struct Settings {
    /// The owner of the port
    #[arg(long, env = "SERVICE_TEST_OWNER", value_name = "EMAIL")]
    owner: String,
    #[arg(long, env = "SERVICE_TEST_PORT", value_name = "PORT")]
    port: u16,
    #[arg(long, env = "SERVICE_TEST_DIR", default_value = "/tmp")]
    dir: PathBuf,
    #[arg(long)]
    dry_run: bool,
}

fn read(arguments: &[&str]) -> Result<Settings, String> {
    read_from(["program"].iter().chain(arguments).map(OsString::from))
}

#[test]
fn settings_are_read_from_arguments_and_defaults() {
    let settings = read(&["--owner", "alice", "--port=80"]).unwrap();
    assert_eq!((settings.owner.as_str(), settings.port, settings.dry_run), ("alice", 80, false));
    assert_eq!(settings.dir, PathBuf::from("/tmp"));
    assert!(read(&["--owner=", "--port=80", "--dry-run"]).unwrap().dry_run);
}

#[test]
fn error_names_each_missing_setting_with_its_meaning() {
    let owner = "SERVICE_TEST_OWNER (--owner) is not set: write its value: The owner of the port";
    let port = "SERVICE_TEST_PORT (--port) is not set: write its value";
    assert_eq!(read(&["--port=80"]).unwrap_err(), owner);
    assert_eq!(read(&[]).unwrap_err(), format!("{owner}; {port}"));
}

#[test]
fn invalid_argument_error_is_one_line_with_its_variable() {
    for (arguments, expected) in [
        (
            &["--owner=alice", "--port=many"][..],
            "invalid value 'many' for SERVICE_TEST_PORT (--port): invalid digit found in string",
        ),
        (&["--owner=alice", "--port"], "a value is required for SERVICE_TEST_PORT (--port) but none was supplied"),
        (&["--owner=alice", "--port=1", "--port=2"], "SERVICE_TEST_PORT (--port) cannot be used multiple times"),
        (&["--owner=alice", "--port=1", "--nonsense"], "unexpected argument '--nonsense' found"),
        (&["--owner=alice", "--port=1", "extra"], "unexpected argument 'extra' found"),
    ] {
        let error = read(arguments).unwrap_err();
        assert!(error.contains(expected) && error.lines().count() == 1, "{error}");
        assert!(!error.contains("Usage") && !error.contains("--help") && !error.starts_with("error"), "{error}");
    }
}

#[test]
fn argument_that_is_not_utf8_is_refused_except_for_paths() {
    let bytes = |text: &[u8]| OsString::from_vec(text.to_vec());
    let valid = ["program", "--port=80"].map(OsString::from);
    let with = |more: &[OsString]| read_from::<Settings>(valid.iter().chain(more).cloned());
    let error = with(&[bytes(b"--owner=\xff")]).unwrap_err();
    assert_eq!(error, "an argument is not text in UTF-8: write it in UTF-8, without other bytes");
    let dir = bytes(b"/caf\xe9");
    let settings = with(&["--owner=alice".into(), "--dir".into(), dir.clone()]).unwrap();
    assert_eq!(settings.dir, PathBuf::from(dir));
}
