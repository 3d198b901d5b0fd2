//! Tests of program, arguments, environment and files of an app that runs as a process.

use launcher_domain::AppType::{self, Custom, Notebook, Rstudio};
use launcher_workshop::app::{Machine, ProcessCommand, Program, accepts_token};

use crate::support::{template, words};

fn machine() -> Machine {
    Machine {
        host: "intro.localhost".to_owned(),
        user: "alice".to_owned(),
        app_dir: "/data/app".into(),
        working_dir: "/data/work".into(),
    }
}

/// Returns the expected command of an app on port 4000. Its environment has `env` and the variables of every app.
fn command(program: Program, args: &[&str], env: &[(&str, &str)]) -> ProcessCommand {
    let common = [
        ("DISABLE_AUTH", "true"),
        ("PORT", "4000"),
        ("WORKSHOP_HOST", "intro.example.org"),
        ("WORKSHOP_ORIGIN", "https://intro.example.org"),
        ("WORKSHOP_URL", "https://intro.example.org/"),
    ];
    let env = env.iter().chain(&common).map(|(name, value)| (name.into(), value.into())).collect();
    ProcessCommand { program, args: words(args), env }
}

#[test]
fn process_command_of_notebook_and_rstudio_runs_program_of_the_machine() {
    let jupyter = [
        "--ServerApp.open_browser=False",
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port=4000",
        "--ServerApp.port_retries=0",
        "--PasswordIdentityProvider.hashed_password=",
        "--ServerApp.local_hostnames=intro.localhost",
        "--ServerApp.root_dir=/data/work",
        "--ServerApp.allow_root=True",
    ];
    let jupyter_env = [
        ("JUPYTER_CONFIG_DIR", "/data/app/config"),
        ("JUPYTER_DATA_DIR", "/data/app/data"),
        ("JUPYTER_RUNTIME_DIR", "/data/app/run"),
        ("IPYTHONDIR", "/data/app/ipython"),
    ];
    let rstudio = [
        "--www-port=4000",
        "--www-address=127.0.0.1",
        "--auth-none=1",
        "--server-daemonize=0",
        "--server-user=alice",
        "--server-data-dir=/data/app/run",
        "--database-config-file=/data/app/database.conf",
        "--secure-cookie-key-file=/data/app/secure-cookie-key",
        "--rsession-config-file=/data/app/rsession.conf",
        "--www-frame-origin=same",
        "--x=4000",
    ];
    let ignored = ["ignored"];
    let cases = [
        (template(Notebook, "image").command(&ignored), command(Program::Jupyter, &jupyter, &jupyter_env)),
        (
            template(Rstudio, "image").command(&ignored).args(&["--x=$(PORT)"]),
            command(Program::Rstudio, &rstudio, &[("XDG_DATA_HOME", "/data/app/data")]),
        ),
        (
            template(Custom, "image").command(&["serve", "$(PORT)"]).args(&["$(HOME) $(HOST)"]).env("A", "$(PORT)"),
            command(Program::Named("serve".to_owned()), &["4000", "$(HOME) intro.example.org"], &[("A", "4000")]),
        ),
    ];
    for (template, expected) in cases {
        assert_eq!(template.on(4000).process_command(&machine()).unwrap(), expected);
    }
    assert_eq!(template(Custom, "image").on(4000).process_command(&machine()), None);
}

#[test]
fn jupyter_arguments_of_template_override_presets_except_address_and_empty_token() {
    let template = template(Notebook, "image").args(&[
        "--ip=0.0.0.0",
        "--port=8888",
        "--port-retries=5",
        "--ServerApp.ip=0.0.0.0",
        "--ServerApp.port=8888",
        "--ServerApp.port_retries=5",
        "--ServerApp.local_hostnames=example.org",
        "--no-browser",
        "--notebook-dir=/srv",
        "--ServerApp.token=",
        "--NotebookApp.token=secret",
    ]);
    let args = template.on(4000).process_command(&machine()).unwrap().args;
    let expected = [
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port=4000",
        "--ServerApp.port_retries=0",
        "--PasswordIdentityProvider.hashed_password=",
        "--ServerApp.local_hostnames=intro.localhost",
        "--ServerApp.allow_root=True",
        "--no-browser",
        "--notebook-dir=/srv",
        "--NotebookApp.token=secret",
    ];
    assert_eq!(args, expected);
}

#[test]
fn jupyter_options_with_their_values_in_the_next_word_are_treated_alike() {
    let words = ["--ip", "0.0.0.0", "--ServerApp.port", "8888", "--ServerApp.token", "", "--no-browser", "a.ipynb"];
    let args = template(Notebook, "image").args(&words).on(4000).process_command(&machine()).unwrap().args;
    assert_eq!(args[..2], ["--ServerApp.ip=127.0.0.1", "--ServerApp.port=4000"]);
    assert_eq!(args[args.len() - 3..], ["--ServerApp.allow_root=True", "--no-browser", "a.ipynb"]);
}

#[test]
fn template_replaces_pages_that_may_frame_rstudio() {
    for words in [&["--www-frame-origin=none"][..], &["--www-frame-origin", "none"]] {
        let args = template(Rstudio, "image").args(words).on(4000).process_command(&machine()).unwrap().args;
        let set: Vec<_> = args.iter().filter(|word| word.starts_with("--www-frame-origin")).collect();
        assert_eq!(set, [words[0]], "rserver refuses an option that occurs twice");
    }
}

#[test]
fn template_variables_override_app_type_variables() {
    let template = template(Rstudio, "image").env("XDG_DATA_HOME", "/own");
    let env = template.on(4000).process_command(&machine()).unwrap().env;
    assert_eq!(env[std::ffi::OsStr::new("XDG_DATA_HOME")], "/own");
}

#[test]
fn configuration_files_exist_for_rstudio_only() {
    let expected = |app_type| match app_type {
        Rstudio => vec![
            ("database.conf", "provider=sqlite\ndirectory=/data/app/database\n".to_owned()),
            ("rsession.conf", "session-default-working-dir=/data/work\n".to_owned()),
        ],
        Notebook | Custom => Vec::new(),
    };
    for app_type in AppType::ALL {
        assert_eq!(template(app_type, "image").on(4000).process_files(&machine()), expected(app_type));
    }
}

#[test]
fn only_notebook_without_token_of_template_accepts_a_token() {
    let cases: [(AppType, &[&str], bool); 8] = [
        (Notebook, &[], true),
        (Notebook, &["--IdentityProvider.token="], true),
        (Notebook, &["--IdentityProvider.token=secret"], false),
        (Notebook, &["--NotebookApp.token=secret"], false),
        (Notebook, &["--ServerApp.token", ""], true),
        (Notebook, &["--ServerApp.token", "secret"], false),
        (Rstudio, &[], false),
        (Custom, &[], false),
    ];
    for (app_type, args, accepts) in cases {
        assert_eq!(accepts_token(app_type, &words(args)), accepts, "{app_type:?} {args:?}");
    }
}
