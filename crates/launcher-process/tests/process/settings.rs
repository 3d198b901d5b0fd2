use std::ffi::OsString;

use clap::{Parser, Subcommand};
use launcher_process::settings::{parse_bool, unknown_names};

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
fn unknown_setting_name_is_found() {
    let environment =
        ["SERVICE_KNOWN", "SERVICE_KNWON", "PATH"].map(|name| (OsString::from(name), OsString::from("x")));
    assert_eq!(unknown_names::<Cli>(environment.into_iter()), ["SERVICE_KNWON"]);
}
