//! Enums whose variants each have a fixed text. The database stores this text, and the API sends it.

use std::borrow::Cow;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// An enum whose variants each have a text.
pub(crate) trait TextEnum: Sized {
    /// Returns the variant with exactly this text.
    fn of(text: &str) -> Option<Self>;

    /// Returns the texts of all variants, in the order of their declaration.
    fn texts() -> Vec<&'static str>;
}

/// Deserializes the text of a variant.
pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: TextEnum>(deserializer: D) -> Result<T, D::Error> {
    let text = Cow::<str>::deserialize(deserializer)?;
    T::of(&text).ok_or_else(|| D::Error::custom(format!("`{text}` is none of {}", T::texts().join(", "))))
}

/// Deserializes the text of a variant, or nothing. A text that only a newer version knows becomes `None`.
pub(crate) fn known<'de, D: Deserializer<'de>, T: TextEnum>(deserializer: D) -> Result<Option<T>, D::Error> {
    let text = Option::<Cow<str>>::deserialize(deserializer)?;
    Ok(text.and_then(|text| T::of(&text)))
}

/// Declares an enum of unit variants, each with its text. The macro adds four items to the enum:
///
/// - `ALL`: every variant, in the order of the declaration;
/// - `as_str`: the text of a variant;
/// - `about`: the doc comment of a variant;
/// - `parse`: the variant of a text, or `None`. The text must match exactly.
///
/// Serde and the schema use the same texts. Attributes and doc comments stay on the enum, doc comments on its variants.
///
/// ```ignore
/// text_enum! {
///     /// Colour of a light.
///     #[derive(Debug, Clone, Copy, PartialEq, Eq)]
///     pub enum Colour {
///         /// Stop.
///         Red = "red",
///         /// Go.
///         DarkGreen = "dark-green",
///     }
/// }
///
/// assert_eq!(Colour::ALL, [Colour::Red, Colour::DarkGreen]);
/// assert_eq!(Colour::DarkGreen.as_str(), "dark-green");
/// assert_eq!(Colour::parse("red"), Some(Colour::Red));
/// assert_eq!(Colour::parse("Red"), None);
/// ```
macro_rules! text_enum {
    (@about $(#[doc = $about:literal])+ $(#[default])?) => { concat!($($about),+).trim_ascii() };
    (
        $(#[$enum_attribute:meta])*
        pub enum $name:ident {
            $($(#[$($variant_attribute:tt)+])+ $variant:ident = $text:literal,)+
        }
    ) => {
        $(#[$enum_attribute])*
        pub enum $name {
            $($(#[$($variant_attribute)+])+ $variant,)+
        }

        impl $crate::text_enum::TextEnum for $name {
            fn of(text: &str) -> Option<Self> {
                Self::parse(text)
            }

            fn texts() -> Vec<&'static str> {
                Self::ALL.map(Self::as_str).to_vec()
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::text_enum::deserialize(deserializer)
            }
        }

        impl ::schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                String::json_schema(generator)
            }
        }

        impl $name {
            /// All variants, in the order of their declaration.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            /// Returns the text of this variant.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// Returns the doc comment of this variant.
            #[must_use]
            pub fn about(self) -> &'static str {
                match self {
                    $(Self::$variant => text_enum!(@about $(#[$($variant_attribute)+])+),)+
                }
            }

            /// Returns the variant with exactly this text.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|variant| variant.as_str() == text)
            }
        }
    };
}

pub(crate) use text_enum;

/// Implements the conversions from and to text of a type with `as_str`: `parse` reads it, and the field has the text.
macro_rules! text_conversions {
    ($type:ident.$field:tt, $error:ty, $parse:expr) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl TryFrom<String> for $type {
            type Error = $error;

            fn try_from(text: String) -> Result<Self, $error> {
                let parse: fn(&str) -> Result<Self, $error> = $parse;
                parse(&text)
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.$field.into()
            }
        }
    };
}
pub(crate) use text_conversions;
