//! Renders Markdown of admins as safe HTML.

use std::collections::HashSet;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

/// Maximum length of a template's teaser in the catalog, in characters.
const TEASER: usize = 180;

/// Converts Markdown to HTML without active content. Removes scripts, styles, forms, event attributes, images of other
/// sites, and URLs other than http, https and mailto. Headings start at `h2`, because the page has an `h1`.
pub(crate) fn to_html(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut rough = String::with_capacity(markdown.len() * 2);
    html::push_html(&mut rough, Parser::new_ext(markdown, options).map(lower_heading));
    ammonia::Builder::default()
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .rm_tags(["img", "area", "map"])
        .link_rel(Some("noopener noreferrer"))
        .set_tag_attribute_value("a", "target", "_blank")
        .clean(&rough)
        .to_string()
}

fn lower_heading(event: Event<'_>) -> Event<'_> {
    let lower = |level: HeadingLevel| HeadingLevel::try_from(level as usize + 1).unwrap_or(HeadingLevel::H6);
    match event {
        Event::Start(Tag::Heading { level, id, classes, attrs }) => {
            Event::Start(Tag::Heading { level: lower(level), id, classes, attrs })
        }
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(lower(level))),
        other => other,
    }
}

/// Returns the first paragraphs of Markdown as plain text, for a card in the catalog. Skips headings. Stops at a list,
/// table or code block that follows some text, because these are hard to read without their layout.
pub(crate) fn teaser(markdown: &str) -> String {
    let mut text = String::new();
    let mut heading = false;
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = true,
            Event::End(TagEnd::Heading(_)) => heading = false,
            Event::Start(Tag::List(_) | Tag::Table(_) | Tag::CodeBlock(_)) if !text.is_empty() => break,
            Event::Text(part) | Event::Code(part) if !heading => text.push_str(&part),
            Event::SoftBreak | Event::HardBreak | Event::End(TagEnd::Paragraph | TagEnd::Item) => text.push(' '),
            _ => {}
        }
        if text.chars().count() > TEASER {
            break;
        }
    }
    shorten(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= TEASER {
        return text.to_owned();
    }
    let cut: String = text.chars().take(TEASER).collect();
    let whole_words = cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words);
    format!("{whole_words}…")
}
