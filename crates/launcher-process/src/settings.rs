//! Reads settings from flags and environment variables, with clear error messages.

use std::any::TypeId;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::builder::{StringValueParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Args, Command, CommandFactory, Parser};

const PREFIX: &str = "SERVICE_";

/// Parses `true` or `false`. All other texts are errors, so that a typo such as `SERVICE_REQUIRE_AUTHENTICATION=flase`
/// cannot change the setting.
///
/// # Errors
/// Returns the valid form.
pub fn parse_bool(text: &str) -> Result<bool, &'static str> {
    text.trim().parse().map_err(|_| "write true or false")
}

/// True for a label of a DNS name (RFC 1035, 2.3.1).
fn is_label(text: &str) -> bool {
    (1..=63).contains(&text.len())
        && !text.starts_with('-')
        && !text.ends_with('-')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Parses a DNS name without a port.
///
/// # Errors
/// Returns the valid form.
pub fn parse_domain(text: &str) -> Result<String, &'static str> {
    if text.len() <= 200 && text.split('.').all(is_label) {
        Ok(text.to_ascii_lowercase())
    } else {
        Err("write a domain without scheme, port or wildcard, as in workshops.example.org")
    }
}

/// Parses the name of a Kubernetes namespace: a DNS label (RFC 1123).
///
/// # Errors
/// Returns the valid form.
pub fn parse_namespace(text: &str) -> Result<String, &'static str> {
    if is_label(text) && !text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Ok(text.to_owned())
    } else {
        Err("write names of namespaces: lower-case letters, digits and dashes, as in class-statistics")
    }
}

/// Parses an origin, and removes a slash at its end. It has only characters that the sidecars accept in their setting
/// `SERVICE_WORKSHOP_PAGE_URL`.
///
/// # Errors
/// Returns the valid form.
pub fn parse_origin(text: &str) -> Result<String, &'static str> {
    let origin = text.trim_end_matches('/');
    let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:%[]".contains(&byte);
    match host {
        Some(host) if !host.is_empty() && host.bytes().all(is_plain) => Ok(origin.to_ascii_lowercase()),
        _ => Err("write an origin without a path, as in https://workshops.example.org"),
    }
}

/// Parser of a value that may contain a password, such as a URL. Unlike other parsers, its errors do not quote the value.
///
/// The function gets the text, and returns the value or what is wrong with the text.
#[derive(Debug, Clone, Copy)]
pub struct Confidential<T>(pub fn(&str) -> Result<T, String>);

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Confidential<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        let text = StringValueParser::new().parse_ref(command, argument, value)?;
        (self.0)(&text).map_err(|reason| {
            let argument = argument.map(Arg::to_string).unwrap_or_default();
            let wrong = format!("invalid value for '{argument}': {reason}");
            clap::Error::raw(ErrorKind::ValueValidation, wrong).with_cmd(command)
        })
    }
}

/// Reads the settings of a process from its flags and its environment.
///
/// An empty environment variable counts as unset, because many deployments set a variable to an empty value instead of
/// omitting it. `--help` and `--version` print a text and exit the process. If a required subcommand is missing, this
/// function prints the help and exits as well.
///
/// # Errors
/// Returns one line that names the invalid setting and its valid values.
pub fn read<S: Parser>() -> Result<S, String> {
    read_from(std::env::args_os())
}

/// Reads the settings like [`read`], with the given arguments. The first argument is the program's name.
///
/// # Errors
/// Returns the same errors as [`read`].
pub fn read_from<S: Parser>(arguments: impl IntoIterator<Item = OsString>) -> Result<S, String> {
    let mut command = without_empty_environment(S::command());
    command.build();
    let parsed = command.clone().try_get_matches_from(arguments).and_then(|matches| S::from_arg_matches(&matches));
    parsed.map_err(|error| {
        if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
            error.exit();
        }
        match error.kind() {
            ErrorKind::InvalidUtf8 => not_text(&command),
            ErrorKind::MissingRequiredArgument => missing::<S>(&error).unwrap_or_else(|| one_line(&error, &command)),
            _ => one_line(&error, &command),
        }
    })
}

