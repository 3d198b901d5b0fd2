//! Enums whose variants each have a fixed text. The database stores this text, and the API sends it.

/// An enum whose variants each have a text.
pub(crate) trait TextEnum: Sized {
    /// Returns the variant with exactly this text.
    fn of(text: &str) -> Option<Self>;

    /// Returns the texts of all variants, in the order of their declaration.
    fn texts() -> Vec<&'static str>;
}

/// Declares an enum of unit variants, each with its text. The macro adds three items to the enum:
///
/// - `ALL`: every variant, in the order of the declaration;
/// - `as_str`: the text of a variant;
/// - `parse`: the variant of a text, or `None`. The text must match exactly.
///
/// Attributes and doc comments stay on the enum and its variants. A serde derive needs a `rename_all` that gives the
/// same texts.
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
    (
        $(#[$enum_attribute:meta])*
        pub enum $name:ident {
            $($(#[$variant_attribute:meta])* $variant:ident = $text:literal,)+
        }
    ) => {
        $(#[$enum_attribute])*
        pub enum $name {
            $($(#[$variant_attribute])* $variant,)+
        }

        impl $crate::text_enum::TextEnum for $name {
            fn of(text: &str) -> Option<Self> {
                Self::parse(text)
            }

            fn texts() -> Vec<&'static str> {
                Self::ALL.map(Self::as_str).to_vec()
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

            /// Returns the variant with exactly this text.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|variant| variant.as_str() == text)
            }
        }
    };
}

pub(crate) use text_enum;
