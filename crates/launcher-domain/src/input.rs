//! Parsers for values that people type into a form: durations, amounts of CPU and memory, and command lines.
//!
//! Each parser returns its error as a text with a code, so that a page can translate it.

use crate::coded_text::coded_texts;
use crate::quantity::Quantity;

/// Minimum number of bytes that may lack a unit: a smaller number is a forgotten unit, as in `4` for 4 GB.
const MIN_PLAIN_BYTES: u64 = 1_000_000;

/// Suffixes of Kubernetes quantities, with the accepted units in lower case.
const MEMORY_UNITS: [(&str, [&str; 2]); 8] = [
    ("k", ["k", "kb"]),
    ("M", ["mb", "mbyte"]),
    ("G", ["g", "gb"]),
    ("T", ["t", "tb"]),
    ("Ki", ["ki", "kib"]),
    ("Mi", ["mi", "mib"]),
    ("Gi", ["gi", "gib"]),
    ("Ti", ["ti", "tib"]),
];

coded_texts! {
    /// Reason why a text is not an amount of CPU or memory.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum AmountError as "input" {
        Memory = "memory-unreadable", "write an amount of memory such as 512 MB, 4 GB or 2 GiB";
        /// The number is too small for bytes.
        MemoryUnit = "memory-unit", "write the unit of the memory, such as MB, GB or GiB";
        Cpu = "cpu-unreadable", "write a number of CPU cores such as 2, 0.5 or 500m";
    }
}

/// Parses an amount of memory: a number with at most three decimal places, and a unit (kB, MB, GB, TB, KiB, MiB, GiB,
/// TiB, or the suffix of a Kubernetes quantity). Letters may be in any case, except for `M`: a Kubernetes quantity with
/// `m` means thousandths of a byte. A number of at least 1,000,000 without a unit means bytes.
///
/// # Errors
/// [`AmountError`] with the reason.
pub fn parse_memory(text: &str) -> Result<Quantity, AmountError> {
    let (number, unit) = number_and_unit(text);
    let lower = unit.to_ascii_lowercase();
    let suffix = match unit {
        "" => {
            let bytes: u64 = number.parse().map_err(|_| AmountError::MemoryUnit)?;
            if bytes < MIN_PLAIN_BYTES {
                return Err(AmountError::MemoryUnit);
            }
            ""
        }
        "M" => "M",
        _ => {
            let known = MEMORY_UNITS.iter().find(|(_, names)| names.contains(&lower.as_str()));
            known.ok_or(AmountError::Memory)?.0
        }
    };
    Quantity::parse(&format!("{number}{suffix}")).map_err(|_| AmountError::Memory)
}

/// Parses an amount of CPU: a number of cores with at most three decimal places, or of thousandths with the unit `m`.
/// The words `core`, `cores` and `CPU` may follow a number of cores.
///
/// # Errors
/// [`AmountError::Cpu`].
pub fn parse_cpu(text: &str) -> Result<Quantity, AmountError> {
    let (number, unit) = number_and_unit(text);
    let suffix = match unit.to_ascii_lowercase().as_str() {
        "" | "core" | "cores" | "cpu" | "cpus" => "",
        _ if unit == "m" => "m",
        _ => return Err(AmountError::Cpu),
    };
    Quantity::parse(&format!("{number}{suffix}")).map_err(|_| AmountError::Cpu)
}

fn number_and_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (number, unit.trim_start())
}

/// Placeholders in a command for the app's port, and for the workshop's host and origin. All fleets replace them.
const PLACEHOLDERS: [&str; 3] = ["$(PORT)", "$(HOST)", "$(ORIGIN)"];

coded_texts! {
    /// Reason why a command line cannot be split into words.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum CommandLineError as "input" {
        OpenQuote { quote } = "command-open-quote", "the quotation mark {quote} is not closed";
        OpenEscape = "command-open-escape", "a character must follow the last backslash";
        Nul = "command-nul", "the line contains a NUL character";
        Operator { text } = "command-operator",
            "no shell runs this command, so {text} has no effect: put the line into sh -c \"…\", or quote {text} to pass it on";
        Expansion { text } = "command-expansion",
            "no shell runs this command, so it does not replace {text}: put the line into sh -c '…', or write '{text}' to pass it on";
        Pattern { text } = "command-pattern",
            "no shell runs this command, so it does not replace {text} by file names: put the line into sh -c \"…\", or write '{text}' to pass it on";
        /// A shell ignores the rest of the line.
        Comment = "command-comment", "a word must not start with #: write '#' to pass it on";
    }
}

