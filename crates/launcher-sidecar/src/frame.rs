//! The frame page: shows the app in a frame, below a bar with the time left, notes and links to the launcher. The sidecar
//! serves this page, its files, the status and its event stream below a reserved prefix of the workshop's origin, only to
//! the owner.

pub(crate) mod events;
mod page;
pub(crate) mod resource;
pub(crate) mod status;

use std::convert::Infallible;
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use jiff::{SignedDuration, Timestamp};
use launcher_domain::brand::Brand;
use launcher_domain::clock::SystemClock;
use launcher_domain::frame_path::CLASS;
use launcher_domain::local_path::LocalPath;
use launcher_domain::names::is_k8s_name;
use launcher_domain::{Clock, Crash};
use launcher_process::follow;

/// Dependencies of the frame page.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Source of the workshop's expiry.
    pub expiry: Expiry,
    /// Source of the last crash of the app.
    pub last_crash: LastCrash,
    /// Source of the end of the workshop. Without it, the workshop ends when the sidecar stops.
    pub end: End,
    /// Path of the app's first page.
    pub start_path: LocalPath,
    /// True if the app's pages in tabs of their own have no bar.
    pub plain_tabs: bool,
    /// True for a workshop of a class: the bar has the hand of the owner and the messages of the class, from the launcher.
    pub in_class: bool,
    /// The launcher's page of the workshop. `None`: the bar has no links, and notices have none.
    pub workshop_page: Option<WorkshopPage>,
    /// Name of the course, which the bar shows: any characters. `None`: the bar shows no name.
    pub course: Option<String>,
    /// The brand of the installation.
    pub brand: Brand,
    /// The clock that the status reports, so that the browser can correct its own.
    pub clock: Arc<dyn Clock>,
}

impl Frame {
    /// Notes that the app accepts connections.
    pub(crate) fn note_ready(&self) {
        self.expiry.note_ready(self.clock.now());
    }

    /// Returns the path of this origin below which the launcher answers about the workshop and its class, with a slash at its
    /// end. `None` without the URL of the launcher.
    fn class_path(&self) -> Option<String> {
        let name = self.workshop_page.as_ref()?.url().rsplit('/').next().unwrap_or_default();
        Some(format!("{CLASS}{name}/"))
    }

    /// Returns the launcher's URL, for a link.
    pub(crate) fn launcher(&self) -> Option<String> {
        self.workshop_page.as_ref().map(|page| format!("{}/", page.origin()))
    }
}

impl Default for Frame {
    /// An unknown expiry, no crash, the start path `/`, tabs with the bar, no name and no links.
    fn default() -> Self {
        Self {
            expiry: Expiry::Unknown,
            last_crash: LastCrash::Unknown,
            end: End::Unknown,
            start_path: LocalPath::root(),
            plain_tabs: false,
            in_class: false,
            workshop_page: None,
            course: None,
            brand: Brand::NONE,
            clock: Arc::new(SystemClock),
        }
    }
}

/// Source of a fact of the workshop.
#[derive(Clone, Default)]
pub enum Source<F, T> {
    /// No source: the fact is unknown.
    #[default]
    Unknown,
    /// A file, read for each status.
    File(F),
    /// A function that returns the current fact.
    Shared(Arc<dyn Fn() -> Option<T> + Send + Sync>),
}

/// Source of the workshop's expiry.
pub type Expiry = Source<ExpiryFile, Timestamp>;

/// Source of the last crash of the app. The file has the format of [`Crash::from_text`]. A missing or empty file means that
/// the app has not crashed.
pub type LastCrash = Source<PathBuf, Crash>;

/// Source of the end of the workshop. The function returns a value as soon as the end is decided.
pub type End = Source<Infallible, ()>;

impl<F: fmt::Debug, T> fmt::Debug for Source<F, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => formatter.write_str("Unknown"),
            Self::File(file) => formatter.debug_tuple("File").field(file).finish(),
            Self::Shared(_) => formatter.write_str("Shared"),
        }
    }
}

