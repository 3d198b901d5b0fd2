//! Invisible characters in texts that users read.

/// True when a text has an invisible character that could make it look like another text. The zero-width joiner and
/// non-joiner are allowed between two visible characters outside of ASCII: Persian and Indic words and emoji need them.
pub(super) fn has_invisible(text: &str) -> bool {
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
