//! The type of the texts.

/// Title and text of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoticeText {
    /// Title of the page.
    pub title: &'static str,
    /// One or more sentences.
    pub text: &'static str,
}

/// All texts of one language. `{left}` in a text stands for the time left, for example `10 minutes`, and `{time}` for a
/// point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Texts {
    /// Language code, for `<html lang>`.
    pub code: &'static str,
    /// Direction of the script: `ltr` or `rtl`.
    pub direction: &'static str,
    /// Title of the frame page until the app has a title.
    pub workshop: &'static str,
    /// Name of the bar for screen readers.
    pub bar: &'static str,
    /// Name of the app's frame for screen readers.
    pub app: &'static str,
    /// Time left, in the bar.
    pub left: &'static str,
    /// Expiry, in the bar of a browser without scripts.
    pub ends: &'static str,
    /// Warning ten minutes and one minute before the expiry.
    pub warning: &'static str,
    /// Note in the bar after the expiry.
    pub over: &'static str,
    /// Note in the bar after the end of the session.
    pub signed_out: &'static str,
    /// Note in the bar after a crash of the app, which was started again.
    pub crashed: &'static str,
    /// The same note, if the app exceeded its memory.
    pub out_of_memory: &'static str,
    /// The same note, if the restart lost files.
    pub files_lost: &'static str,
    /// Link that extends the workshop.
    pub extend: &'static str,
    /// Addition to the link [`Texts::extend`] for screen readers.
    pub extend_hint: &'static str,
    /// Link to the launcher's page of the workshop.
    pub home: &'static str,
    /// Link of a notice to the launcher.
    pub launcher: &'static str,
    /// Notice for a caller who is not the owner. It must not tell whether the workshop exists.
    pub not_yours: NoticeText,
    /// Notice for a request without an identity.
    pub not_signed_in: NoticeText,
    /// Notice for a missing workshop. Used only if callers may know which workshops exist.
    pub unknown: NoticeText,
    /// Notice while the app does not accept connections. The page reloads itself.
    pub starting: NoticeText,
    /// Notice for an invalid response of the app.
    pub no_answer: NoticeText,
    /// Notice for a workshop that has failed, if no cause is known.
    pub failed: NoticeText,
    /// Notice for a workshop that a user has ended.
    pub terminated: NoticeText,
    /// Notice for a workshop whose lifetime is over.
    pub expired: NoticeText,
}
