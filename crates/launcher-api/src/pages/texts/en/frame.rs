//! Texts of the frame around every page, and of the script.

/// Product name in the header and in titles.
pub(crate) const PRODUCT: &str = "Workshop Launcher";
/// The first link of a page, for keyboards.
pub(crate) const SKIP: &str = "Skip to the content";
/// The navigation's name for screen readers.
pub(crate) const PAGES: &str = "Pages";
/// The start page, in the navigation.
pub(crate) const WORKSHOPS: &str = "Workshops";
/// The page of ended workshops.
pub(crate) const HISTORY: &str = "History";
/// The admins' overview.
pub(crate) const OVERVIEW: &str = "Overview";
/// The admins' list of all instances.
pub(crate) const ALL_INSTANCES: &str = "All instances";
/// The list of templates.
pub(crate) const TEMPLATES: &str = "Templates";
/// The activity log.
pub(crate) const ACTIVITY: &str = "Activity";
/// The badge of an administrator.
pub(crate) const ADMIN: &str = "Admin";
/// Link to sign out.
pub(crate) const SIGN_OUT: &str = "Sign out";
/// The event stream is disconnected, so the page may be outdated.
pub(crate) const OFFLINE: &str = "The connection is lost: what you see may be old. It comes back by itself.";

/// Banner while authentication is off.
pub(crate) fn no_authentication(email: &str) -> String {
    format!("Authentication is off: this is for development only. Everybody here is {email}.")
}

/// Banner for admins if all workshops run as one OS user.
pub(crate) const SHARES_ONE_USER: &str = "Workshops are not separated from each other here: everyone who launches one can \
     read what this service can read, other people's files included. Where people do not trust each other, run workshops \
     on Kubernetes.";

/// Button that asks the browser for permission to notify.
pub(crate) const NOTIFY: &str = "Notify me";
/// Permission was granted.
pub(crate) const NOTIFY_ON: &str = "You will be notified";
/// Permission was denied.
pub(crate) const NOTIFY_OFF: &str = "Notifications are off";
/// Announced shortly before expiry, also as a notification; the script inserts name and remaining time.
pub(crate) const SPOKEN_END: &str = "{name}: ends in {left}";
/// Second line of this notification.
pub(crate) const SPOKEN_ADVICE: &str = "Save your work, or extend it.";
