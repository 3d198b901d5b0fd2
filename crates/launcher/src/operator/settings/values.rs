//! Values of the operator's arguments that clap cannot parse itself.

use std::collections::BTreeMap;

use launcher_operator::Toleration;

/// A JSON object of strings (annotations or labels), as the value of a clap argument.
#[derive(Debug, Clone, Default)]
pub(crate) struct Strings(pub(super) BTreeMap<String, String>);

/// A JSON list of tolerations, as the value of a clap argument.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tolerations(pub(super) Vec<Toleration>);

/// User ID of apps, as the value of a clap argument; `None` for the word `assigned`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AppUser(pub(super) Option<i64>);

/// Parses the suffix of the workshops' names. With its maximum length, the host of each name of the launcher is valid: a
/// name has at most 31 characters, and a DNS label 63.
pub(super) fn name_suffix(text: &str) -> Result<String, &'static str> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_suffix =
        (2..=32).contains(&text.len()) && text.starts_with('-') && !text.ends_with('-') && text.bytes().all(is_plain);
    if text.is_empty() || is_suffix {
        Ok(text.to_owned())
    } else {
        Err("write a dash and 1 to 31 lower-case letters, digits or dashes, not a dash at the end, as in -ws")
    }
}

/// Parses the URL of an HTTP proxy. The pods of workshops contain it, so it has no password.
pub(super) fn proxy_url(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = host.map(|host| host.trim_end_matches('/')).filter(|host| !host.is_empty());
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    match host {
        Some(host) if host.bytes().all(is_plain) && has_valid_port(host) => Ok(text.trim_end_matches('/').to_owned()),
        _ => Err("write a URL without a path and a password, as in http://proxy.example.org:3128".to_owned()),
    }
}

/// True if this host has no port, or one from 1 to 65535. An IPv6 address is in brackets.
fn has_valid_port(host: &str) -> bool {
    let rest = host.rsplit_once(']').map_or(host, |(_, rest)| rest);
    rest.split_once(':').is_none_or(|(_, port)| port.parse::<u16>().is_ok_and(|port| port > 0))
}

/// Parses the name of a StorageClass: a DNS subdomain (RFC 1123), or nothing.
pub(super) fn storage_class(text: &str) -> Result<String, &'static str> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_part =
        |part: &str| !part.is_empty() && part.bytes().all(is_plain) && !part.starts_with('-') && !part.ends_with('-');
    if text.is_empty() || (text.len() <= 253 && text.split('.').all(is_part)) {
        Ok(text.to_owned())
    } else {
        Err("write the name of a StorageClass: lower-case letters, digits, dashes and dots, as in fast-ssd")
    }
}

pub(super) fn app_user(text: &str) -> Result<AppUser, String> {
    match text.parse() {
        _ if text == "assigned" => Ok(AppUser(None)),
        Ok(user @ 1..=2_147_483_647) => Ok(AppUser(Some(user))),
        _ => Err("write a user ID from 1 to 2147483647, or assigned".to_owned()),
    }
}

pub(super) fn strings(text: &str) -> Result<Strings, String> {
    serde_json::from_str(text)
        .map(Strings)
        .map_err(|error| format!("write a JSON object of strings, as in {{\"name\": \"value\"}}: {error}"))
}

/// Parses tolerations. Refuses unknown fields, because serde would silently drop a misspelt field.
pub(super) fn tolerations(text: &str) -> Result<Tolerations, String> {
    let wrong = |detail: &dyn std::fmt::Display| {
        format!(r#"write a JSON list of tolerations, as in [{{"key": "name", "operator": "Exists"}}]: {detail}"#)
    };
    let read: Vec<Toleration> = serde_json::from_str(text).map_err(|error| wrong(&error))?;
    let written: serde_json::Value = serde_json::from_str(text).map_err(|error| wrong(&error))?;
    let same = serde_json::to_value(&read).is_ok_and(|read| read == written);
    if same { Ok(Tolerations(read)) } else { Err(wrong(&"it has a field that a toleration does not have")) }
}
