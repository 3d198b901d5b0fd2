//! URL of the launcher's page of a workshop.

/// URL of the launcher's page of the workshop: `https://launcher.example.org/instances/intro-abcdefghij`. It has the
/// scheme http or https, a host, a path, and no character that HTML or a header would have to escape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkshopPage {
    url: String,
    /// Length of the origin, which is the start of `url`.
    origin: usize,
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
        Ok(Self { url: url.to_owned(), origin })
    }

    /// Parses the URL of the launcher. Returns the launcher's start page, for an address without a workshop.
    ///
    /// # Errors
    /// Returns a sentence that states the valid form.
    pub fn start_page(launcher: &str) -> Result<Self, String> {
        const FORM: &str = "write the URL of the launcher without a path, as in https://launcher.example.org";
        let url = launcher.trim_end_matches('/');
        let origin = origin_length(url).filter(|&length| length == url.len()).ok_or(FORM)?;
        Ok(Self { url: format!("{url}/"), origin })
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
    pub(super) fn extend_url(&self) -> String {
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
