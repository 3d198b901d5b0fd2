//! HTML of the frame page, and the files that the page loads.

use jiff::Timestamp;
use launcher_domain::MaterialTrouble;
use launcher_domain::brand::Brand;
use launcher_domain::frame_path::{EVENTS, FRAME, MATERIAL, PLAIN_COOKIE, PREFIX, STATUS, WORKER};
use launcher_domain::local_path::LocalPath;

use crate::frame::WorkshopPage;
use crate::notice::escape;
use crate::texts::{Language, NoticeText, Texts};

/// Content security policy of the frame page: only its own files, no inline script or style, and only pages of the
/// workshop's origin in its frame. No page may show the frame page in a frame.
pub(super) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                                 img-src 'self' data:; frame-src 'self'; worker-src 'self'; base-uri 'none'; \
                                 form-action 'none'; frame-ancestors 'none'";

/// Permissions that the app needs in its frame, as it has them without a frame.
const ALLOW: &str = "autoplay; camera; clipboard-read; clipboard-write; display-capture; fullscreen; geolocation; \
                     microphone";

/// The values of one frame page.
#[derive(Debug)]
pub(super) struct Page<'a> {
    pub(super) language: Language,
    /// Path of the app in the frame.
    pub(super) path: &'a LocalPath,
    /// Path of the app's first page.
    pub(super) start_path: &'a LocalPath,
    pub(super) workshop_page: Option<&'a WorkshopPage>,
    /// Name of the course: any characters.
    pub(super) course: Option<&'a str>,
    /// Trouble of the course material, which the bar repeats.
    pub(super) material: Option<MaterialTrouble>,
    pub(super) brand: &'a Brand,
    /// The expiry, if it is known. Only then can the owner extend the workshop here.
    pub(super) expiry: Option<Timestamp>,
    /// Path below which the launcher answers about the workshop and its class.
    pub(super) class_path: Option<String>,
    pub(super) in_class: bool,
}

impl Page<'_> {
    pub(super) fn html(&self) -> String {
        let texts = self.language.texts();
        let Texts { code, direction, workshop, bar, app, left, warning, over, signed_out, .. } = texts;
        let Texts { crashed, out_of_memory, files_lost, down, loading, .. } = texts;
        let (style, script, ends, links) =
            (url("frame.css", &style(self.brand)), SCRIPT.url(), self.ends(texts), self.links(texts));
        let (answer_script, answer, other_site) = (ANSWER.url(), answer(texts), other_site(texts));
        let [class_script, class] = self.class(texts);
        let launcher = self.workshop_page.map_or("", WorkshopPage::origin);
        let stopped = self.class_path.as_ref().map(|path| format!("{path}stopped")).unwrap_or_default();
        let (path, start) = (escape(self.path.as_str()), escape(self.start_path.as_str()));
        let course = self.course.map(escape).unwrap_or_default();
        let title = if course.is_empty() { workshop } else { &*course };
        let (cover, material) = (self.cover(texts), self.material.map_or("", MaterialTrouble::as_str));
        let trouble = self.material.map_or("", |trouble| match trouble {
            MaterialTrouble::Failed => texts.material_failed,
            MaterialTrouble::Conflicts => texts.material_conflicts,
        });
        format!(
            "<!doctype html>\n<html lang=\"{code}\" dir=\"{direction}\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
             <link id=\"icon\" rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"{style}\">\n\
             <script defer src=\"{script}\"></script>\n<script defer src=\"{answer_script}\"></script>\n{class_script}</head>\n\
             <body data-prefix=\"{PREFIX}\" data-frame=\"{FRAME}\" data-start=\"{start}\" data-status=\"{STATUS}\" \
             data-events=\"{EVENTS}\" data-stopped=\"{stopped}\" data-worker=\"{WORKER}\" data-plain=\"{PLAIN_COOKIE}\" \
             data-material=\"{MATERIAL}\" data-trouble=\"{material}\" \
             data-launcher=\"{launcher}\" data-left=\"{left}\" data-warning=\"{warning}\" data-over=\"{over}\" \
             data-signed-out=\"{signed_out}\" data-crashed=\"{crashed}\" data-out-of-memory=\"{out_of_memory}\" \
             data-files-lost=\"{files_lost}\" data-down=\"{down}\">\n\
             <header class=\"bar\" aria-label=\"{bar}\">\n<h1 id=\"title\" class=\"hidden\">{title}</h1>\n\
             <p id=\"course\" dir=\"auto\">{course}</p>\n<p id=\"left\"></p>\n<p id=\"warning\"></p>\n\
             <p id=\"material\">{trouble}</p>\n{class}{answer}{other_site}<p id=\"spoken\" class=\"hidden\" role=\"alert\"></p>\n\
             {ends}{links}</header>\n\
             <main><iframe id=\"app\" title=\"{app}\" src=\"{path}\" allow=\"{ALLOW}\"></iframe>\n\
             <div id=\"skeleton\" role=\"status\" hidden><strong dir=\"auto\">{title}</strong><span>{loading}</span></div>\n\
             {cover}</main>\n</body>\n</html>\n"
        )
    }

    /// Returns the expiry for a browser without scripts; empty if it is unknown. The other texts of the bar are the time
    /// left and warnings, which only the script can keep true.
    fn ends(&self, texts: &Texts) -> String {
        let Some(expiry) = self.expiry else { return String::new() };
        let text = expiry.strftime("%Y-%m-%d %H:%M UTC");
        let time = format!("<time datetime=\"{expiry}\" dir=\"ltr\">{text}</time>");
        format!("<noscript><p>{}</p></noscript>\n", texts.ends.replace("{time}", &time))
    }

    /// Returns the script of the hand and of the messages of a class, and their elements in the bar, which the script fills.
    /// Empty without a class.
    fn class(&self, texts: &Texts) -> [String; 2] {
        let Some(path) = self.class_path.as_ref().filter(|_| self.in_class) else { return Default::default() };
        let Texts { raise_hand, lower_hand, hand_raised, help_comes, hand_failed, .. } = texts;
        let Texts { class_message, dismiss_message, .. } = texts;
        [
            format!("<script defer src=\"{}\"></script>\n", CLASS_SCRIPT.url()),
            format!(
                "<div id=\"class\" hidden data-path=\"{path}\" data-raise=\"{raise_hand}\" \
                 data-lower=\"{lower_hand}\" data-raised=\"{hand_raised}\" data-comes=\"{help_comes}\" \
                 data-failed=\"{hand_failed}\">\n\
                 <button id=\"hand\" type=\"button\">{raise_hand}</button>\n\
                 <p id=\"help\" role=\"status\" dir=\"auto\"></p>\n</div>\n\
                 <div id=\"message\" hidden>\n<div role=\"status\" tabindex=\"0\"><strong>{class_message}</strong> \
                 <span id=\"message-text\" dir=\"auto\"></span></div>\n\
                 <button id=\"dismiss\" type=\"button\">{dismiss_message}</button>\n</div>\n"
            ),
        ]
    }

    /// Returns the cover that the script shows over the app of a workshop that has stopped. Its texts are those for an unknown
    /// reason: the launcher may send others.
    fn cover(&self, texts: &Texts) -> String {
        let Texts { stopped: NoticeText { title, text }, its_page, .. } = texts;
        let link =
            self.workshop_page.map_or(String::new(), |page| format!("<a href=\"{}\">{its_page}</a>", page.url()));
        format!(
            "<section id=\"cover\" tabindex=\"-1\" aria-labelledby=\"cover-title\" hidden>\n<div>\n\
             <h2 id=\"cover-title\">{title}</h2>\n<div id=\"cover-text\"><p>{text}</p></div>\n\
             <p id=\"cover-links\">{link}</p>\n</div>\n</section>\n"
        )
    }

    /// Returns the links of the bar; empty without the URL of the launcher.
    fn links(&self, texts: &Texts) -> String {
        let Some(page) = self.workshop_page else { return String::new() };
        let Texts { bar, extend, extend_hint, home, .. } = texts;
        let hidden = if self.expiry.is_some() { "" } else { " hidden" };
        format!(
            "<nav aria-label=\"{bar}\">\n<a id=\"extend\" href=\"{}\" target=\"_blank\"{hidden}>{extend}\
             <span class=\"hidden\"> {extend_hint}</span></a>\n<a href=\"{}\">{home}</a>\n</nav>\n",
            page.extend_url(),
            page.url(),
            home = self.brand.name().map_or_else(|| (*home).to_owned(), escape),
        )
    }
}

