//! Notices: small pages that a workshop's origin shows when no app can answer. A notice loads no files, because the
//! caller may not be the owner.

use std::fmt::Write as _;

use crate::texts::{Language, NoticeText};

/// Style of every notice. The page embeds it.
const STYLE: &str = include_str!("../assets/notice.css");

/// Content security policy of a notice. It allows only the embedded style, by its hash. Only the frame page may show a
/// notice in a frame.
pub const POLICY: &str = "default-src 'none'; style-src 'sha256-qkrn+JObtfaOce0L2sxLrZh5CUSY5iNWCDctwyotFv4='; \
                          base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/// Interval in which the page of a starting workshop reloads itself, in seconds.
pub const RELOAD_SECONDS: u8 = 2;

/// A notice. All its texts may contain any characters: the page escapes them.
#[derive(Debug, Clone, Copy)]
pub struct Notice<'a> {
    /// Language of the page.
    pub language: Language,
    /// Title of the page.
    pub title: &'a str,
    /// The paragraphs: the cause, and the next action of the reader if it is known.
    pub texts: &'a [&'a str],
    /// Label and URL of each link of this notice.
    pub links: &'a [(&'a str, &'a str)],
    /// URL of the launcher, for a link.
    pub launcher: Option<&'a str>,
    /// Text of this link. `None`: the text of the language.
    pub brand: Option<&'a str>,
    /// Seconds until the page reloads itself.
    pub reload_seconds: Option<u8>,
}

impl Notice<'_> {
    /// Returns the notice as an HTML page.
    #[must_use]
    pub fn html(&self) -> String {
        let texts = self.language.texts();
        let mut html = format!(
            "<!doctype html>\n<html lang=\"{}\" dir=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n",
            texts.code, texts.direction,
        );
        // Ignore the results: writing to a string cannot fail.
        if let Some(seconds) = self.reload_seconds {
            let _ = writeln!(html, "<meta http-equiv=\"refresh\" content=\"{seconds}\">");
        }
        let title = escape(self.title);
        let _ = write!(html, "<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n");
        let _ = writeln!(html, "<h1>{title}</h1>");
        for text in self.texts {
            let _ = writeln!(html, "<p>{}</p>", escape(text));
        }
        let launcher = self.launcher.map(|url| (self.brand.unwrap_or(texts.launcher), url));
        for (label, url) in self.links.iter().copied().chain(launcher) {
            // The frame page may show this notice: leave the frame.
            let _ = writeln!(html, "<p><a href=\"{}\" target=\"_top\">{}</a></p>", escape(url), escape(label));
        }
        html.push_str("</main>\n</body>\n</html>\n");
        html
    }

    /// Returns the notice as one line of plain text.
    #[must_use]
    pub fn line(&self) -> String {
        format!("{}: {}\n", self.title, self.texts.join(" "))
    }
}

/// Returns the notices for an edge proxy that cannot reach a sidecar, each with its file name: `missing.CODE.html` if no
/// workshop has the requested host, and `starting.CODE.html` if its sidecar does not answer. They link to
/// `LAUNCHER_URL`, the former also to the page of the workshop `WORKSHOP_NAME`. The edge proxy's configuration replaces both.
#[must_use]
pub fn of_edge_proxy() -> Vec<(String, String)> {
    let of_language = |language: Language| {
        let texts = language.texts();
        let page = [(texts.its_page, "LAUNCHER_URLinstances/WORKSHOP_NAME")];
        let notices = [("missing", texts.unknown, &page[..]), ("starting", texts.starting, &page[..0])];
        notices.map(|(name, NoticeText { title, text }, links)| {
            let launcher = Some("LAUNCHER_URL");
            let notice = Notice { language, title, texts: &[text], links, launcher, brand: None, reload_seconds: None };
            (format!("{name}.{}.html", texts.code), notice.html())
        })
    };
    Language::all().flat_map(of_language).collect()
}

/// Escapes text for HTML, also inside a quoted attribute.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use sha2::{Digest as _, Sha256};

    use super::*;

    #[test]
    fn policy_allows_the_embedded_style() {
        let hash = base64::prelude::BASE64_STANDARD.encode(Sha256::digest(STYLE));
        assert!(POLICY.contains(&format!("style-src 'sha256-{hash}';")), "use sha256-{hash}");
    }

    #[test]
    fn notices_of_the_chart_are_up_to_date() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../charts/workshop-launcher/notices");
        let notices = of_edge_proxy();
        for (file, html) in &notices {
            let committed = std::fs::read_to_string(format!("{folder}/{file}")).unwrap_or_default();
            let command = "cargo run -p launcher-sidecar --example notices -- charts/workshop-launcher/notices";
            assert_eq!(&committed, html, "{file} differs; if that is meant: {command}");
        }
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), notices.len());
    }

    #[test]
    fn notice_escapes_its_texts_and_names_its_language() {
        let notice = Notice {
            language: Language::preferred(b"ar"),
            title: "<T>",
            texts: &["a & b", "\"c\""],
            links: &[("<L>", "/l?a&b")],
            launcher: Some("https://launcher.example.org/?a&b"),
            brand: Some("R&D"),
            reload_seconds: Some(2),
        };
        let html = notice.html();
        for part in [
            "<html lang=\"ar\" dir=\"rtl\">",
            "<h1>&lt;T&gt;</h1>",
            "<p>a &amp; b</p>",
            "<p>&quot;c&quot;</p>",
            "<a href=\"/l?a&amp;b\" target=\"_top\">&lt;L&gt;</a>",
            "href=\"https://launcher.example.org/?a&amp;b\" target=\"_top\">R&amp;D</a>",
            "<meta http-equiv=\"refresh\" content=\"2\">",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }
}
