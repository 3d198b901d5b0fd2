//! Command lines as people type them into a shell.

use crate::coded_text::{TextKey, coded_texts};

/// Placeholder for the app's port in a command. All fleets replace it.
const PORT: &str = "$(PORT)";

coded_texts! {
    /// Reason why a command line cannot be split into words.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum CommandLineError {
        /// A quotation mark has no counterpart.
        OpenQuote { quote } = "command-open-quote", "the quotation mark {quote} is not closed";
        /// The last character is a backslash.
        OpenEscape = "command-open-escape", "a character must follow the last backslash";
        /// The line has a NUL character.
        Nul = "command-nul", "the line contains a NUL character";
        /// Only a shell joins or redirects commands.
        Operator { text } = "command-operator",
            "no shell runs this command, so {text} has no effect: put the line into sh -c \"…\", or quote {text} to pass it on";
        /// Only a shell replaces variables and commands.
        Expansion { text } = "command-expansion",
            "no shell runs this command, so it does not replace {text}: put the line into sh -c '…', or write '{text}' to pass it on";
        /// Only a shell replaces patterns of file names.
        Pattern { text } = "command-pattern",
            "no shell runs this command, so it does not replace {text} by file names: put the line into sh -c \"…\", or write '{text}' to pass it on";
        /// A shell ignores the rest of the line.
        Comment = "command-comment", "a word must not start with #: write '#' to pass it on";
    }
}

impl CommandLineError {
    /// Returns the key of this error for translators: `input-<code>`.
    #[must_use]
    pub fn key(&self) -> TextKey {
        TextKey::of("input", &self.coded())
    }
}

/// Splits a command line into words by the rules of POSIX shells. `$(PORT)` stays as it is.
///
/// # Errors
/// [`CommandLineError`] for an open quotation mark, and for anything that only a shell does: operators, variables,
/// commands in commands, patterns and comments.
pub fn parse_command_line(line: &str) -> Result<Vec<String>, CommandLineError> {
    if line.contains('\0') {
        return Err(CommandLineError::Nul);
    }
    let open = Scanner::default().scan(line)?;
    shlex::split(line).ok_or_else(|| match open {
        Quote::None => CommandLineError::OpenEscape,
        Quote::Single => CommandLineError::OpenQuote { quote: "'".to_owned() },
        Quote::Double => CommandLineError::OpenQuote { quote: "\"".to_owned() },
    })
}

/// Joins words to a command line, with quotation marks where they are needed. [`parse_command_line`] returns the words.
#[must_use]
pub fn command_line<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let quoted = words.into_iter().map(|word| match is_plain(word) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// True if a word needs no quotation marks. The parser accepts `$(PORT)` without them.
fn is_plain(word: &str) -> bool {
    let is_safe = |character: char| character.is_alphanumeric() || "+-./:@_=,%".contains(character);
    !word.is_empty() && word.replace(PORT, "").chars().all(is_safe)
}

/// Quotation at one character of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Quote {
    #[default]
    None,
    Single,
    Double,
}

/// Finds the constructs of a shell in a line. `shlex` only splits: to it, they are plain text.
#[derive(Debug, Default)]
struct Scanner {
    quote: Quote,
    /// True after the first character of a word.
    in_word: bool,
}

impl Scanner {
    /// Returns the quotation at the end of the line.
    fn scan(mut self, line: &str) -> Result<Quote, CommandLineError> {
        let mut rest = line;
        while let Some(character) = rest.chars().next() {
            let escaped = character == '\\' && self.quote != Quote::Single;
            let length = if escaped {
                1 + rest[1..].chars().next().map_or(0, char::len_utf8)
            } else if character == '$' && self.quote != Quote::Single && rest.starts_with(PORT) {
                PORT.len()
            } else {
                self.check(character, rest)?;
                character.len_utf8()
            };
            self.in_word = self.quote != Quote::None || escaped || !matches!(character, ' ' | '\t' | '\n');
            rest = &rest[length..];
        }
        Ok(self.quote)
    }

    /// Checks one character, and follows the quotation marks.
    fn check(&mut self, character: char, rest: &str) -> Result<(), CommandLineError> {
        match (self.quote, character) {
            (Quote::Single, '\'') | (Quote::Double, '"') => self.quote = Quote::None,
            (Quote::Single, _) => {}
            (quote, '$') if is_expansion(rest, quote) => return Err(CommandLineError::Expansion { text: word(rest) }),
            (_, '`') => return Err(CommandLineError::Expansion { text: word(rest) }),
            (Quote::Double, _) => {}
            (Quote::None, '\'') => self.quote = Quote::Single,
            (Quote::None, '"') => self.quote = Quote::Double,
            (Quote::None, '|' | '&' | ';' | '<' | '>' | '(' | ')') => {
                return Err(CommandLineError::Operator { text: operator(rest) });
            }
            (Quote::None, '*' | '?' | '[') => return Err(CommandLineError::Pattern { text: character.to_string() }),
            (Quote::None, '~') if !self.in_word => {
                return Err(CommandLineError::Expansion { text: word(rest) });
            }
            (Quote::None, '#') if !self.in_word => return Err(CommandLineError::Comment),
            _ => {}
        }
        Ok(())
    }
}

/// True if a shell replaces the text that starts with this `$`. A quotation mark after `$` has a meaning only outside of
/// double quotation marks.
fn is_expansion(rest: &str, quote: Quote) -> bool {
    let special = if quote == Quote::Double { "_{(?@*#$!-" } else { "_{(?@*#$!-'\"" };
    rest[1..].starts_with(|next: char| next.is_ascii_alphanumeric() || special.contains(next))
}

/// Returns the operator at the start of a text, for example `&&`.
fn operator(rest: &str) -> String {
    rest.chars().take_while(|character| "|&;<>()".contains(*character)).take(2).collect()
}

/// Returns the start of a text up to white space or a quotation mark, at most 20 characters.
fn word(rest: &str) -> String {
    rest.chars().take_while(|character| !character.is_whitespace() && !"\"'".contains(*character)).take(20).collect()
}