/// Returns the note about the first page of the app, which its script fills.
fn answer(texts: &Texts) -> String {
    let Texts { app_answered, app_refuses, app_asks, app_needs, .. } = texts;
    format!(
        "<p id=\"answer\" role=\"status\" data-answered=\"{app_answered}\" data-refuses=\"{app_refuses}\" \
         data-asks=\"{app_asks}\" data-line=\"{app_needs}\"></p>\n"
    )
}

/// Returns the note about a page of another site, which the script of the frame page fills.
fn other_site(texts: &Texts) -> String {
    let Texts { other_site, dismiss_message, .. } = texts;
    format!(
        "<div id=\"other-site\" hidden data-text=\"{other_site}\">\n<p role=\"status\"></p>\n\
         <button type=\"button\">{dismiss_message}</button>\n</div>\n"
    )
}

/// A file that the frame page loads. It is embedded in the program. Its URL contains a hash of its content, so that a
/// browser can cache the file for ever.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Script {
    pub(super) name: &'static str,
    pub(super) content: &'static str,
}

/// The style sheet of the frame page, without a brand.
const STYLE: &str = include_str!("../../assets/frame.css");
const SCRIPT: Script = Script { name: "frame.js", content: include_str!("../../assets/frame.js") };
/// The script of the note about the first page of the app.
const ANSWER: Script = Script { name: "answer.js", content: include_str!("../../assets/answer.js") };
/// The script of the hand and of the messages of a class.
const CLASS_SCRIPT: Script = Script { name: "class.js", content: include_str!("../../assets/class.js") };
/// All scripts of the frame page.
pub(super) const SCRIPTS: [&Script; 3] = [&SCRIPT, &ANSWER, &CLASS_SCRIPT];
/// The service worker of the frame page, whose scope is the reserved prefix.
pub(super) const WORKER_SCRIPT: &str = include_str!("../../assets/worker.js");

impl Script {
    /// Returns the path of the file, with the hash of its content as the query.
    fn url(&self) -> String {
        url(self.name, self.content)
    }
}

fn url(name: &str, content: &str) -> String {
    format!("{PREFIX}{name}?{:016x}", fnv1a(content.as_bytes()))
}

/// Returns the style sheet of the frame page, with the edge of the bar in the colour of the installation.
pub(super) fn style(brand: &Brand) -> String {
    let edge = brand.color.map(|color| {
        let (light, dark) = (color.light().accent, color.dark().accent);
        format!(".bar {{ border-top: 3px solid light-dark({light}, {dark}); }}\n")
    });
    STYLE.to_owned() + &edge.unwrap_or_default()
}

/// Returns the 64-bit FNV-1a hash. It only distinguishes versions of a file, so it need not resist attacks.
const fn fnv1a(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    let mut index = 0;
    while index < bytes.len() {
        hash = (hash ^ bytes[index] as u64).wrapping_mul(0x0100_0000_01b3);
        index += 1;
    }
    hash
}
