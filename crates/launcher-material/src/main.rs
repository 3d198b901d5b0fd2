//! `launcher-material`: places the course material of a workshop, and reports.
//!
//! It exits with 0 also after failures, so that they never prevent the start of the app. It exits with 2 only if the
//! configuration is unreadable and no path of the marker file is set. On a cluster, this path is set, because an exit
//! code other than 0 would prevent the start.
//!
//! On a cluster it also fills the volume of a directory whose files outlive a crash of the app. `install PROGRAM` copies this
//! program. `copy SOURCE TARGET MARKER BYTES` copies the files of the app's image. Both exit with 1 after a failure: the app
//! must not start without the files of its image.
//!
//! `restore DIRECTORY` places the files of a tar archive on the standard input in this directory. It exits with 1 after a
//! failure.
//!
//! `check` finds the version of each source of the configuration, and counts its files, without placing them. It reaches only
//! public IPv4 addresses of other machines, unless `--all-addresses` follows. `--except NETWORKS` takes further addresses
//! away.
//!
//! `receive DIRECTORY MARKER PORT DIGEST REPORT` does the same on a cluster, with the archive that the launcher sends to this
//! port. `DIGEST` is the SHA-256 of the launcher's token. If the files cannot be placed, it writes the reason to the file
//! `REPORT`, and exits with 4.
//!
//! `--version` prints the version.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use launcher_domain::material::{CHECK_MEMORY_BYTES, MATERIAL_VARIABLE, MaterialConfig};
use launcher_domain::network::parse_network;
use launcher_domain::transfer::NOT_RESTORED;
use launcher_domain::version::version;
use launcher_material::check::{check, limits};
use launcher_material::image::{copy, install};
use launcher_material::receive::{listen, receive};
use launcher_material::restore::restore;
use launcher_material::run::{marker, once};
use launcher_material::{Limits, Reach, run};
use rustix::process::{Resource, Rlimit, nice, setrlimit};
use signal_hook::consts::SIGTERM;
use signal_hook::flag::register_conditional_shutdown;

/// Maximum bytes of memory: twice those of a container of the program.
const MEMORY_BYTES: u64 = 512 << 20;
/// Lowers the priority of a check, so that the launcher beside it answers first.
const CHECK_NICENESS: i32 = 10;
const USAGE: &str = "use no arguments, `install PROGRAM`, `copy SOURCE TARGET MARKER BYTES`, `restore DIRECTORY`, \
                     `check [--all-addresses | --except NETWORKS]`, `receive DIRECTORY MARKER PORT DIGEST REPORT` or `--version`";
/// Maximum unreadable files that the log names.
const SHOWN_FILES: usize = 5;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    limit_memory(if words.first() == Some(&"check") { CHECK_MEMORY_BYTES } else { MEMORY_BYTES });
    match words[..] {
        [] => place(),
        ["--version"] => {
            let _ = writeln!(std::io::stdout(), "launcher-material {}", version());
            ExitCode::SUCCESS
        }
        ["check"] => ended(check_sources(&Reach::Public { except: Vec::new() })),
        ["check", "--all-addresses"] => ended(check_sources(&Reach::All)),
        ["check", "--except", networks] => ended(public_except(networks).and_then(|reach| check_sources(&reach))),
        ["install", target] => ended(install(Path::new(target)).map_err(|error| format!("{target}: {error}"))),
        ["restore", directory] => ended(restore_files(directory)),
        ["copy", source, target, marker, most] => ended(copy_files(source, target, marker, most)),
        ["receive", directory, marker, port, digest, report] => {
            receive_files(directory, marker, (port, digest), report).unwrap_or_else(|error| ended(Err(error)))
        }
        _ => {
            say(USAGE);
            ExitCode::from(2)
        }
    }
}

/// Reports a failure, and returns the exit code.
fn ended(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&error);
            ExitCode::FAILURE
        }
    }
}

/// Copies the files of the app's image.
fn copy_files(source: &str, target: &str, marker: &str, most: &str) -> Result<(), String> {
    let most = most.parse().map_err(|_| format!("{most} is not a number of bytes"))?;
    let Some(copied) = copy(Path::new(source), Path::new(target), Path::new(marker), most)? else { return Ok(()) };
    for path in copied.unreadable.iter().take(SHOWN_FILES) {
        say(&format!("not copied, because the app's user cannot read it: {source}/{}", path.display()));
    }
    let _ = writeln!(std::io::stdout(), "copied {} entries with {} bytes", copied.entries, copied.bytes);
    Ok(())
}

