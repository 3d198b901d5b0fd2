//! Names: `k8s_name` of an instance, and time-ordered identifiers.

use jiff::Timestamp;
use uuid::Uuid;

use crate::clock::{Clock, Entropy};

/// 32 characters without look-alikes (no `0`, `1`, `l`, `o`), each worth 5 bits.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
const RANDOM_CHARACTERS: usize = 10;
const MAX_SLUG: usize = 20;
/// First characters of the name of a volume.
const VOLUME_PREFIX: &str = "work-";

/// Generates a name for an instance: a slug of its template's name, a dash, and 50 random bits.
///
/// The name is a DNS label (RFC 1035: starts with a letter, at most 31 characters), because it names a Service and a
/// host. It is unguessable and contains no e-mail address. The database's unique index rejects a duplicate; the caller
/// then generates another name.
#[must_use]
pub fn k8s_name(template_name: &str, entropy: &dyn Entropy) -> String {
    format!("{}-{}", slug(template_name), random_characters(entropy))
}

/// Generates a name for a volume: a prefix and 50 random bits. The name reveals neither owner nor template.
#[must_use]
pub fn volume_name(entropy: &dyn Entropy) -> String {
    format!("{VOLUME_PREFIX}{}", random_characters(entropy))
}

/// True when a text has the shape of a volume's name. Checked before a database query or a path of a file.
#[must_use]
pub fn is_volume_name(text: &str) -> bool {
    text.strip_prefix(VOLUME_PREFIX).is_some_and(is_random)
}

/// True when a text has the shape of [`random_characters`].
pub(crate) fn is_random(text: &str) -> bool {
    text.len() == RANDOM_CHARACTERS && text.bytes().all(|byte| ALPHABET.contains(&byte))
}

/// Returns 25 random bits, which distinguish two things with the same name.
#[must_use]
pub fn random_suffix(entropy: &dyn Entropy) -> String {
    random_characters(entropy).chars().take(RANDOM_CHARACTERS / 2).collect()
}

/// Returns 50 random bits as text.
pub(crate) fn random_characters(entropy: &dyn Entropy) -> String {
    let mut bytes = [0_u8; RANDOM_CHARACTERS];
    entropy.fill(&mut bytes);
    bytes.iter().map(|byte| char::from(ALPHABET[usize::from(byte & 31)])).collect()
}

/// True when a text has the shape of an instance's name. Checked before a database query, to avoid queries for names
/// that cannot exist.
#[must_use]
pub fn is_k8s_name(text: &str) -> bool {
    is_dns_label(text) && text.starts_with(|first: char| first.is_ascii_lowercase())
}

/// True for a DNS label: 1 to 63 lower-case letters, digits and hyphens, with a letter or a digit at both ends.
#[must_use]
pub fn is_dns_label(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (1..=63).contains(&text.len())
        && text.bytes().all(|byte| is_plain(byte) || byte == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// Generates an identifier that sorts by time (UUID version 7, RFC 9562).
#[must_use]
pub fn uuid_v7(clock: &dyn Clock, entropy: &dyn Entropy) -> Uuid {
    let mut random = [0_u8; 10];
    entropy.fill(&mut random);
    let millis = u64::try_from(clock.now().as_millisecond()).unwrap_or(0);
    uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
}

/// Returns the smallest identifier that [`uuid_v7`] can generate at this time or later.
#[must_use]
pub fn earliest_uuid(at: Timestamp) -> Uuid {
    let millis = u64::try_from(at.as_millisecond()).unwrap_or(0);
    Uuid::from_u128(u128::from(millis) << 80)
}

/// Returns the letters and digits of a name, lower-case, with single dashes between words. Returns `workshop` if the
/// name has no letter or digit.
fn slug(name: &str) -> String {
    let mut slug = String::with_capacity(MAX_SLUG);
    for character in name.chars() {
        if slug.len() >= MAX_SLUG {
            break;
        }
        if character.is_ascii_alphabetic() || (character.is_ascii_digit() && !slug.is_empty()) {
            slug.push(character.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "workshop".to_owned() } else { slug.to_owned() }
}
