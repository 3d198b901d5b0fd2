//! CPU and memory quantities in Kubernetes notation: `500m`, `2`, `1.5`, `256Mi`, `2G`.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::text_enum::text_conversions;

/// A positive quantity that keeps its original text.
///
/// Source of the notation: the Kubernetes API reference, "Quantity". Exponents (`1e3`) and negative amounts are not
/// supported: they are unusual for CPU and memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Quantity {
    text: String,
    /// Amount in thousandths of the unit (cores or bytes).
    milli: u128,
}

/// Error: the text is not a quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a Kubernetes quantity above zero: write for example 500m or 2 for CPU, 512Mi or 2Gi for memory")]
pub struct QuantityError(pub String);

const SUFFIXES: [(&str, u128); 12] = [
    ("Ki", 1 << 10),
    ("Mi", 1 << 20),
    ("Gi", 1 << 30),
    ("Ti", 1 << 40),
    ("Pi", 1 << 50),
    ("Ei", 1 << 60),
    ("k", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
    ("T", 1_000_000_000_000),
    ("P", 1_000_000_000_000_000),
    ("E", 1_000_000_000_000_000_000),
];

impl Quantity {
    /// Parses a quantity.
    ///
    /// # Errors
    /// [`QuantityError`] unless the text is a positive decimal number with at most three decimal places and one of the
    /// suffixes m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei or none.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let error = || QuantityError(text.chars().take(40).collect());
        let (number, factor, divisor) = match SUFFIXES.iter().find(|(suffix, _)| text.ends_with(suffix)) {
            Some((suffix, factor)) => (&text[..text.len() - suffix.len()], *factor, 1),
            None => text.strip_suffix('m').map_or((text, 1, 1), |number| (number, 1, 1000)),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
        let digits = |part: &str, most: usize| {
            (1..=most).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
        };
        if !digits(whole, 15) || !digits(fraction, 3) {
            return Err(error());
        }
        let whole: u128 = whole.parse().map_err(|_| error())?;
        let thousandths: u128 = format!("{fraction:0<3}").parse().map_err(|_| error())?;
        // At most 10^18 thousandths times 2^60: far below the maximum of `u128`.
        let milli = (whole * 1000 + thousandths) * factor / divisor;
        if milli == 0 {
            return Err(error());
        }
        Ok(Self { text: text.to_owned(), milli })
    }

    /// Returns the original text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the amount in thousandths of the unit: millicores, or thousandths of a byte.
    #[must_use]
    pub fn milli(&self) -> u128 {
        self.milli
    }

    /// Compares two quantities by value, regardless of their suffixes (`1000m` equals `1`).
    #[must_use]
    pub fn compare(&self, other: &Self) -> Ordering {
        self.milli.cmp(&other.milli)
    }
}

text_conversions!(Quantity.text, QuantityError, Quantity::parse);
