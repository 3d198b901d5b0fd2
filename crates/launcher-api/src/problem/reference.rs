//! The reference of problems, for `docs/problems.md` and the page to which a problem's `type` points.

use std::fmt::Write;

use super::catalog::ProblemCode;

/// Returns the reference of problems as Markdown, with one section for each code.
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

For developers of programs that call the API, and for users or administrators who got an error.

First find the section below that has the `code` of the error as its heading. In a program, compare `code`. Later
versions may add codes. If your program does not know a code, use `status` to handle the error.

Every error of the API is a problem document (RFC 9457, `application/problem+json`):

| member | meaning |
|---|---|
| `code` | the kind of problem, for programs. Each code has a section below |
| `type` | the URL of the section below that describes the code |
| `title` | the kind of problem, in a few words |
| `status` | the HTTP status |
| `detail` | the error in this request, and how to correct it |
| `request_id` | the request's id, also in the service's log and in the header `X-Request-Id`. `not-found` has none |
| `errors` | only with 422: each invalid field or parameter, as `{pointer, detail}` |
| `login_url` | only with `authentication-required`: the URL at which a browser logs in |
";
