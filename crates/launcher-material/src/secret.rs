//! Secret of a private source: the user name and the password that only its server gets.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use launcher_domain::material_source::{
    MAX_SECRET_BYTES, SECRET_PASSWORD, SECRET_URL, SECRET_USERNAME, SECRETS_FOLDER, SourceUrl, kubernetes_secret,
};
use launcher_domain::template::MaterialSource;
use ureq::http::HeaderValue;
use url::{Origin, Url};

use crate::failure::Failure;

/// User name of a secret without one. Servers that check only a token accept any name.
const DEFAULT_USERNAME: &[u8] = b"git";

/// Secret of a source. Its files are read for each request, so a source without a request needs none.
#[derive(Debug)]
pub(crate) struct Secret {
    name: String,
    /// Directory with the files.
    directory: Option<PathBuf>,
    source: SourceUrl,
    /// Scheme, host and port of the source.
    origin: Origin,
}

impl Secret {
    /// Returns the secret of a source; `None` for a public source. `secrets` has one directory for each secret.
    pub(crate) fn of(source: &MaterialSource, secrets: Option<&Path>) -> Option<Self> {
        let name = source.secret.clone()?;
        let origin = Url::parse(&source.url).ok()?.origin();
        let directory = secrets.map(|secrets| secrets.join(&name));
        Some(Self { name, directory, source: SourceUrl::parse(&source.url)?, origin })
    }

    /// Name of the secret, for messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// True if a request to this URL has the password: scheme, host and port are those of the source.
    pub(crate) fn is_for(&self, url: &Url) -> bool {
        url.origin() == self.origin
    }

    /// Returns the header `Authorization` of a request to this URL; `None` for another server.
    ///
    /// # Errors
    /// The secret is missing, has no password, is unreadable, or is for other sources.
    pub(crate) fn authorization(&self, url: &Url) -> Result<Option<HeaderValue>, Failure> {
        if !self.is_for(url) {
            return Ok(None);
        }
        self.check_source()?;
        let password = self.read(SECRET_PASSWORD)?.ok_or_else(|| self.missing())?;
        let mut pair = self.read(SECRET_USERNAME)?.unwrap_or_else(|| DEFAULT_USERNAME.to_vec());
        pair.push(b':');
        pair.extend(password);
        let mut value =
            HeaderValue::try_from(format!("Basic {}", STANDARD.encode(pair))).map_err(|_| self.missing())?;
        value.set_sensitive(true);
        Ok(Some(value))
    }

    /// Checks that the source may use the secret. A redirect on the same server may lead to another path.
    fn check_source(&self) -> Result<(), Failure> {
        let Some(prefix) = self.read(SECRET_URL)? else { return Ok(()) };
        let prefix = SourceUrl::parse(String::from_utf8_lossy(&prefix).trim());
        if prefix.is_some_and(|prefix| self.source.begins_with(&prefix)) {
            return Ok(());
        }
        Err(Failure::new(format!(
            "The secret {} is not for this address, because its {SECRET_URL} names others: use another secret, or ask an \
             administrator to change it.",
            self.name
        )))
    }

    /// Reads a file without the end of its last line, which editors and `echo` add; `None` if it is missing or empty.
    fn read(&self, file: &str) -> Result<Option<Vec<u8>>, Failure> {
        let Some(directory) = &self.directory else { return Ok(None) };
        let mut content = Vec::new();
        let read =
            File::open(directory.join(file)).and_then(|file| file.take(MAX_SECRET_BYTES + 1).read_to_end(&mut content));
        match read {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(self.failure(&format!("its {file} cannot be read ({error})"))),
            Ok(bytes) if bytes as u64 > MAX_SECRET_BYTES => {
                return Err(self.failure(&format!("its {file} has more than {MAX_SECRET_BYTES} bytes")));
            }
            Ok(_) => {}
        }
        let last = content.iter().rposition(|byte| !b"\r\n".contains(byte));
        content.truncate(last.map_or(0, |last| last + 1));
        Ok(Some(content).filter(|content| !content.is_empty()))
    }

    fn missing(&self) -> Failure {
        let (name, secret) = (&self.name, kubernetes_secret(&self.name));
        Failure::new(format!(
            "The secret {name} is missing or has no password. Ask an administrator to create it: on a cluster as the Secret \
             {secret}, otherwise as the folder {SECRETS_FOLDER}/{name}."
        ))
    }

    fn failure(&self, cause: &str) -> Failure {
        Failure::new(format!("The secret {} is not usable: {cause}. Ask an administrator to correct it.", self.name))
    }
}
