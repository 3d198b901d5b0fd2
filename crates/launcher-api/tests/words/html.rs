//! Finds text in templates: text between tags, and attributes that people read or hear.

use super::{Found, line_of};

/// Attributes with text that people read or hear, or that the script shows. Attributes that begin with `data-` count
/// too.
const READ: [&str; 10] = [
    "alt",
    "aria-description",
    "aria-label",
    "aria-roledescription",
    "aria-valuetext",
    "hx-confirm",
    "label",
    "lang",
    "placeholder",
    "title",
];

/// Returns all text in a template, with line numbers.
pub(crate) fn words(template: &str) -> Vec<Found> {
    let (html, mut found) = without_code(template);
    let mut at = 0;
    while let Some(rest) = html.get(at..).filter(|rest| !rest.is_empty()) {
        let end = if rest.starts_with("<!--") {
            rest.find("-->").map_or(rest.len(), |end| end + 3)
        } else if rest.starts_with('<') {
            let end = end_of_tag(rest);
            for value in read_attributes(&rest[..end]) {
                add(&mut found, &html, at + offset(rest, value), value);
            }
            end
        } else {
            let end = rest.find('<').unwrap_or(rest.len());
            let text = rest[..end].trim();
            add(&mut found, &html, at + offset(rest, text), text);
            end
        };
        at += end;
    }
    found
}

/// Returns true for the key of a message, or the name of its value.
fn is_key(literal: &str) -> bool {
    literal.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

fn offset(whole: &str, part: &str) -> usize {
    part.as_ptr() as usize - whole.as_ptr() as usize
}

fn add(found: &mut Vec<Found>, whole: &str, at: usize, text: &str) {
    if has_letters(text) {
        found.push(Found { line: line_of(whole, at), text: text.trim().to_owned() });
    }
}

/// Returns true if the text contains a letter outside character references such as `&nbsp;`.
fn has_letters(text: &str) -> bool {
    text.split('&').enumerate().any(|(index, part)| {
        let reference = if index == 0 { None } else { part.split_once(';') };
        reference.map_or(part, |(_, rest)| rest).chars().any(char::is_alphabetic)
    })
}

/// Replaces `{{ … }}`, `{% … %}` and `{# … #}` by spaces. Also returns the string literals in `{{ "…" }}`, which a page
/// shows.
fn without_code(template: &str) -> (String, Vec<Found>) {
    let (mut html, mut found, mut at) = (String::new(), Vec::new(), 0);
    let next = |at: usize| {
        let opening = [("{{", "}}"), ("{%", "%}"), ("{#", "#}")];
        let starts = opening.map(|(open, close)| template[at..].find(open).map(|start| (at + start, open, close)));
        starts.into_iter().flatten().min()
    };
    while let Some((start, open, close)) = next(at) {
        let end = template[start..].find(close).map_or(template.len(), |end| start + end + close.len());
        let code = &template[start..end];
        html.push_str(&template[at..start]);
        html.extend(code.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        if open == "{{" {
            let literals =
                code.split('"').skip(1).step_by(2).filter(|literal| !(code.contains("t.") && is_key(literal)));
            literals.for_each(|literal| add(&mut found, template, start + offset(code, literal), literal));
        }
        at = end;
    }
    html.push_str(&template[at..]);
    (html, found)
}

/// Returns the position of the end of a tag: the first `>` outside attribute values.
fn end_of_tag(tag: &str) -> usize {
    let mut quote = None;
    for (at, character) in tag.char_indices() {
        match (quote, character) {
            (None, '>') => return at + 1,
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            _ => {}
        }
    }
    tag.len()
}

/// Returns the values of a tag's attributes that people read or hear.
fn read_attributes(tag: &str) -> Vec<&str> {
    let attributes = attributes(tag);
    let has = |name: &str, values: &[&str]| attributes.iter().any(|(n, value)| *n == name && values.contains(value));
    let is_button = tag.starts_with("<input") && has("type", &["submit", "button", "reset"]);
    let is_described = tag.starts_with("<meta") && has("name", &["description"]);
    let is_read = |name: &str| {
        READ.contains(&name)
            || name.starts_with("data-")
            || (name == "value" && is_button)
            || (name == "content" && is_described)
    };
    attributes.iter().filter(|(name, _)| is_read(name)).map(|(_, value)| *value).collect()
}

/// Returns the names and values of a tag's attributes. All templates write the values in quotation marks.
fn attributes(tag: &str) -> Vec<(&str, &str)> {
    let (mut attributes, mut rest) = (Vec::new(), tag);
    while let Some((before, after)) = rest.split_once('=') {
        let name = before.rsplit(char::is_whitespace).next().unwrap_or(before);
        let Some(quote) = after.chars().next().filter(|quote| matches!(quote, '"' | '\'')) else { break };
        let Some((value, after)) = after[1..].split_once(quote) else { break };
        attributes.push((name, value));
        rest = after;
    }
    attributes
}

#[test]
fn html_scanner_finds_only_visible_text() {
    let lines = [
        (r#"<p class="muted">Words</p>"#, Some("Words")),
        (r#"<p>{{ t.text("a-key") }}: <b>{% if x == "y" %}–{% endif %}</b> ▲ &nbsp;</p>"#, None),
        (r#"<p>{{ "Words" }}</p>"#, Some("Words")),
        (r#"<input id="a" type="submit" value="Send">"#, Some("Send")),
        (r#"<input type="hidden" name="action" value="end">"#, None),
        (r#"<a href="/x?a=b" title="More > less">{{ x }}</a>"#, Some("More > less")),
        (r#"<p aria-label="Tick {{ name }}"{% if a %} hidden{% endif %}></p>"#, Some("Tick")),
        (r#"<body data-said="ends in">"#, Some("ends in")),
        (r#"<html lang="en">"#, Some("en")),
        (r#"<meta name="viewport" content="width=device-width"><!-- a comment -->"#, None),
    ];
    for (template, expected) in lines {
        let found = words(&format!("\n{template}"));
        let expected = expected.map(|text| Found { line: 2, text: text.to_owned() });
        assert_eq!(found, Vec::from_iter(expected), "{template}");
    }
}
