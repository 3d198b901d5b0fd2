//! Presentation of a template in the catalog, and the slug of its link.

use serde_json::{Value, json};

use super::codecs::{LINE, has_invisible, text_codec};
use super::field::{Audience, Codec, Errors, json_object, text};
use super::rule::FieldRule;
use crate::names::is_dns_label;
use crate::template::settings::Icon;
use crate::text_enum::text_enum;

const MAX_TAGS: usize = 8;
const MAX_TAG: usize = 30;
/// Commas of several scripts, which separate tags in a form.
pub const TAG_SEPARATORS: [char; 3] = [',', '，', '،'];
pub(crate) const MAX_SLUG: usize = 40;
const SLUG_LENGTH: std::ops::RangeInclusive<usize> = 2..=MAX_SLUG;

json_object! {
    /// Presentation of a template in the catalog, and the slug of its link. These fields belong to the template and not
    /// to its settings, because no workshop needs them: instances copy the settings, and rows refer to them by the hash
    /// of their content.
    #[derive(Default)]
    #[serde(default)]
    pub struct Listing {
        /// Tags. Two tags must not be equal, also regardless of case.
        tags: Vec<String> = defaulted(Tags, json!([])),
        /// Icon in the catalog. null: the icon of the kind of app.
        icon: Option<Icon> = optional(Icon),
        /// Colour of the icon in the catalog. null: a colour that follows from the name.
        color: Option<Color> = optional(Color),
        /// True if the list of templates omits it for callers who are not admins. They can read and launch it by its link.
        unlisted: bool = defaulted(bool, false.into()),
        /// Slug of the template's link, unique among all templates.
        slug: Option<String> = optional(Slug),
    }
}

text_enum! {
    /// Colour of a template's icon: a hue of the colour space OKLCH. The style sheet has its lightness and chroma, for light and
    /// for dark pages.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Color {
        /// Hue of 0 degrees.
        Rose = "rose",
        /// Hue of 30 degrees.
        Red = "red",
        /// Hue of 60 degrees.
        Orange = "orange",
        /// Hue of 90 degrees.
        Yellow = "yellow",
        /// Hue of 120 degrees.
        Lime = "lime",
        /// Hue of 150 degrees.
        Green = "green",
        /// Hue of 180 degrees.
        Teal = "teal",
        /// Hue of 210 degrees.
        Cyan = "cyan",
        /// Hue of 240 degrees.
        Blue = "blue",
        /// Hue of 270 degrees.
        Indigo = "indigo",
        /// Hue of 300 degrees.
        Purple = "purple",
        /// Hue of 330 degrees.
        Pink = "pink",
    }
}

pub(crate) enum Slug {}

impl Codec for Slug {
    type Value = String;

    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<String> {
        let slug = text(json, at, errors)?;
        errors.check(is_slug(slug), at, FieldRule::Slug);
        Some(slug.to_owned())
    }

    fn schema(_: Audience) -> Value {
        json!({
            "type": "string", "minLength": SLUG_LENGTH.start(), "maxLength": SLUG_LENGTH.end(),
            "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", "examples": ["statistics-101"],
        })
    }
}

/// True for a slug: 2 to 40 characters `a-z`, `0-9` and `-`, with a letter or a digit at both ends.
#[must_use]
pub fn is_slug(text: &str) -> bool {
    SLUG_LENGTH.contains(&text.len()) && is_dns_label(text)
}

/// Letters of European languages outside of ASCII, with the ones that a slug has for them.
const LETTERS: [(&str, &str); 24] = [
    ("àáâãäåāăą", "a"),
    ("çćĉċč", "c"),
    ("ďđ", "d"),
    ("èéêëēĕėęě", "e"),
    ("ĝğġģ", "g"),
    ("ĥ", "h"),
    ("ìíîïĩīĭįı", "i"),
    ("ĵ", "j"),
    ("ķ", "k"),
    ("ĺļľł", "l"),
    ("ñńņň", "n"),
    ("òóôõöøōŏő", "o"),
    ("ŕŗř", "r"),
    ("śŝşšș", "s"),
    ("ţťț", "t"),
    ("ùúûüũūŭůűų", "u"),
    ("ŵ", "w"),
    ("ýÿŷ", "y"),
    ("źżž", "z"),
    ("ß", "ss"),
    ("æ", "ae"),
    ("œ", "oe"),
    ("þ", "th"),
    ("ð", "d"),
];

/// Derives a slug from a name: its letters and digits in lower case, with hyphens between words. `None` if too few of them
/// are Latin letters or digits.
#[must_use]
pub fn slug_of(name: &str) -> Option<String> {
    let mut slug = String::new();
    for character in name.to_lowercase().chars() {
        let letters = LETTERS.iter().find(|(letters, _)| letters.contains(character)).map(|(_, letters)| *letters);
        match letters {
            Some(letters) => slug.push_str(letters),
            None if character.is_ascii_alphanumeric() => slug.push(character),
            // Accents that follow their letter.
            None if ('\u{300}'..='\u{36f}').contains(&character) => {}
            None if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            None => {}
        }
    }
    slug.truncate(*SLUG_LENGTH.end());
    let slug = slug.trim_end_matches('-');
    is_slug(slug).then(|| slug.to_owned())
}

text_codec! {
    Tag, { "type": "string", "minLength": 1, "maxLength": MAX_TAG,
           "pattern": LINE },
    Tag if not |tag| (1..=MAX_TAG).contains(&tag.chars().count()) && !tag.contains(TAG_SEPARATORS) && !has_invisible(tag)
}

enum Tags {}

impl Codec for Tags {
    type Value = Vec<String>;

    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<Vec<String>> {
        let is_short = json.as_array().is_none_or(|tags| tags.len() <= MAX_TAGS);
        errors.check(is_short, at, FieldRule::TagCount);
        let Some(given) = json.as_array() else { return errors.wrong_type(at, FieldRule::List) };
        let mut tags: Vec<String> = Vec::new();
        // Ignore surplus tags, which have already caused an error: comparing thousands of tags would take too long.
        for (index, tag) in given.iter().take(MAX_TAGS).enumerate() {
            let at = format!("{at}/{index}");
            let tag = Tag::read(tag, &at, errors)?;
            let is_repeated = tags.iter().any(|earlier| earlier.to_lowercase() == tag.to_lowercase());
            if is_repeated && !errors.has(&at) {
                errors.add(at, FieldRule::TagRepeated { tag: tag.clone() });
            }
            tags.push(tag);
        }
        Some(tags)
    }

    fn schema(audience: Audience) -> Value {
        json!({ "type": "array", "maxItems": MAX_TAGS, "items": Tag::schema(audience), "examples": [["statistics"]] })
    }
}