/// Splits a command line into words by the rules of POSIX shells. [`PLACEHOLDERS`] stay as they are.
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

/// True if a word needs no quotation marks. The parser accepts [`PLACEHOLDERS`] without them.
fn is_plain(word: &str) -> bool {
    let is_safe = |character: char| character.is_alphanumeric() || "+-./:@_=,%".contains(character);
    let rest = PLACEHOLDERS.iter().fold(word.to_owned(), |word, placeholder| word.replace(placeholder, "x"));
    !word.is_empty() && rest.chars().all(is_safe)
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
            } else if let Some(placeholder) = PLACEHOLDERS.iter().find(|placeholder| rest.starts_with(**placeholder))
                && self.quote != Quote::Single
            {
                placeholder.len()
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

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Units, greatest first: seconds, and the accepted names in lower case.
const UNITS: [(u64, &[&str]); 4] = [
    (DAY, &["d", "day", "days"]),
    (HOUR, &["h", "hr", "hrs", "hour", "hours"]),
    (MINUTE, &["m", "min", "mins", "minute", "minutes"]),
    (1, &["s", "sec", "secs", "second", "seconds"]),
];

coded_texts! {
    /// Reason why a text is not a duration.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum DurationError as "input" {
        Unreadable = "duration-unreadable", "write a duration such as 2 h, 90 min, 1 h 30 min or 2 days";
        Colon = "duration-colon",
            "a duration with a colon is ambiguous: write 1 h 30 min for hours, 1 min 30 s for minutes";
        /// A unit is repeated, or follows a smaller one, or a later number has no unit.
        Order = "duration-order", "write the greatest unit first, and each unit once, as in 1 h 30 min";
        /// The duration exceeds 4,294,967,295 seconds.
        TooLong = "duration-too-long", "the duration is too long";
    }
}

/// Parses a duration, and returns it in seconds. A number without a unit means seconds. Letters may be in any case.
///
/// # Errors
/// [`DurationError`] with the reason.
pub fn parse_duration(text: &str) -> Result<u32, DurationError> {
    if text.contains(':') {
        return Err(DurationError::Colon);
    }
    let text = text.trim().to_ascii_lowercase();
    if is_number(&text) {
        return text.parse().map_err(|_| DurationError::TooLong);
    }
    let mut rest = text.as_str();
    let mut smallest = u64::MAX;
    let mut seconds: u64 = 0;
    while !rest.is_empty() {
        let (number, unit, after) = next_part(rest)?;
        let number: u64 = number.parse().map_err(|_| DurationError::TooLong)?;
        if unit >= smallest {
            return Err(DurationError::Order);
        }
        smallest = unit;
        let part = number.checked_mul(unit).ok_or(DurationError::TooLong)?;
        seconds = seconds.checked_add(part).ok_or(DurationError::TooLong)?;
        rest = after;
    }
    if smallest == u64::MAX {
        return Err(DurationError::Unreadable);
    }
    u32::try_from(seconds).map_err(|_| DurationError::TooLong)
}

/// Splits off a number and its unit. Returns the number's digits, the unit in seconds, and the rest of the text.
fn next_part(text: &str) -> Result<(&str, u64, &str), DurationError> {
    let (number, rest) = split_while(text, |character| character.is_ascii_digit());
    let (name, after) = split_while(rest.trim_start(), |character| character.is_ascii_alphabetic());
    if number.is_empty() {
        return Err(DurationError::Unreadable);
    }
    if name.is_empty() && after.trim_start().is_empty() {
        return Err(DurationError::Order);
    }
    let unit = UNITS.iter().find(|(_, names)| names.contains(&name)).ok_or(DurationError::Unreadable)?;
    Ok((number, unit.0, after.trim_start()))
}

fn split_while(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|character| !belongs(character)).unwrap_or(text.len()))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Formats seconds with the greatest possible units, without zero parts: `1 h 30 min`, `2 days`. [`parse_duration`]
/// accepts the text.
#[must_use]
pub fn duration(seconds: u32) -> String {
    let mut rest = u64::from(seconds);
    let mut parts = Vec::new();
    for (unit, name) in [(DAY, "days"), (HOUR, "h"), (MINUTE, "min"), (1, "s")] {
        let count = rest / unit;
        rest %= unit;
        if count > 0 {
            let name = if unit == DAY && count == 1 { "day" } else { name };
            parts.push(format!("{count} {name}"));
        }
    }
    if parts.is_empty() { "0 s".to_owned() } else { parts.join(" ") }
}
