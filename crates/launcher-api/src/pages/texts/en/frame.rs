//! What stands around every page, and what the script says.

/// The name in the header and in titles.
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
/// The admins' list of everybody's instances.
pub(crate) const ALL_INSTANCES: &str = "All instances";
/// The list of templates.
pub(crate) const TEMPLATES: &str = "Templates";
/// The activity log.
pub(crate) const ACTIVITY: &str = "Activity";
/// The badge of an administrator.
pub(crate) const ADMIN: &str = "Admin";
/// Leads out.
pub(crate) const SIGN_OUT: &str = "Sign out";
/// Nothing tells the page of changes any more.
pub(crate) const OFFLINE: &str = "The connection is lost: what you see may be old. It comes back by itself.";

/// The banner of a service that asks nobody to sign in.
pub(crate) fn no_authentication(email: &str) -> String {
    format!("Authentication is off: this is for development only. Everybody here is {email}.")
}

/// The banner for admins of a service whose workshops are processes of one user.
pub(crate) const SHARES_ONE_USER: &str = "Workshops are not separated from each other here: everyone who launches one can \
     read what this service can read, other people's files included. Where people do not trust each other, run workshops \
     on Kubernetes.";

/// Asks the browser whether the script may notify.
pub(crate) const NOTIFY: &str = "Notify me";
/// It may.
pub(crate) const NOTIFY_ON: &str = "You will be notified";
/// It may not.
pub(crate) const NOTIFY_OFF: &str = "Notifications are off";
/// Spoken when little time is left; the script puts in the workshop's name and the time.
pub(crate) const SPOKEN_END: &str = "{name}: ends in {left}";
/// The same notification's second line.
pub(crate) const SPOKEN_ADVICE: &str = "Save your work, or extend it.";