/// Returns the settings of one part with these arguments, as in `--lease-seconds=15`, and else with their defaults. Ignores
/// the environment, unlike [`read`]. A later argument replaces an earlier one.
///
/// # Errors
/// Returns the message about a missing or an invalid argument.
pub fn from_arguments<S: Args>(arguments: &[&str]) -> Result<S, String> {
    let command = S::augment_args(Command::new("settings").no_binary_name(true).args_override_self(true));
    let command = command.mut_args(|argument| argument.env(None::<&'static str>));
    let parsed = command.try_get_matches_from(arguments).and_then(|matches| S::from_arg_matches(&matches));
    parsed.map_err(|error| error.to_string())
}

/// Formats clap's error about missing settings. Names each setting and its environment variable.
fn missing<S: Parser>(error: &clap::Error) -> Option<String> {
    let ContextValue::Strings(missing) = error.get(ContextKind::InvalidArg)? else { return None };
    let mut command = S::command();
    command.build();
    let arguments = all_arguments(&command);
    let explained: Option<Vec<String>> = missing
        .iter()
        .map(|flag| {
            let argument = arguments.iter().find(|argument| argument.to_string() == *flag)?;
            let env = argument.get_env()?;
            let state = if std::env::var_os(env).is_some() { "set but empty" } else { "not set" };
            let meaning = argument.get_help().map(|help| format!(": {help}")).unwrap_or_default();
            Some(format!("{} ({}) is {state}: write its value{meaning}", env.display(), flag.split(' ').next()?))
        })
        .collect();
    Some(explained?.join("; "))
}

/// Converts clap's error into one line that also names the environment variable of the setting.
fn one_line(error: &clap::Error, command: &Command) -> String {
    let text = error.render().to_string();
    let text = text.split("\n\nUsage:").next().unwrap_or_default();
    let words: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let line = words.join(" ").replacen("error: ", "", 1);
    let line = line.split(" For more information").next().unwrap_or_default().to_owned();
    all_arguments(command).into_iter().fold(line, |line, argument| match argument.get_env() {
        Some(env) => {
            let flag = argument.to_string();
            let named = format!("{} ({})", env.display(), flag.split(' ').next().unwrap_or_default());
            line.replace(&format!("'{flag}'"), &named).replace(&flag, &named)
        }
        None => line,
    })
}

/// Returns the error for a setting that is not UTF-8. clap's error does not name the setting.
fn not_text(command: &Command) -> String {
    let is_text = |name: &std::ffi::OsStr| std::env::var_os(name).is_none_or(|value| value.to_str().is_some());
    let settings = all_arguments(command).into_iter().filter(|argument| {
        argument.get_value_parser().type_id() != TypeId::of::<PathBuf>() && !argument.get_env().is_none_or(is_text)
    });
    let named: BTreeSet<String> = settings
        .map(|argument| {
            let name = argument.get_env().unwrap_or_default().display();
            argument.get_long().map_or_else(|| name.to_string(), |long| format!("{name} (--{long})"))
        })
        .collect();
    let which = if named.is_empty() { "an argument".to_owned() } else { Vec::from_iter(named).join(", ") };
    format!("{which} is not text in UTF-8: write it in UTF-8, without other bytes")
}

fn all_arguments(command: &Command) -> Vec<&Arg> {
    command.get_arguments().chain(command.get_subcommands().flat_map(all_arguments)).collect()
}

fn without_empty_environment(command: Command) -> Command {
    command
        .mut_args(|argument| {
            let unset = argument.get_env().and_then(std::env::var_os).is_some_and(|value| value.is_empty());
            if unset { argument.env(None::<&'static str>) } else { argument }
        })
        .mut_subcommands(without_empty_environment)
}

/// Returns the environment variables that begin with `SERVICE_` but are not settings of this program. Their names are
/// most likely mistyped.
#[must_use]
pub fn unknown_names<S: CommandFactory>(environment: impl Iterator<Item = (OsString, OsString)>) -> Vec<String> {
    let command = S::command();
    let known: BTreeSet<&str> =
        all_arguments(&command).into_iter().filter_map(|argument| argument.get_env()?.to_str()).collect();
    environment
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(|name| name.starts_with(PREFIX) && !known.contains(name.as_str()))
        .collect()
}