/// Reads a file with a fact. A missing file is no error.
async fn read_fact(path: &Path) -> Option<String> {
    let read = follow::read(path).await;
    let failed = |error: &io::Error| error.kind() != ErrorKind::NotFound;
    if let Some(error) = read.as_ref().err().filter(|error| failed(error)) {
        tracing::debug!(path = %path.display(), %error, "reading a fact of the workshop failed");
    }
    read.ok()
}

/// A file with the expiry, in one of two forms. While the file is missing, empty or in another form, the expiry is unknown.
///
/// - RFC 3339: the expiry.
/// - `+SECONDS`: this number of seconds after the app first accepted a connection.
#[derive(Debug, Clone)]
pub struct ExpiryFile {
    path: PathBuf,
    /// Time at which the app first accepted a connection.
    ready_at: Arc<OnceLock<Timestamp>>,
}

impl ExpiryFile {
    /// Names the file. The app is not ready yet.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path, ready_at: Arc::default() }
    }

    async fn read(&self) -> Option<Timestamp> {
        let text = read_fact(&self.path).await?;
        let text = text.trim();
        match text.strip_prefix('+') {
            Some(seconds) => {
                let lifetime = SignedDuration::from_secs(seconds.parse::<u32>().ok()?.into());
                self.ready_at.get()?.checked_add(lifetime).ok()
            }
            None => text.parse().ok(),
        }
    }
}

impl Expiry {
    /// Returns the current expiry; `None` if it is unknown.
    async fn read(&self) -> Option<Timestamp> {
        match self {
            Self::Unknown => None,
            Self::Shared(current) => current(),
            Self::File(file) => file.read().await,
        }
    }

    /// Notes that the app accepts connections. Only the first call has an effect.
    fn note_ready(&self, now: Timestamp) {
        if let Self::File(file) = self {
            file.ready_at.get_or_init(|| now);
        }
    }
}

impl LastCrash {
    /// Returns the last crash; `None` if the app has not crashed, or if the source is unreadable.
    async fn read(&self) -> Option<Crash> {
        match self {
            Self::Unknown => None,
            Self::Shared(current) => current(),
            Self::File(path) => Crash::from_text(&read_fact(path).await?),
        }
    }

    /// True if the source has a crash as soon as the app has exited. A file may have it a minute later: on a cluster, the
    /// kubelet writes it.
    fn is_immediate(&self) -> bool {
        matches!(self, Self::Shared(_))
    }
}

impl End {
    /// True as soon as the end is decided.
    fn is_decided(&self) -> bool {
        match self {
            Self::Unknown => false,
            Self::File(never) => match *never {},
            Self::Shared(decided) => decided().is_some(),
        }
    }
}

/// URL of the launcher's page of the workshop: `https://launcher.example.org/instances/intro-abcdefghij`. It has the
/// scheme http or https, a host, a path, and no character that HTML or a header would have to escape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkshopPage {
    url: String,
    /// Length of the origin, which is the start of `url`.
    origin: usize,
    /// Suffix of the names of workshops in hosts, if this is the start page, for addresses without a workshop.
    name_suffix: Option<String>,
}

impl WorkshopPage {
    /// Parses the URL. Ignores a slash at its end.
    ///
    /// # Errors
    /// Returns a sentence that states the valid form.
    pub fn parse(text: &str) -> Result<Self, String> {
        const FORM: &str = "write the URL of a page, as in https://launcher.example.org/instances/intro-abcdefghij";
        let url = text.trim_end_matches('/');
        let origin = origin_length(url).filter(|&length| length < url.len()).ok_or(FORM)?;
        Ok(Self { url: url.to_owned(), origin, name_suffix: None })
    }

    /// Parses the URL of the launcher. Returns the launcher's start page, for an address without a workshop.
    ///
    /// # Errors
    /// Returns a sentence that states the valid form.
    pub fn start_page(launcher: &str) -> Result<Self, String> {
        const FORM: &str = "write the URL of the launcher without a path, as in https://launcher.example.org";
        let url = launcher.trim_end_matches('/');
        let origin = origin_length(url).filter(|&length| length == url.len()).ok_or(FORM)?;
        Ok(Self { url: format!("{url}/"), origin, name_suffix: Some(String::new()) })
    }

