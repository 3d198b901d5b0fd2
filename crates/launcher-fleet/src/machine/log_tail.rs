//! The last lines of an app's output, as plain text.

/// Number of last lines that a crash report quotes.
const TAIL_LINES: usize = 20;
const TAIL_LINE_CHARACTERS: usize = 400;

/// Returns the last lines of an app's output as plain text, or `None` if there are none. Escape sequences and control
/// characters are removed.
pub(crate) fn plain_tail(output: &[u8]) -> Option<String> {
    let text = strip_ansi_escapes::strip(output);
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<String> = text.lines().map(plain).filter(|line| !line.trim().is_empty()).collect();
    let last = lines.len().saturating_sub(TAIL_LINES);
    (!lines.is_empty()).then(|| lines[last..].join("\n"))
}

fn plain(line: &str) -> String {
    line.chars().filter(|character| !character.is_control() || *character == '\t').take(TAIL_LINE_CHARACTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::{TAIL_LINE_CHARACTERS, plain_tail};

    #[test]
    fn tail_is_plain_text_of_bounded_size() {
        let lines: Vec<String> = (1..=30).map(|number| format!("\x1b[31mline {number}\x1b[0m\x07")).collect();
        let output = format!("{}\n\n\x1b]0;title\x07{}\u{9b}\n", lines.join("\n"), "x".repeat(9000));

        let tail = plain_tail(output.as_bytes()).unwrap();

        let lines: Vec<&str> = tail.lines().collect();
        assert_eq!(lines.len(), 20);
        assert_eq!(lines[0], "line 12");
        assert_eq!(lines[19], "x".repeat(TAIL_LINE_CHARACTERS));
    }

    #[test]
    fn empty_output_has_no_tail() {
        assert_eq!(plain_tail(b"\n \n"), None);
    }
}
