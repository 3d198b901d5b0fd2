//! The reference of problems: the page that `type` points to, and `docs/problems.md`.

use std::fmt::Write;

use super::ProblemCode;

/// Returns the reference as Markdown, with a section for each code.
#[must_use]
pub fn reference() -> String {
    let mut text = String::from(INTRODUCTION);
    for code in ProblemCode::ALL {
        let entry = code.entry();
        // Writing to a String does not fail.
        let _ = write!(text, "\n## {}\n\n**{} {}.** {}\n", entry.code, entry.status.as_u16(), entry.title, entry.about);
    }
    text
}

const INTRODUCTION: &str = "\
# Problems

Every error of the API is a problem document (RFC 9457, `application/problem+json`):

| member | meaning |
|---|---|
| `type` | this page, at the section of the code |
| `title` | the kind of problem, in a few words |
| `status` | the HTTP status |
| `detail` | what is wrong with this request, and what to do about it |
| `code` | the kind of problem, for programs: one of the sections below |
| `request_id` | names this request in the service's log; also in the header `X-Request-Id`. Left out of `not-found` |
| `errors` | with 422: each wrong field or parameter, as `{pointer, detail}` |
| `login_url` | with `authentication-required`: where a browser logs in |

Programs compare `code`. New codes may come; treat one that you do not know by its status.
";
