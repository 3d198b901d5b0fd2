//! Errors that are a page of their own.

use super::super::Around;

/// Something to quote, below an error of the service.
pub(crate) const QUOTE_NUMBER: Around = Around { before: "If you ask for help, give this number: ", after: "" };
/// Leads to the login.
pub(crate) const SIGN_IN: &str = "Sign in";
/// Leads to the start page.
pub(crate) const TO_WORKSHOPS: &str = "To the workshops";

/// Somebody who wants to sign in, and meets no login proxy.
pub(crate) const NO_LOGIN_TITLE: &str = "No login proxy answers here";
/// What to do about it, for whoever runs the service.
pub(crate) const NO_LOGIN: &str = "This address is where people sign in, but the launcher itself was asked for it: it \
                                   signs nobody in. Put a login proxy in front of it, or set SERVICE_LOGIN_URL to where \
                                   one is. To try the launcher on this machine without one, use make run, or start it \
                                   with SERVICE_REQUIRE_AUTHENTICATION=false and \
                                   SERVICE_DEV_IDENTITY=you@example.org. docs/settings.md explains them.";
/// After signing out.
pub(crate) const SIGNED_OUT_TITLE: &str = "You are signed out";
/// What is left to do, on a machine that others use.
pub(crate) const SIGNED_OUT: &str = "Your workshops run on until they end. The account that you signed in with may still be \
                                     signed in at its provider: on a computer that others use, sign out there too, or \
                                     close the browser.";
/// The way back in.
pub(crate) const SIGN_IN_AGAIN: &str = "Sign in again";

/// An address with a parameter that is none.
pub(crate) const BAD_ADDRESS: &str = "The address has a parameter that cannot be read.";
/// Forms that could not be read.
pub(crate) const FORM_TOO_LARGE: &str = "The form is larger than this page's form ever is.";
pub(crate) const FORM_OF_ANOTHER_KIND: &str = "Send the page's own form.";
pub(crate) const FORM_OF_ANOTHER_PAGE: &str = "The form lacks fields or has others.";
pub(crate) const FORM_UNREADABLE: &str = "The form cannot be read, or did not arrive within 30 seconds.";

/// The title and the text of an error's page. `detail` is the problem's own, shown where there are no better words.
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
