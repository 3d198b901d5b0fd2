//! Rules of the values in a template.

use std::collections::BTreeMap;

use serde_json::{Number, Value, json};

use super::field::{Audience, Codec, Errors, JsonObject, integer, join, text};
use super::pod_template::{is_storable_pod_template, without_nulls};
use super::rule::FieldRule;
use super::variable::{is_identifier, is_reserved_variable};
use crate::input::parse_command_line;
use crate::local_path::LocalPath;
use crate::quantity::{Quantity, QuantityError};
use crate::text_enum::TextEnum;

const MAX_NAME: usize = 80;
const MAX_DESCRIPTION: usize = 4000;
pub(crate) const MAX_IMAGE: usize = 255;
const MAX_WORDS: usize = 64;
const MAX_WORD_BYTES: usize = 4096;
const MAX_ENV: usize = 64;
const MAX_ENV_VALUE_BYTES: usize = 32 * 1024;
const MAX_VARIABLE: usize = 128;
const MAX_PATH_BYTES: usize = 255;
/// Ports of the sidecar, which listens in the same pod.
const SIDECAR_PORTS: [i64; 2] = [8080, 8081];
/// Least amount of memory or of a volume: 1 MiB, in thousandths of a byte. It refuses `512m`, which other programs read
/// as mebibytes, and Kubernetes as half a byte.
const LEAST_BYTES_MILLI: u128 = 1000 << 20;
/// Maximum characters of a wrong value that its error repeats.
const SHOWN_CHARACTERS: usize = 40;
/// Durations: one minute to 30 days.
pub(crate) const SECONDS: std::ops::RangeInclusive<i64> = 60..=30 * 24 * 3600;
/// Directories that a volume must not hide: the app would not start, or the container would lose its protection.
const SYSTEM_DIRECTORIES: [&str; 14] =
    ["bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "run", "sbin", "sys", "tmp", "usr"];

/// Pattern of one line with at least one visible character.
pub(crate) const LINE: &str = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$";
const NO_NUL: &str = r"^[^\x00]*$";
const VARIABLE: &str = "^(?!DISABLE_AUTH$|SERVICE_)[A-Za-z_][A-Za-z0-9_]{0,127}$";
/// Pattern of a path of an app, with white space around it: empty, or visible ASCII characters without a backslash.
const START_PATH: &str = r"^\s*(/(?!/|_launcher/)[!-\[\]-~]*)?\s*$";
/// Pattern of a Kubernetes quantity above zero: `1.5Gi`, or a fraction as in `0.5Gi`. The unit `m` allows no value
/// below `1m`, such as `0.5m`.
const QUANTITY: &str = concat!(
    r"^(?=0*[1-9])[0-9]{1,15}(\.[0-9]{1,3})?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$",
    r"|^0{1,15}\.(?=0*[1-9])[0-9]{1,3}(k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$"
);

impl<T: TextEnum> Codec for T {
    type Value = T;

    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<T> {
        let text = text(json, at, errors)?;
        T::of(text).or_else(|| errors.wrong_type(at, FieldRule::Choice { choices: T::texts().join(", ") }))
    }

    fn substitute() -> Option<T> {
        T::texts().first().and_then(|text| T::of(text))
    }

    fn schema(_: Audience) -> Value {
        json!({ "type": "string", "enum": T::texts() })
    }
}

/// Declares a codec of texts: its value is a `String`. A wrong text breaks the rule. White space around it is removed.
macro_rules! text_codec {
    ($(#[$about:meta])* $name:ident, $schema:tt $(, $rule:ident if not $is_valid:expr)?) => {
        $(#[$about])*
        pub(crate) enum $name {}

        impl $crate::template::field::Codec for $name {
            type Value = String;

            fn read(
                json: &serde_json::Value,
                at: &str,
                errors: &mut $crate::template::field::Errors,
            ) -> Option<String> {
                let text = $crate::template::field::text(json, at, errors)?.trim();
                $(
                    let is_valid: fn(&str) -> bool = $is_valid;
                    errors.check(is_valid(text), at, $crate::template::rule::FieldRule::$rule);
                )?
                Some(text.to_owned())
            }

            fn substitute() -> Option<String> {
                Some(String::new())
            }

            fn schema(_: $crate::template::field::Audience) -> serde_json::Value {
                serde_json::json!($schema)
            }
        }
    };
}
pub(crate) use text_codec;

/// Declares a codec of integers: its value is a `u32`. A number outside of the range breaks the rule.
macro_rules! integer_codec {
    ($(#[$about:meta])* $name:ident in $range:ident, $rule:ident, $example:literal) => {
        $(#[$about])*
        pub(crate) enum $name {}

        impl $crate::template::field::Codec for $name {
            type Value = u32;

            fn read(json: &serde_json::Value, at: &str, errors: &mut $crate::template::field::Errors) -> Option<u32> {
                let number = $crate::template::field::integer(json, at, errors)?;
                errors.check($range.contains(&number), at, $crate::template::rule::FieldRule::$rule);
                Some(u32::try_from(number).unwrap_or_default())
            }

            fn substitute() -> Option<u32> {
                Some(0)
            }

            fn schema(_: $crate::template::field::Audience) -> serde_json::Value {
                serde_json::json!({
                    "type": "integer", "format": "int32", "minimum": $range.start(), "maximum": $range.end(),
                    "examples": [$example],
                })
            }
        }
    };
}
pub(crate) use integer_codec;

/// Declares a codec of lists of texts. A longer list than the maximum breaks the rule.
macro_rules! list_codec {
    ($(#[$about:meta])* $name:ident of $entry:ty, $max:ident, $rule:ident) => {
        $(#[$about])*
        pub(crate) enum $name {}

        impl $crate::template::field::Codec for $name {
            type Value = Vec<String>;

            fn read(
                json: &serde_json::Value,
                at: &str,
                errors: &mut $crate::template::field::Errors,
            ) -> Option<Vec<String>> {
                let is_short = json.as_array().is_none_or(|entries| entries.len() <= $max);
                errors.check(is_short, at, $crate::template::rule::FieldRule::$rule);
                $crate::template::field::items::<$entry>(json, at, errors)
            }

            fn schema(audience: $crate::template::field::Audience) -> serde_json::Value {
                let entry = <$entry as $crate::template::field::Codec>::schema(audience);
                serde_json::json!({ "type": "array", "maxItems": $max, "items": entry })
            }
        }
    };
}
pub(crate) use list_codec;

text_codec! {
    /// A name or a label: 1 to 80 characters on one line.
    Name, { "type": "string", "minLength": 1, "maxLength": MAX_NAME, "pattern": LINE },
    Name if not |name| (1..=MAX_NAME).contains(&name.chars().count()) && !has_invisible(name)
}

text_codec! {
    /// Reference of an image. The registry decides whether the image exists.
    Image, { "type": "string", "minLength": 1, "maxLength": MAX_IMAGE, "pattern": "^[A-Za-z0-9][A-Za-z0-9._/:@+-]*$",
             "examples": ["quay.io/jupyter/base-notebook:latest"] },
    Image if not is_image
}

/// True for a text with the characters of an image reference.
#[must_use]
pub fn is_image(image: &str) -> bool {
    (1..=MAX_IMAGE).contains(&image.len())
        && image.starts_with(|first: char| first.is_ascii_alphanumeric())
        && image.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/:@+".contains(&byte))
}

/// A text in Markdown.
pub(crate) enum Description {}

impl Codec for Description {
    type Value = String;

    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<String> {
        let text = text(json, at, errors)?;
        let is_valid = text.chars().count() <= MAX_DESCRIPTION && !text.contains('\0');
        errors.check(is_valid, at, FieldRule::Description);
        Some(text.to_owned())
    }

    fn schema(_: Audience) -> Value {
        json!({ "type": "string", "maxLength": MAX_DESCRIPTION, "pattern": NO_NUL })
    }
}

pub(crate) enum Port {}

impl Codec for Port {
    type Value = u16;

    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<u16> {
        let port = integer(json, at, errors)?;
        errors.check(!SIDECAR_PORTS.contains(&port), at, FieldRule::PortReserved);
        let port = u16::try_from(port).unwrap_or(0);
        errors.check(port > 0, at, FieldRule::PortRange);
        Some(port)
    }

    fn substitute() -> Option<u16> {
        Some(0)
    }

    fn schema(audience: Audience) -> Value {
        match audience {
            Audience::Request => {
                json!({ "type": "integer", "minimum": 1, "maximum": 65535, "not": { "enum": SIDECAR_PORTS } })
            }
            Audience::Response => {
                json!({ "type": "integer", "format": "int32", "minimum": 1, "maximum": 65535, "examples": [8888] })
            }
        }
    }
}

/// Path of an app's first page. White space around it is removed.
pub(crate) enum StartPath {}

impl Codec for StartPath {
    type Value = LocalPath;

    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<LocalPath> {
        let path = LocalPath::parse_of_app(text(json, at, errors)?.trim());
        errors.check(path.is_some(), at, FieldRule::StartPath);
        path
    }

    fn schema(_: Audience) -> Value {
        json!({ "type": "string", "maxLength": LocalPath::MAX_BYTES, "pattern": START_PATH, "examples": ["/lab"] })
    }
}

list_codec! {
    /// Words of a command line.
    Words of Word, MAX_WORDS, WordCount
}

pub(crate) enum Word {}

impl Codec for Word {
    type Value = String;

    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<String> {
        let word = text(json, at, errors)?;
        errors.check(word.len() <= MAX_WORD_BYTES && !word.contains('\0'), at, FieldRule::Word);
        Some(word.to_owned())
    }

    fn schema(_: Audience) -> Value {
        json!({ "type": "string", "maxLength": MAX_WORD_BYTES, "pattern": NO_NUL })
    }
}

/// Words of a command line that begins with a program.
pub(super) enum Command {}

impl Codec for Command {
    type Value = Vec<String>;

    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<Vec<String>> {
        let words = Words::read(json, at, errors)?;
        if let Some((program, rest)) = words.split_first()
            && program.contains(char::is_whitespace)
        {
            let split = parse_command_line(program).ok().filter(|split| split.len() > 1);
            let split = split.unwrap_or_else(|| program.split_whitespace().map(str::to_owned).collect());
            let words = json!([&split[..], rest].concat()).to_string();
            let word: String = program.chars().take(SHOWN_CHARACTERS).collect();
            errors.add(at, FieldRule::CommandUnsplit { word, words });
        }
        Some(words)
    }

    fn schema(audience: Audience) -> Value {
        Words::schema(audience)
    }
}

pub(crate) enum Environment {}

impl Codec for Environment {
    type Value = BTreeMap<String, String>;

    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<BTreeMap<String, String>> {
        let Some(variables) = json.as_object() else { return errors.wrong_type(at, FieldRule::Object) };
        errors.check(variables.len() <= MAX_ENV, at, FieldRule::VariableCount);
        let mut env = BTreeMap::new();
        for (name, value) in variables {
            let at = join(at, name);
            check_variable(name, &at, errors);
            let Some(value) = text(value, &at, errors) else { continue };
            let is_valid = value.len() <= MAX_ENV_VALUE_BYTES && !value.contains('\0');
            errors.check(is_valid, &at, FieldRule::VariableValue);
            env.insert(name.clone(), value.to_owned());
        }
        Some(env)
    }

    fn schema(_: Audience) -> Value {
        json!({
            "type": "object", "maxProperties": MAX_ENV, "propertyNames": { "pattern": VARIABLE },
            "additionalProperties": { "type": "string", "maxLength": MAX_ENV_VALUE_BYTES, "pattern": NO_NUL },
        })
    }
}

/// Name of an environment variable.
pub(crate) enum Variable {}

impl Codec for Variable {
    type Value = String;

    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<String> {
        let name = text(json, at, errors)?;
        check_variable(name, at, errors);
        Some(name.to_owned())
    }

    fn substitute() -> Option<String> {
        Some(String::new())
    }

    fn schema(_: Audience) -> Value {
        json!({ "type": "string", "pattern": VARIABLE, "examples": ["DATASET"] })
    }
}

fn check_variable(name: &str, at: &str, errors: &mut Errors) {
    if !is_identifier(name) || name.len() > MAX_VARIABLE {
        errors.add(at, FieldRule::VariableName);
    } else if is_reserved_variable(name) {
        errors.add(at, FieldRule::VariableReserved);
    }
}

integer_codec! {
    /// A duration in seconds.
    Seconds in SECONDS, Duration, 7200
}

pub(crate) enum Cpu {}

pub(crate) enum Memory {}

pub(crate) enum VolumeSize {}

impl Codec for Cpu {
    type Value = Quantity;

    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<Quantity> {
        let rule = |QuantityError(text)| FieldRule::Quantity { text: format!("{text:?}") };
        Quantity::parse(text(json, at, errors)?).map_err(|error| errors.add(at, rule(error))).ok()
    }

    fn schema(_: Audience) -> Value {
        json!({ "type": "string", "pattern": QUANTITY, "examples": ["2"] })
    }
}

impl Codec for Memory {
    type Value = Quantity;

    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<Quantity> {
        let memory = Cpu::read(json, at, errors)?;
        let text = format!("{:?}", memory.as_str());
        errors.check(memory.milli() >= LEAST_BYTES_MILLI, at, FieldRule::MemoryTooSmall { text });
        Some(memory)
    }

    fn schema(_: Audience) -> Value {
        json!({ "type": "string", "pattern": QUANTITY, "examples": ["2Gi"] })
    }
}

impl Codec for VolumeSize {
    type Value = Quantity;

    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<Quantity> {
        let text = text(json, at, errors)?;
        let size = Quantity::parse(text).ok().filter(|size| size.milli() >= LEAST_BYTES_MILLI);
        size.or_else(|| {
            let shown: String = text.chars().take(SHOWN_CHARACTERS).collect();
            errors.add(at, FieldRule::StorageSize { text: format!("{shown:?}") });
            None
        })
    }

    fn schema(audience: Audience) -> Value {
        Memory::schema(audience)
    }
}

/// Path at which a volume can be mounted. A slash at its end is removed.
pub(crate) enum MountPath {}

impl MountPath {
    /// Returns the path without white space and slashes at its end.
    pub(crate) fn normal(path: &str) -> &str {
        path.trim().trim_end_matches('/')
    }
}

impl Codec for MountPath {
    type Value = String;

    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<String> {
        let path = Self::normal(text(json, at, errors)?);
        if is_mount_path(path) {
            return Some(path.to_owned());
        }
        errors.add(at, FieldRule::StoragePath);
        None
    }

    fn substitute() -> Option<String> {
        Some(String::new())
    }

    fn schema(_: Audience) -> Value {
        json!({ "type": "string", "maxLength": MAX_PATH_BYTES, "pattern": "^(/[^:,]+)?$", "examples": ["/home/jovyan"] })
    }
}

/// True if a volume can be mounted at this path: an absolute path without `.`, `..`, empty parts, colons, commas and
/// control characters, outside of the system's directories.
#[must_use]
pub fn is_mount_path(path: &str) -> bool {
    let Some(relative) = path.strip_prefix('/') else { return false };
    let is_part = |part: &str| !["", ".", ".."].contains(&part);
    let is_allowed = |character: char| !character.is_control() && ![':', ','].contains(&character);
    let top = relative.split('/').next().unwrap_or_default();
    path.len() <= MAX_PATH_BYTES
        && path.chars().all(is_allowed)
        && relative.split('/').all(is_part)
        && !SYSTEM_DIRECTORIES.contains(&top)
}

/// A partial Kubernetes PodTemplateSpec, without `null` values. `launcher-workshop` knows its fields.
pub(crate) enum PodTemplate {}

impl Codec for PodTemplate {
    type Value = JsonObject;

    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<JsonObject> {
        let Some(object) = json.as_object() else { return errors.wrong_type(at, FieldRule::Object) };
        let object = without_nulls(object.clone())?;
        errors.check(is_storable_pod_template(&object), at, FieldRule::PodTemplateSize);
        Some(object)
    }

    fn schema(_: Audience) -> Value {
        json!({ "type": "object", "examples": [{ "spec": { "nodeSelector": { "disk": "ssd" } } }] })
    }
}

pub(crate) enum AnyNumber {}

impl Codec for AnyNumber {
    type Value = Number;

    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<Number> {
        json.as_number().cloned().or_else(|| errors.wrong_type(at, FieldRule::Number))
    }

    fn schema(_: Audience) -> Value {
        json!({ "type": "number", "format": "double" })
    }
}

/// True when a text has an invisible character that could make it look like another text. The zero-width joiner and
/// non-joiner are allowed between two visible characters outside of ASCII: Persian and Indic words and emoji need them.
pub(crate) fn has_invisible(text: &str) -> bool {
    let characters: Vec<char> = text.chars().collect();
    let joins = |place: Option<usize>| {
        let neighbour = place.and_then(|place| characters.get(place));
        neighbour.is_some_and(|&next| !next.is_ascii() && !next.is_whitespace() && !is_invisible(next))
    };
    characters.iter().enumerate().any(|(place, &character)| {
        let is_joiner = matches!(character, '\u{200c}' | '\u{200d}');
        is_invisible(character) && !(is_joiner && joins(place.checked_sub(1)) && joins(place.checked_add(1)))
    })
}

/// True for control characters, and for invisible characters that reorder or join the visible text (Unicode 16, 23.2:
/// zero-width and bidirectional controls).
pub(crate) fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}
