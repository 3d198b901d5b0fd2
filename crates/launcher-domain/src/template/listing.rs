//! Presentation of a template in the catalog, and the slug of its link.

use super::field_error::Errors;
use super::icon::Icon;
use super::rule::FieldRule;
use super::visible::has_invisible;

const MAX_TAGS: usize = 8;
const MAX_TAG: usize = 30;
/// Commas of several scripts, which separate tags in a form.
pub const TAG_SEPARATORS: [char; 3] = [',', '，', '،'];
const SLUG_LENGTH: std::ops::RangeInclusive<usize> = 2..=40;

/// Presentation of a template in the catalog, and the slug of its link.
///
/// These fields belong to the template and not to its settings, because no workshop needs them: instances copy the
/// settings, and rows refer to them by the hash of their content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// At most 8 tags of 1–30 characters each. No two tags differ only in case.
    pub tags: Vec<String>,
    /// Chosen icon. If absent, the icon of the kind of app applies.
    pub icon: Option<Icon>,
    /// True when the lists omit the template for users who are not admins. They can read and launch it by its link.
    pub unlisted: bool,
    /// Slug of the template's link, unique among all templates: see [`is_slug`].
    pub slug: Option<String>,
}

impl Listing {
    pub(super) fn validated(
        tags: Vec<String>,
        icon: Option<Icon>,
        unlisted: bool,
        slug: Option<String>,
        errors: &mut Errors,
    ) -> Self {
        let tags = valid_tags(&tags, errors);
        errors.check(slug.as_deref().is_none_or(is_slug), "/slug", FieldRule::Slug);
        Self { tags, icon, unlisted, slug }
    }
}

/// True for a slug: 2 to 40 characters `a-z`, `0-9` and `-`, with a letter or a digit at both ends.
#[must_use]
pub fn is_slug(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    SLUG_LENGTH.contains(&text.len())
        && text.bytes().all(|byte| is_plain(byte) || byte == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// Returns the trimmed tags. Reports each invalid or repeated tag at its index.
fn valid_tags(tags: &[String], errors: &mut Errors) -> Vec<String> {
    errors.check(tags.len() <= MAX_TAGS, "/tags", FieldRule::TagCount);
    let mut known: Vec<String> = Vec::new();
    let mut valid = Vec::new();
    // Ignore surplus tags, which have already caused an error: comparing thousands of tags would take too long.
    for (index, tag) in tags.iter().take(MAX_TAGS).enumerate() {
        let pointer = format!("/tags/{index}");
        let tag = tag.trim();
        let folded = tag.to_lowercase();
        if !(1..=MAX_TAG).contains(&tag.chars().count()) || tag.contains(TAG_SEPARATORS) || has_invisible(tag) {
            errors.add(pointer, FieldRule::Tag);
        } else if known.contains(&folded) {
            errors.add(pointer, FieldRule::TagRepeated { tag: tag.to_owned() });
        }
        known.push(folded);
        valid.push(tag.to_owned());
    }
    valid
}
