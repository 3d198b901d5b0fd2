//! Finds text in code: string literals that read like text. A single word in lower case may be a name, so it counts
//! only if the code shows it directly.

use super::{Found, line_of};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    JavaScript,
    Rust,
}

/// Code that shows the string literal that follows it.
const SHOWS: [&str; 6] = ["say(", "textContent =", "innerText =", ".title =", "alert(", "confirm("];

/// Returns all text in a source file, with line numbers.
pub(crate) fn words(source: &str, language: Language) -> Vec<Found> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        let end = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '/' if language == Language::JavaScript && is_operand(&source[..at]) => literal(rest, '/'),
            '#' if language == Language::Rust && rest.starts_with("#[") => rest.find("]\n").unwrap_or(1),
            '\'' if language == Language::Rust => character(rest),
            '"' | '\'' | '`' => literal(rest, first),
            _ => first.len_utf8(),
        };
        if matches!(first, '"' | '\'' | '`') && end > 1 {
            let shown = SHOWS.iter().any(|shows| source[..at].trim_end().ends_with(shows));
            let text = without_values(&rest[1..end - 1], first, language);
            if is_readable(&text) || ((shown || first == '`') && text.chars().any(char::is_alphabetic)) {
                found.push(Found { line: line_of(source, at), text });
            }
        }
        at += end;
    }
    found
}

/// Returns true if a slash after this code begins a regular expression, not a division.
fn is_operand(before: &str) -> bool {
    before.trim_end().chars().next_back().is_none_or(|last| "(,=:[!&|?{};".contains(last))
}

/// Returns the length of a string literal, including its quotation marks.
fn literal(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Returns the length of a character literal; 1 for the quotation mark of a lifetime.
fn character(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    match (characters.next(), characters.next()) {
        (Some((_, '\\')), Some(_)) => rest[3..].find('\'').map_or(1, |end| end + 4),
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

/// Returns the string literal without its interpolated values, because these are code.
fn without_values(literal: &str, quote: char, language: Language) -> String {
    let open = match (language, quote) {
        (Language::JavaScript, '`') => "${",
        (Language::JavaScript, _) => return literal.to_owned(),
        (Language::Rust, _) => "{",
    };
    let (mut text, mut rest) = (String::new(), literal);
    while let Some((before, value)) = rest.split_once(open) {
        text.push_str(before);
        rest = value.split_once('}').map_or("", |(_, after)| after);
    }
    text + rest
}

/// Returns true for two or more words, and for one word with a capital letter.
fn is_readable(text: &str) -> bool {
    let words: Vec<&str> = text.split(' ').collect();
    let is_word =
        |word: &str| word.chars().next_back().is_some_and(|last| last.is_alphabetic() || ",.:;!?".contains(last));
    let begins = |word: &str| word.chars().next().is_some_and(char::is_alphabetic);
    let several = words.windows(2).any(|pair| is_word(pair[0]) && begins(pair[0]) && begins(pair[1]));
    let mut characters = text.chars();
    several || (characters.next().is_some_and(char::is_uppercase) && characters.next().is_some_and(char::is_lowercase))
}

#[test]
fn code_scanner_finds_text_and_ignores_names() {
    use Language::{JavaScript, Rust};
    let lines = [
        (JavaScript, r#"say("granted");"#, Some("granted")),
        (JavaScript, r#"button.textContent = 'off'"#, Some("off")),
        (JavaScript, r#"notify(box, "Save your work");"#, Some("Save your work")),
        (JavaScript, "const text = `${name}: ends in ${left}`;", Some(": ends in ")),
        (JavaScript, "const text = `(${name} ${left})`; // It isn't read", None),
        (JavaScript, r#"each("time[data-local]", x => x.replace(/"+/g, "-"));"#, None),
        (JavaScript, r#"if (state === "running") fetch("/fragments/workshops");"#, None),
        (Rust, r#"let label = "Older";"#, Some("Older")),
        (Rust, r#"format!("now, at most {most}")"#, Some("now, at most ")),
        (Rust, r#"format!("/history?after={}", last) // "It is not read""#, None),
        (Rust, r#"let quoted = text.starts_with('"') && name != "lifetime_seconds";"#, None),
        (Rust, r#"const POLICY: &str = "default-src 'none'; style-src 'self'";"#, None),
    ];
    for (language, line, expected) in lines {
        let expected = expected.map(|text| Found { line: 2, text: text.to_owned() });
        assert_eq!(words(&format!("\n{line}"), language), Vec::from_iter(expected), "{line}");
    }
}
