//! Texts of the error pages.

use crate::pages::texts::parts::Around;

/// Text around the request id on the page of an internal error.
pub(crate) const QUOTE_NUMBER: Around = Around { before: "If you ask for help, give this request ID: ", after: "" };
/// Link to the login page.
pub(crate) const SIGN_IN: &str = "Sign in";
/// Link to the start page.
pub(crate) const TO_WORKSHOPS: &str = "To the workshops";

/// Title for a login request that reached the launcher, because no auth proxy intercepted it.
pub(crate) const NO_LOGIN_TITLE: &str = "There is no login proxy at this address";
/// Remedy for administrators if a login request reaches the launcher.
pub(crate) const NO_LOGIN: &str = "The launcher received a login request, but it has no login of its own. Put a login \
                                   proxy in front of it, or set SERVICE_LOGIN_URL to the address of one. To try the \
                                   launcher on this machine without a login proxy, use make run, or start it with \
                                   SERVICE_REQUIRE_AUTHENTICATION=false and SERVICE_DEV_IDENTITY=you@example.org. \
                                   docs/settings.md explains these settings.";
/// Title of the page after signing out.
pub(crate) const SIGNED_OUT_TITLE: &str = "You are signed out";
/// Next steps after signing out, for users of a shared computer.
pub(crate) const SIGNED_OUT: &str = "Your workshops keep running until they end. You may still be signed in at your \
                                     login provider. On a shared computer, sign out there too, or close the browser.";
/// Link to sign in again.
pub(crate) const SIGN_IN_AGAIN: &str = "Sign in again";

/// Error if the URL of a page has an invalid parameter.
pub(crate) const BAD_ADDRESS: &str = "The address of this page has an invalid parameter.";
/// Errors of forms that cannot be read.
pub(crate) const FORM_TOO_LARGE: &str = "The form is too large.";
pub(crate) const FORM_OF_ANOTHER_KIND: &str = "The form has the wrong content type. Use the form on the page.";
pub(crate) const FORM_OF_ANOTHER_PAGE: &str = "The form has missing or unknown fields.";
pub(crate) const FORM_UNREADABLE: &str = "The form is malformed, or did not arrive within 30 seconds.";

/// Returns the title and the text of an error page. `detail` is the problem's own text, used for problems without a
/// text here.
pub(crate) fn error(code: &str, detail: String) -> (String, String) {
    let (title, text) = match code {
        "authentication-required" => ("Please sign in", "You are not signed in, or your session has ended."),
        "identity-unproven" => (
            "This address skips the sign-in",
            "Your request did not pass the sign-in. Open the address that you were given. If you already did, tell an \
             administrator: the auth proxy and the launcher have different secrets.",
        ),
        "admin-only" => ("Only for administrators", "You are signed in, but you are not an administrator."),
        "cross-site-request" => (
            "The action was refused",
            "The request came from another site. Nothing was changed. Open the page of this service again and repeat \
             the action there.",
        ),
        "not-found" => (
            "Page not found",
            "This page does not exist, or it is not yours. If it was a workshop, it may have ended long ago.",
        ),
        "version-mismatch" => (
            "Another administrator changed it first",
            "The template changed after you loaded the page. Your change is not saved. Load the page again and repeat \
             it.",
        ),
        "body-too-large" => {
            ("The form is too large", "Nothing was saved. Go back, shorten your text, and send it again.")
        }
        "invalid-fields" => {
            ("The form was not accepted", "Nothing was changed. Load the page again and repeat the action.")
        }
        "unavailable" | "at-capacity" | "overloaded" | "too-many-requests" => {
            ("Please try again in a moment", "The service cannot answer right now. Running workshops are not affected.")
        }
        "internal" => (
            "The service had an error",
            "The error was recorded. Running workshops are not affected. Try again in a moment.",
        ),
        _ => return ("The request failed".to_owned(), detail),
    };
    (title.to_owned(), text.to_owned())
}
