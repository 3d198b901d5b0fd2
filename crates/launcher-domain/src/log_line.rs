//! The line of a failed app's log that names the cause.

use crate::messages::sentence;

/// Endings of the names of exceptions in Python, JavaScript, Java and Ruby.
const EXCEPTIONS: [&str; 4] = ["Error", "Exception", "Exit", "Interrupt"];
/// Phrases of shells and of the system, in lower case.
const PHRASES: [&str; 10] = [
    "command not found",
    ": not found",
    "not found in $path",
    "no such file or directory",
    "permission denied",
    "address already in use",
    "cannot open shared object file",
    "exec format error",
    "no space left on device",
    "segmentation fault",
];

/// Returns the line of a log that most probably names the cause of a failure: the last line of the most specific kind, and
/// without such a line the last one with any text. `None` for a log without text. The line is shortened to 300 characters.
///
/// The kinds are exceptions and errors of R, then panics, then messages of shells and of the system. A line that ends with
/// a colon continues on the next one.
#[must_use]
pub fn decisive_line(tail: &str) -> Option<String> {
    let lines: Vec<&str> = tail.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let cause =
        [is_error, is_panic, is_phrase].iter().find_map(|is_cause| lines.iter().rposition(|line| is_cause(line)));
    let found = cause.or_else(|| lines.len().checked_sub(1))?;
    let continues = cause.is_some() && lines[found].ends_with(':');
    let next = lines.get(found + 1).filter(|_| continues).copied().unwrap_or_default();
    Some(sentence(&format!("{} {next}", lines[found])))
}

/// True for `ModuleNotFoundError: No module named 'pandas'`, and for `Error in library(dplyr) : …` of R.
fn is_error(line: &str) -> bool {
    if line.starts_with("Error in ") {
        return true;
    }
    let line = ["Uncaught ", "Caused by: "].into_iter().find_map(|prefix| line.strip_prefix(prefix)).unwrap_or(line);
    let name = line.split_once(": ").map_or(line.trim_end_matches(':'), |(name, _)| name);
    // Node adds a code: `Error [ERR_MODULE_NOT_FOUND]: …`.
    let name = name.split_once(" [").filter(|(_, code)| code.ends_with(']')).map_or(name, |(name, _)| name);
    let is_path = name.chars().all(|one| one.is_alphanumeric() || matches!(one, '_' | '.' | '$' | ':'));
    let class = name.rsplit(['.', ':']).next().unwrap_or_default();
    is_path && class.starts_with(char::is_uppercase) && EXCEPTIONS.iter().any(|ending| class.ends_with(ending))
}

/// True for a panic of Rust or Go.
fn is_panic(line: &str) -> bool {
    (line.starts_with("thread '") && line.contains("panicked at "))
        || line.starts_with("panic: ")
        || line.starts_with("fatal error: ")
}

fn is_phrase(line: &str) -> bool {
    let line = line.to_lowercase();
    PHRASES.iter().any(|phrase| line.contains(phrase))
}
