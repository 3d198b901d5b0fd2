//! Texts of the frame around every page, and of the script.

/// Name of the product in the page header and in titles.
pub(crate) const PRODUCT: &str = "Workshop Launcher";
/// Name and version of the product, in the footer.
pub(crate) const PRODUCT_VERSION: &str = concat!("Workshop Launcher ", env!("CARGO_PKG_VERSION"));
/// First link of a page: keyboard users skip the navigation with it.
pub(crate) const SKIP: &str = "Skip to the content";
/// Name of the navigation for screen readers.
pub(crate) const PAGES: &str = "Pages";
/// Navigation link to the start page.
pub(crate) const WORKSHOPS: &str = "Workshops";
/// Navigation link to the page of ended workshops.
pub(crate) const HISTORY: &str = "History";
/// Navigation link to the admins' overview.
pub(crate) const OVERVIEW: &str = "Overview";
/// Navigation link to the admins' list of all instances.
pub(crate) const ALL_INSTANCES: &str = "All instances";
/// Navigation link to the list of templates.
pub(crate) const TEMPLATES: &str = "Templates";
/// Navigation link to the activity log.
pub(crate) const ACTIVITY: &str = "Activity";
/// Badge beside an administrator's name.
pub(crate) const ADMIN: &str = "Admin";
/// Link to sign out.
pub(crate) const SIGN_OUT: &str = "Sign out";
/// Link to the address at which users get help.
pub(crate) const HELP: &str = "Help";
/// Link to the guide for students, and the title of its page.
pub(crate) const STUDENTS_GUIDE: &str = "Guide for students";
/// The guide for students, in Markdown.
pub(crate) const STUDENTS_GUIDE_TEXT: &str = include_str!("students.md");
/// Link to the guide for teachers, and the title of its page.
pub(crate) const TEACHERS_GUIDE: &str = "Guide for teachers";
/// The guide for teachers, in Markdown.
pub(crate) const TEACHERS_GUIDE_TEXT: &str = include_str!("teachers.md");
/// Link to the documentation of the API.
pub(crate) const API_DOCS: &str = "API documentation";
/// Notice while the event stream is disconnected, because the page may be out of date.
pub(crate) const OFFLINE: &str = "Connection lost. This page may be out of date. It reconnects automatically.";

/// Banner while authentication is off: the identity that every caller has.
pub(crate) fn no_authentication(email: &str) -> String {
    format!("Authentication is off. Use this for development only: every visitor is {email}.")
}

/// Banner for admins if all workshops run as one OS user.
pub(crate) const SHARES_ONE_USER: &str = "Workshops are not isolated here. Everyone who launches one can read \
                                          everything that this service can read, including other people's files. If \
                                          people do not trust each other, run workshops on Kubernetes.";

/// Button that asks the browser for permission to show notifications.
pub(crate) const NOTIFY: &str = "Notify me";
/// Button text after the user has permitted notifications.
pub(crate) const NOTIFY_ON: &str = "You will be notified";
/// Button text after the user has refused notifications.
pub(crate) const NOTIFY_OFF: &str = "Notifications are off";
/// Text that the script announces shortly before expiry, also as a notification. The script inserts name and remaining
/// time.
pub(crate) const SPOKEN_END: &str = "{name}: ends in {left}";
/// Second line of the notification shortly before expiry.
pub(crate) const SPOKEN_ADVICE: &str = "Save your work, or extend the workshop.";