    /// Returns the start page, where hosts of workshops have this suffix after the name.
    pub(crate) fn with_name_suffix(self, suffix: &str) -> Self {
        Self { name_suffix: Some(suffix.to_owned()), ..self }
    }

    /// Returns the page of the workshop with a host that begins with this label, which has the form of a name. For an address
    /// without a workshop it is the same as for the address of a workshop. `None` if the label is no name of a workshop here.
    pub(crate) fn url_at(&self, label: &str) -> Option<String> {
        let Some(suffix) = &self.name_suffix else {
            let rest = label.strip_prefix(self.url.rsplit('/').next()?)?;
            return (rest.is_empty() || rest.starts_with('-')).then(|| self.url.clone());
        };
        let name = label.strip_suffix(suffix.as_str()).filter(|name| is_k8s_name(name))?;
        Some(format!("{}instances/{name}", self.url))
    }

    /// Returns the URL of the page.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the launcher's origin, without a slash at its end.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.url[..self.origin]
    }

    /// Returns the URL of the launcher's page that extends the workshop.
    fn extend_url(&self) -> String {
        format!("{}/extend", self.url)
    }
}

/// Returns the length of the origin at the start of a URL. Returns `None` if the URL is not a plain web address.
fn origin_length(url: &str) -> Option<usize> {
    let host = ["https://", "http://"].into_iter().find_map(|scheme| url.strip_prefix(scheme))?;
    let length = host.find('/').unwrap_or(host.len());
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/%[]".contains(&byte);
    (length > 0 && host.bytes().all(is_plain)).then_some(url.len() - host.len() + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_web_address_with_path_is_a_workshop_page() {
        let page = WorkshopPage::parse("http://localhost:8000/instances/a-b/").unwrap();
        assert_eq!((page.url(), page.origin()), ("http://localhost:8000/instances/a-b", "http://localhost:8000"));
        assert_eq!(page.extend_url(), "http://localhost:8000/instances/a-b/extend");
        for wrong in [
            "",
            "https://",
            "https://h",
            "https:///a",
            "ftp://h/a",
            "javascript://h/a",
            "https://h/a\"b",
            "https://u@h/a",
            "https://h/a b",
            "https://h/a?b",
            "/instances/a",
        ] {
            assert!(WorkshopPage::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn notice_leads_to_page_of_the_workshop_that_the_host_names() {
        let workshop = WorkshopPage::parse("https://h/instances/a-b").unwrap();
        let any = WorkshopPage::start_page("https://h").unwrap();
        let suffixed = any.clone().with_name_suffix("-ws");
        let page = Some("https://h/instances/a-b".to_owned());
        assert_eq!((workshop.url_at("a-b"), any.url_at("a-b")), (page.clone(), page.clone()));
        assert_eq!((workshop.url_at("a-b-ws"), suffixed.url_at("a-b-ws")), (page.clone(), page));
        assert_eq!((workshop.url_at("a-c"), workshop.url_at("a-bc")), (None, None));
        assert_eq!((suffixed.url_at("a-b"), suffixed.url_at("-ws")), (None, None));
    }

    #[test]
    fn only_plain_web_address_without_path_is_a_launcher() {
        for text in ["https://launcher.example.org:8443", "https://launcher.example.org:8443/"] {
            let page = WorkshopPage::start_page(text).unwrap();
            let expected = ("https://launcher.example.org:8443/", "https://launcher.example.org:8443");
            assert_eq!((page.url(), page.origin()), expected);
        }
        for wrong in ["", "https://", "launcher.example.org", "https://h/a", "https://h\"", "https://u@h", "ftp://h"] {
            assert!(WorkshopPage::start_page(wrong).is_err(), "{wrong}");
        }
    }
}