/// Places the saved files on the standard input.
fn restore_files(directory: &str) -> Result<(), String> {
    restore(Path::new(directory), std::io::stdin().lock()).map(drop).map_err(|error| error.to_string())
}

/// Returns the public addresses outside of these networks, which are separated by commas.
fn public_except(networks: &str) -> Result<Reach, String> {
    let except = networks.split(',').map(parse_network).collect::<Result<_, _>>();
    except.map(|except| Reach::Public { except }).map_err(|error| error.to_string())
}

/// Checks the sources, and writes the findings as one line of JSON.
fn check_sources(reach: &Reach) -> Result<(), String> {
    // Without a lower priority, the check works as well.
    let _ = nice(CHECK_NICENESS);
    let config = configuration()?;
    let findings = check(&config, limits(config.sources.len()), reach);
    let line = serde_json::to_string(&findings).map_err(|error| error.to_string())?;
    writeln!(std::io::stdout(), "{line}").map_err(|error| error.to_string())
}

/// Places the saved files that the launcher sends.
///
/// # Errors
/// Another attempt may succeed, or the arguments are wrong.
fn receive_files(
    directory: &str,
    marker: &str,
    (port, digest): (&str, &str),
    report: &str,
) -> Result<ExitCode, String> {
    // The kernel delivers a signal to the first process of a container only if the process has a handler. Without it, the end
    // of the pod would wait.
    let ends = Arc::new(AtomicBool::new(true));
    register_conditional_shutdown(SIGTERM, 1, ends).map_err(|error| format!("SIGTERM cannot be handled: {error}"))?;
    let token = digest.parse().map_err(|error| format!("the digest {digest:?} is wrong: {error}"))?;
    let port = port.parse().map_err(|_| format!("{port:?} is no port"))?;
    let listener = listen(port).map_err(|error| format!("the port {port} cannot be opened: {error}"))?;
    let Err(problem) = receive(&listener, token, Path::new(directory), Path::new(marker), say) else {
        return Ok(ExitCode::SUCCESS);
    };
    say(&problem);
    if let Err(error) = std::fs::write(report, &problem) {
        say(&format!("the reason cannot be written to {report}: {error}"));
    }
    Ok(ExitCode::from(NOT_RESTORED))
}

/// Places course material.
fn place() -> ExitCode {
    match configuration() {
        Ok(config) => {
            report(&config);
            ExitCode::SUCCESS
        }
        Err(error) => {
            say(&error);
            if marker().is_some() { ExitCode::SUCCESS } else { ExitCode::from(2) }
        }
    }
}

/// Limits the memory, for fleets that do not limit it. Sources that need more are an attack.
fn limit_memory(bytes: u64) {
    let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    // A limit that is lower already stays.
    let _ = setrlimit(Resource::Data, limit);
}

/// Reads the configuration from the environment.
fn configuration() -> Result<MaterialConfig, String> {
    let text = std::env::var(MATERIAL_VARIABLE)
        .map_err(|error| format!("{MATERIAL_VARIABLE} cannot be read: {error}; set it to the configuration as JSON"))?;
    serde_json::from_str(&text).map_err(|error| format!("{MATERIAL_VARIABLE} is not the expected JSON: {error}"))
}

/// Places the sources, and writes the report.
fn report(config: &MaterialConfig) {
    let line = match once(marker().as_deref(), config, |config| run(config, Limits::default())).to_line() {
        Ok(line) => line,
        Err(error) => return say(&format!("the report cannot be written: {error}")),
    };
    if let Some(path) = &config.report
        && let Err(error) = std::fs::write(path, &line)
    {
        say(&format!("the report cannot be written to {path}: {error}; see the standard output"));
    }
    let _ = writeln!(std::io::stdout(), "{line}");
}

#[expect(clippy::print_stderr, reason = "the program has no log, and this line is for people")]
fn say(text: &str) {
    eprintln!("launcher-material: {text}");
}
