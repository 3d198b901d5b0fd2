//! Secrets of private course material: a user name and a password for the server of a source.
//!
//! A template names a secret, and never contains it. On a cluster, the secret `NAME` is the Kubernetes Secret
//! `material-NAME` of the workshops' namespace. Otherwise it is the folder `material-secrets/NAME` of the data directory.
//! The keys of the Secret and the files of the folder have the same names.

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
const PREFIX: &str = "material-";

const MAX_NAME: usize = 63;

/// True for the name of a secret: 1 to 63 lower-case letters, digits and hyphens, with a letter or a digit at both ends. The
/// name is a part of file paths and of the names of Kubernetes Secrets.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(|byte| is_plain(byte) || byte == b'-')
        && !name.starts_with('-')
        && !name.ends_with('-')
}

/// Returns the name of the Kubernetes Secret of a secret.
#[must_use]
pub fn kubernetes_secret(name: &str) -> String {
    format!("{PREFIX}{name}")
}

/// True if a source can name the Kubernetes Secret with this name.
#[must_use]
pub fn is_kubernetes_secret(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(is_secret_name)
}
