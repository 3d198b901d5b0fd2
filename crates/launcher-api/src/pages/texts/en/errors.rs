//! Texts of the error pages.

use super::super::Around;

/// Request id to quote after an internal error.
pub(crate) const QUOTE_NUMBER: Around = Around { before: "If you ask for help, give this number: ", after: "" };
/// Link to the login.
pub(crate) const SIGN_IN: &str = "Sign in";
/// Link to the start page.
pub(crate) const TO_WORKSHOPS: &str = "To the workshops";

/// A login request that reached the launcher, because no auth proxy intercepted it.
pub(crate) const NO_LOGIN_TITLE: &str = "No login proxy answers here";
/// Remedy for it, addressed to administrators.
pub(crate) const NO_LOGIN: &str = "This address is where people sign in, but the launcher itself was asked for it: it \
                                   signs nobody in. Put a login proxy in front of it, or set SERVICE_LOGIN_URL to where \
                                   one is. To try the launcher on this machine without one, use make run, or start it \
                                   with SERVICE_REQUIRE_AUTHENTICATION=false and \
                                   SERVICE_DEV_IDENTITY=you@example.org. docs/settings.md explains them.";
/// Title after signing out.
pub(crate) const SIGNED_OUT_TITLE: &str = "You are signed out";
/// Remaining steps after signing out, on a shared computer.
pub(crate) const SIGNED_OUT: &str = "Your workshops run on until they end. The account that you signed in with may still be \
                                     signed in at its provider: on a computer that others use, sign out there too, or \
                                     close the browser.";
/// Link to sign in again.
pub(crate) const SIGN_IN_AGAIN: &str = "Sign in again";

/// A URL with an invalid parameter.
pub(crate) const BAD_ADDRESS: &str = "The address has a parameter that cannot be read.";
/// Forms that cannot be read.
pub(crate) const FORM_TOO_LARGE: &str = "The form is larger than this page's form ever is.";
pub(crate) const FORM_OF_ANOTHER_KIND: &str = "Send the page's own form.";
pub(crate) const FORM_OF_ANOTHER_PAGE: &str = "The form lacks fields or has others.";
pub(crate) const FORM_UNREADABLE: &str = "The form cannot be read, or did not arrive within 30 seconds.";

/// Title and text of an error page. `detail` is the problem's own text, used where no better text exists.
pub(crate) fn error(code: &str, detail: String) -> (String, String) {
    let (title, text) = match code {
        "authentication-required" => ("Please sign in", "You are not signed in, or your session has ended."),
        "identity-unproven" => (
            "This is not the way in",
            "Your browser reached the launcher without passing the sign-in. Open the address that you were given. If you \
             did, tell the people who run this service: the sign-in and the launcher do not share the same secret.",
        ),
        "admin-only" => ("This is for administrators", "You are signed in, but this page or action is not for you."),
        "cross-site-request" => (
            "That was stopped",
            "It did not come from a page of this service. Open the page again and repeat it there.",
        ),
        "not-found" => ("There is nothing here", "It does not exist, or it is not yours. It may have ended long ago."),
        "version-mismatch" => {
            ("Somebody was quicker", "It has changed since you loaded the page. Load it again and repeat your change.")
        }
        "body-too-large" => ("That is too much", "Go back, shorten what you wrote, and send it again."),
        "invalid-fields" => (
            "That could not be accepted",
            "Something in the form was not as expected. Load the page again and repeat it.",
        ),
        "unavailable" | "at-capacity" | "overloaded" | "too-many-requests" => {
            ("Please try again in a moment", "The service cannot answer right now. Running workshops are not affected.")
        }
        "internal" => {
            ("Something went wrong here", "It is not your fault, and it was recorded. Try again in a moment.")
        }
        _ => return ("That did not work".to_owned(), detail),
    };
    (title.to_owned(), text.to_owned())
}
