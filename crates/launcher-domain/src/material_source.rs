//! Sources of course material: their URLs, http or https without user information, and the secrets of private sources: a
//! user name and a password for the server of a source.
//!
//! A template names a secret, and never contains it. On a cluster, the secret `NAME` is the Kubernetes Secret
//! `material-NAME` of the workshops' namespace. Otherwise it is the folder `material-secrets/NAME` of the data directory.
//! The keys of the Secret and the files of the folder have the same names.

use crate::names::is_dns_label;

/// User name: a file of a folder, or a key of a Secret of the type `kubernetes.io/basic-auth`.
pub const SECRET_USERNAME: &str = "username";

/// Password or token: a file of a folder, or a key of a Secret.
pub const SECRET_PASSWORD: &str = "password";

/// Beginning of the addresses of the sources that may use the secret: a file of a folder, or a key of a Secret. Without it,
/// everyone who can edit templates can send the secret to a server of their choice.
pub const SECRET_URL: &str = "url";

/// All files of a folder, and keys of a Secret.
pub const SECRET_FILES: [&str; 3] = [SECRET_USERNAME, SECRET_PASSWORD, SECRET_URL];

/// Maximum bytes of a user name, and of a password. Servers refuse longer headers.
pub const MAX_SECRET_BYTES: u64 = 4096;

/// Folder of the data directory with one folder for each secret.
pub const SECRETS_FOLDER: &str = "material-secrets";

/// Beginning of the names of Kubernetes Secrets for course material. A template can name no other Secret of the namespace,
/// for example none of the launcher's own.
const SECRET_PREFIX: &str = "material-";

/// Returns the name of the Kubernetes Secret of a secret.
#[must_use]
pub fn kubernetes_secret(name: &str) -> String {
    format!("{SECRET_PREFIX}{name}")
}

/// True if a source can name the Kubernetes Secret with this name.
#[must_use]
pub fn is_kubernetes_secret(name: &str) -> bool {
    name.strip_prefix(SECRET_PREFIX).is_some_and(is_dns_label)
}

/// Maximum characters of a URL.
const MAX_URL_BYTES: usize = 2048;

/// Parsed URL of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceUrl {
    is_https: bool,
    /// Host in lower case.
    host: String,
    port: u16,
    /// Segments of the path, without the empty one after a last slash.
    segments: Vec<String>,
    has_query: bool,
}

impl SourceUrl {
    /// Parses an absolute URL with the scheme `http` or `https`; `None` if it is malformed, is longer than 2,048
    /// characters, or has user information or a fragment.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_allowed = |byte: u8| byte.is_ascii_graphic() && !b"\\#\"<>^`{|}".contains(&byte);
        if text.len() > MAX_URL_BYTES || !text.bytes().all(is_allowed) {
            return None;
        }
        let (scheme, rest) = text.split_once("://")?;
        let is_https = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let (authority, path_and_query) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (host, port) = host_and_port(authority)?;
        let (path, query) = path_and_query.split_once('?').map_or((path_and_query, None), |(a, b)| (a, Some(b)));
        let path = path.strip_prefix('/').unwrap_or(path);
        let path = path.strip_suffix('/').unwrap_or(path);
        let segments = path.split('/').filter(|_| !path.is_empty()).map(str::to_owned).collect();
        let port = port.unwrap_or(if is_https { 443 } else { 80 });
        Some(Self { is_https, host: host.to_ascii_lowercase(), port, segments, has_query: query.is_some() })
    }

    /// True for the scheme `https`.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.is_https
    }

    /// True if every server reads exactly these path segments: no query, no empty segment, no `.` or `..`, no parameters
    /// after `;`, which some servers remove before they resolve `..`, and none of these characters in percent encoding.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        let is_plain = |segment: &String| {
            let lower = segment.to_ascii_lowercase();
            !["", ".", ".."].contains(&lower.as_str())
                && ![";", "%3b", "%2e", "%2f", "%5c", "%00"].iter().any(|code| lower.contains(code))
        };
        !self.has_query && self.segments.iter().all(is_plain)
    }

    /// True if this URL begins with the prefix: the same scheme, host and port, and a path that begins with all path
    /// segments of the prefix. Always false if one of both is not [plain](Self::is_plain).
    #[must_use]
    pub fn begins_with(&self, prefix: &Self) -> bool {
        self.is_plain()
            && prefix.is_plain()
            && (self.is_https, &self.host, self.port) == (prefix.is_https, &prefix.host, prefix.port)
            && self.segments.starts_with(&prefix.segments)
    }

    /// Returns the last path segment without `.git`; `None` if the path is empty.
    #[must_use]
    pub fn repository_name(&self) -> Option<&str> {
        let last = self.segments.last()?;
        Some(last.strip_suffix(".git").unwrap_or(last))
    }
}

/// Splits the authority of a URL; `None` if it is malformed or has user information.
fn host_and_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let end_of_address = authority.find(']').map_or(0, |end| end + 1);
    let colon = authority.get(end_of_address..)?.find(':').map(|place| end_of_address + place);
    let (host, port) = match colon {
        Some(place) => (authority.get(..place)?, Some(authority.get(place + 1..)?)),
        None => (authority, None),
    };
    let is_digits = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let port = match port {
        Some(port) => Some(port.parse().ok().filter(|number| is_digits(port) && *number != 0)?),
        None => None,
    };
    let is_address = |host: &str| host.bytes().all(|byte| byte.is_ascii_hexdigit() || b":.".contains(&byte));
    let is_name = |host: &str| host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    let is_host = match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']').is_some_and(|address| !address.is_empty() && is_address(address)),
        None => (1..=253).contains(&host.len()) && is_name(host),
    };
    is_host.then_some((host, port))
}
