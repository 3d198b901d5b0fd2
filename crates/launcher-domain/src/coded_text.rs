//! English texts with a code and named arguments. A page translates a text by its code, and inserts the arguments.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Code of a text, with its arguments.
// The code may be unknown to this version, if a newer version stored it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct CodedText {
    /// Code of the text, as in `exit-status`.
    pub code: String,
    /// Values by argument name.
    // Numbers are in decimal digits.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    pub args: BTreeMap<String, String>,
}

/// Key of a translatable text, with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextKey {
    /// Key in kebab-case: a prefix for the kind of text, and the text's code.
    pub key: String,
    /// Values by argument name. Numbers are in decimal digits.
    pub args: BTreeMap<String, String>,
}

impl TextKey {
    /// Creates the key of a text without arguments.
    pub(crate) fn plain(prefix: &str, code: &str) -> Self {
        Self { key: format!("{prefix}-{code}"), args: BTreeMap::new() }
    }

    /// Creates the key of a text.
    pub(crate) fn of(prefix: &str, text: &CodedText) -> Self {
        Self { args: text.args.clone(), ..Self::plain(prefix, &text.code) }
    }
}

/// Declares an enum of texts, with the prefix of their keys. Each variant has a code, an English text, and named arguments
/// of type `String`. The text contains each argument as `{name}`. The macro adds these items to the enum:
///
/// - `TEXTS`: code, English text and argument names of every variant, in the order of the declaration;
/// - `code`: the code of a value;
/// - `coded`: code and arguments of a value;
/// - `key`: the key of a value for translators, `<prefix>-<code>`;
/// - `Display`: the English text with the arguments.
///
/// ```ignore
/// coded_texts! {
///     /// Remarks.
///     #[derive(Debug)]
///     pub enum Remark as "remark" {
///         /// A long wait.
///         Slow { seconds } = "slow", "It took {seconds} s.";
///     }
/// }
///
/// assert_eq!(Remark::Slow { seconds: "3".to_owned() }.to_string(), "It took 3 s.");
/// ```
macro_rules! coded_texts {
    (
        $(#[$enum_attribute:meta])*
        pub enum $name:ident as $prefix:literal {
            $(
                $(#[$variant_attribute:meta])*
                $variant:ident $({ $($arg:ident),+ })? = $code:literal, $text:literal;
            )+
        }
    ) => {
        $(#[$enum_attribute])*
        pub enum $name {
            $(
                $(#[$variant_attribute])*
                #[doc = concat!("\n\n", $text)]
                $variant $({
                    $(
                        #[doc = "Argument of the text."]
                        $arg: String,
                    )+
                })?,
            )+
        }

        impl $name {
            /// Prefix of the keys of these texts.
            const KEY_PREFIX: &'static str = $prefix;

            /// Code, English text and argument names of every variant, in the order of their declaration.
            pub const TEXTS: &'static [(&'static str, &'static str, &'static [&'static str])] =
                &[$(($code, $text, &[$($(stringify!($arg)),+)?]),)+];

            /// Returns the code of this text, in kebab-case.
            #[must_use]
            pub fn code(&self) -> &'static str {
                match self {
                    $(Self::$variant $({ $($arg: _),+ })? => $code,)+
                }
            }

            /// Returns code and arguments of this text.
            #[must_use]
            pub fn coded(&self) -> $crate::coded_text::CodedText {
                let args = match self {
                    $(Self::$variant $({ $($arg),+ })? => [
                        $($((stringify!($arg).to_owned(), $arg.clone())),+)?
                    ].into_iter().collect(),)+
                };
                $crate::coded_text::CodedText { code: self.code().to_owned(), args }
            }

            /// Returns the key of this text for translators.
            #[must_use]
            pub fn key(&self) -> $crate::coded_text::TextKey {
                $crate::coded_text::TextKey::of(Self::KEY_PREFIX, &self.coded())
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $(Self::$variant $({ $($arg),+ })? => {
                        // A text may omit an argument that only translations need.
                        $($(let _ = $arg;)+)?
                        write!(f, $text)
                    })+
                }
            }
        }
    };
}

pub(crate) use coded_texts;
