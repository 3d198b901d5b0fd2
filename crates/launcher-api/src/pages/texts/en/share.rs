//! Texts of the link that a teacher shares.

/// Label that opens the link and its QR code, on a template's page.
pub(crate) const SHARE: &str = "Share this template";
/// Button that copies the link to a template.
pub(crate) const COPY_LINK: &str = "Copy link";
/// Announcement after the link was copied.
pub(crate) const COPIED: &str = "Link copied";
/// Link from the list of templates to the QR code.
pub(crate) const SHOW_QR_CODE: &str = "QR code";
/// Name of the QR code for screen readers.
pub(crate) const QR_CODE: &str = "QR code of the link to this template";
