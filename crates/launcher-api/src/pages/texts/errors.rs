//! Texts of the error pages.

use crate::pages::language::{Language, Text};

impl Language {
    /// Returns the title and the text of an error page. `detail` is the problem's own text, used for problems without a
    /// message.
    pub(crate) fn error(self, code: &str, detail: String) -> (Text, Text) {
        let code = match code {
            "at-capacity" | "overloaded" | "too-many-requests" => "unavailable",
            code => code,
        };
        let key = format!("error-{code}");
        if self.has(&key) {
            (self.text(&key), self.attribute(&key, "text"))
        } else {
            (self.text("error-other"), detail.into())
        }
    }
}
