//! Weights of the languages that a browser accepts.

/// Weight of a language without a weight.
pub const MAX_WEIGHT: u16 = 1000;

/// Parses a weight of `Accept-Language` (RFC 9110, 12.4.2): a number from 0 to 1 with at most three decimals. Returns it
/// in thousandths, which have a total order. An invalid weight is 0: the language is not acceptable.
#[must_use]
pub fn weight(text: &[u8]) -> u16 {
    match text {
        [b'1'] => MAX_WEIGHT,
        [b'1', b'.', zeros @ ..] if zeros.len() <= 3 && zeros.iter().all(|&digit| digit == b'0') => MAX_WEIGHT,
        [b'0', b'.', digits @ ..] if digits.len() <= 3 && digits.iter().all(u8::is_ascii_digit) => {
            let padded = digits.iter().copied().chain(std::iter::repeat(b'0')).take(3);
            padded.fold(0, |number, digit| number * 10 + u16::from(digit - b'0'))
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weight_is_parsed_in_thousandths_and_invalid_weight_is_zero() {
        let valid = [("1", 1000), ("1.000", 1000), ("0.5", 500), ("0.05", 50), ("0.001", 1), ("0.", 0), ("0", 0)];
        let invalid = ["1.1", "2", "nan", "inf", "-1", "0.1234", "0,5", "", ".5", "1.0000"].map(|text| (text, 0));
        for (text, expected) in valid.into_iter().chain(invalid) {
            assert_eq!(weight(text.as_bytes()), expected, "{text}");
        }
    }
}
