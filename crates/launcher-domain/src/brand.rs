//! The brand of an installation: its name, and its accent colour, whose texts everybody can read.

use std::fmt;

/// Maximum length of a name, in characters: it fits into the header of a phone.
const MAX_NAME: usize = 32;
/// Minimum contrast between a text and its background (WCAG 2.2, 1.4.3).
const MIN_CONTRAST: f64 = 4.5;
const WHITE: AccentColor = AccentColor([255; 3]);
const BLACK: AccentColor = AccentColor([0; 3]);
/// The lightest background on which the pages write with the accent colour in the dark scheme.
const DARK_BACKGROUND: AccentColor = AccentColor([0x25, 0x2e, 0x2b]);

/// Name of the installation, shown in place of the name of the product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrandName(String);

impl BrandName {
    /// Parses a name. Removes spaces at both ends.
    ///
    /// # Errors
    /// Returns the valid form.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let name = text.trim();
        if (1..=MAX_NAME).contains(&name.chars().count()) && !name.chars().any(char::is_control) {
            Ok(Self(name.to_owned()))
        } else {
            Err("write a name of 1 to 32 characters on one line, as in Statistics Lab")
        }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BrandName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The brand that the bar and the notices of a workshop show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Brand {
    /// Name of the installation, as the text of links to the launcher. `None`: the texts of the sidecar.
    pub name: Option<BrandName>,
    /// Colour of the bar's edge. `None`: the bar has no coloured edge.
    pub color: Option<AccentColor>,
}

impl Brand {
    /// No name and no colour.
    pub const NONE: Self = Self { name: None, color: None };

    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_ref().map(BrandName::as_str)
    }
}

/// Accent colour of an installation: red, green and blue. White text on it is readable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccentColor([u8; 3]);

/// The colours of one scheme, light or dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shades {
    /// Background of the main action, lines and the ring.
    pub accent: AccentColor,
    /// Texts in the accent colour, and the main action below the pointer.
    pub strong: AccentColor,
    /// Texts on the other two.
    pub on_accent: AccentColor,
}

impl AccentColor {
    /// Parses a colour.
    ///
    /// # Errors
    /// Returns the valid form. For a colour on which white text is not readable, returns its contrast and the nearest
    /// darker colour that is dark enough.
    pub fn parse(text: &str) -> Result<Self, String> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6);
        let mut color = [0; 3];
        digits
            .and_then(|digits| hex::decode_to_slice(digits, &mut color).ok())
            .ok_or("write a colour as #rrggbb, as in #0b6e63")?;
        let color = Self(color);
        let contrast = color.contrast(WHITE);
        if contrast >= MIN_CONTRAST {
            return Ok(color);
        }
        let darker = color.until(BLACK, |darker| darker.contrast(WHITE) >= MIN_CONTRAST);
        // Rounds down: 4.49 is not 4.5.
        let shown = (contrast * 10.0).floor() / 10.0;
        Err(format!(
            "white text on {color} has a contrast of {shown:.1} : 1, and needs {MIN_CONTRAST} : 1; \
             write a darker colour, as in {darker}"
        ))
    }

    /// Returns the shades of the light scheme.
    #[must_use]
    pub fn light(self) -> Shades {
        Shades { accent: self, strong: self.mix(BLACK, 25), on_accent: WHITE }
    }

    /// Returns the shades of the dark scheme: as light as needed for texts on dark surfaces.
    #[must_use]
    pub fn dark(self) -> Shades {
        let readable = |background: Self| move |shade: Self| shade.contrast(background) >= MIN_CONTRAST + 1.0;
        let accent = self.until(WHITE, readable(DARK_BACKGROUND));
        // Texts in this shade are also on a surface that has a tint of it.
        let strong = accent.mix(WHITE, 45);
        Shades { accent, strong, on_accent: self.until(BLACK, move |shade| readable(shade)(accent)) }
    }

    /// Returns the first mixture with `other` that satisfies the condition, else `other`.
    fn until(self, other: Self, is_enough: impl Fn(Self) -> bool) -> Self {
        (0..=100).map(|percent| self.mix(other, percent)).find(|mixed| is_enough(*mixed)).unwrap_or(other)
    }

    /// Returns a mixture that has this percentage of `other`.
    fn mix(self, other: Self, percent: u32) -> Self {
        let channel = |index: usize| {
            let [own, others] = [self.0[index], other.0[index]].map(u32::from);
            u8::try_from((own * (100 - percent) + others * percent) / 100).unwrap_or(u8::MAX)
        };
        Self([channel(0), channel(1), channel(2)])
    }

    /// Returns the contrast ratio of two colours, from 1 to 21 (WCAG 2.2).
    fn contrast(self, other: Self) -> f64 {
        let (own, others) = (self.luminance(), other.luminance());
        (own.max(others) + 0.05) / (own.min(others) + 0.05)
    }

    /// Returns the relative luminance, from 0 to 1 (WCAG 2.2).
    fn luminance(self) -> f64 {
        let [red, green, blue] = self.0.map(|channel| {
            let share = f64::from(channel) / 255.0;
            if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
}

impl fmt::Display for AccentColor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(formatter, "#{red:02x}{green:02x}{blue:02x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the accepted ones of 4,096 colours in all hues.
    fn accepted() -> impl Iterator<Item = AccentColor> {
        let steps = || (0..=255_u8).step_by(17);
        let colors = steps().flat_map(move |red| {
            steps().flat_map(move |green| steps().map(move |blue| format!("#{red:02x}{green:02x}{blue:02x}")))
        });
        colors.filter_map(|color| AccentColor::parse(&color).ok())
    }

    #[test]
    fn every_accepted_color_has_readable_texts_in_both_schemes() {
        for color in accepted() {
            for (shades, surface) in [(color.light(), WHITE), (color.dark(), DARK_BACKGROUND)] {
                let Shades { accent, strong, on_accent } = shades;
                // The tinted surface has 16 percent of the accent colour below the pointer.
                let tint = surface.mix(accent, 16);
                for (text, background) in
                    [(accent, surface), (strong, surface), (strong, tint), (on_accent, accent), (on_accent, strong)]
                {
                    let contrast = text.contrast(background);
                    assert!(contrast >= MIN_CONTRAST, "{color}: {text} on {background}: {contrast}");
                }
            }
        }
    }

    #[test]
    fn suggested_darker_color_is_accepted() {
        for (color, contrast) in [("#ffcc00", "1.5"), ("#ff0000", "3.9"), ("#ffffff", "1.0"), ("#7a7a7a", "4.2")] {
            let error = AccentColor::parse(color).unwrap_err();
            assert!(error.starts_with(&format!("white text on {color} has a contrast of {contrast} : 1")), "{error}");
            let suggested = error.rsplit(' ').next().unwrap();
            assert_eq!(AccentColor::parse(suggested).unwrap().to_string(), suggested);
        }
        assert_eq!(AccentColor::parse("#767676").unwrap().to_string(), "#767676");
    }

    #[test]
    fn other_texts_are_no_color_and_no_name() {
        for text in ["", "0b6e63", "#0b6e6", "#0b6e633", "#0b6e6g", "teal", "#0b6 63"] {
            assert!(AccentColor::parse(text).unwrap_err().starts_with("write a colour as #rrggbb"), "{text}");
        }
        for text in ["", "  ", "a\nb", "a\u{0}b", &"x".repeat(33)] {
            assert!(BrandName::parse(text).is_err(), "{text:?}");
        }
        assert_eq!(BrandName::parse(" Labor für Statistik ").unwrap().as_str(), "Labor für Statistik");
    }
}
