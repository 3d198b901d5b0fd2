//! Lists of people: pasted addresses, and tables as course systems and spreadsheets export them.

use crate::problem::Problem;
use crate::routes::snapshots::attachment;
use axum::response::Response;
use csv::{ReaderBuilder, StringRecord};
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use launcher_domain::class::MAX_MEMBERS;
use launcher_domain::{ClassRole, EmailAddress, is_member_name};

/// Maximum number of entries in one list.
pub(crate) const MAX_ENTRIES: usize = MAX_MEMBERS;
/// Maximum length of an unreadable entry on the page, in characters.
const MAX_SHOWN: usize = 80;
/// Maximum length of a name, in characters.
const MAX_NAME: usize = 80;
/// First characters that a spreadsheet reads as a formula.
const FORMULA: [char; 10] = ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠'];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Person {
    pub(crate) email: EmailAddress,
    /// Empty if the list has no name.
    pub(crate) name: String,
    /// `None` if the list has no role, or one with another name.
    pub(crate) role: Option<ClassRole>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unreadable {
    /// Line of the list, from 1.
    pub(crate) line: u64,
    /// Start of the entry.
    pub(crate) text: String,
}

/// The readable and the unreadable entries of a list, without repetitions, in their order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Roster {
    pub(crate) people: Vec<Person>,
    pub(crate) unreadable: Vec<Unreadable>,
}

/// Reason why no entry of a list can be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RosterError {
    /// The list has more than [`MAX_ENTRIES`] entries.
    TooManyEntries,
    /// A table has no column with addresses. It has these columns.
    NoAddresses(Vec<String>),
}

/// Returns the text of a file: in the encoding of its byte order mark, else UTF-8, else Windows-1252, which spreadsheets on
/// Windows write. `None` if the file is no text, for example a workbook.
pub(crate) fn text_of(file: &[u8]) -> Option<String> {
    let marked = Encoding::for_bom(file).map(|(encoding, _)| encoding);
    let encoding = marked.unwrap_or(if std::str::from_utf8(file).is_ok() { UTF_8 } else { WINDOWS_1252 });
    let (text, _, _) = encoding.decode(file);
    let is_text = |character: char| !character.is_control() || "\t\r\n\u{b}\u{c}".contains(character);
    text.chars().all(is_text).then(|| text.into_owned())
}

/// Byte order mark, without which Excel does not read a table as UTF-8.
const MARK: &str = "\u{feff}";

/// Answers with a table for spreadsheets (CSV) as a file with this name.
pub(crate) fn spreadsheet<const N: usize>(
    file: &str,
    header: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> Result<Response, Problem> {
    let mut table = csv::Writer::from_writer(MARK.as_bytes().to_vec());
    table.write_record(header).map_err(Problem::internal)?;
    for row in rows {
        table.write_record(row.iter().map(|cell| exported(cell))).map_err(Problem::internal)?;
    }
    let table = table.into_inner().map_err(|error| Problem::internal(error.to_string()))?;
    Ok(attachment(file, "text/csv", table))
}

/// Returns a cell of an exported table. A cell that a spreadsheet would read as a formula gets an apostrophe, which the
/// parser of lists removes again.
fn exported(cell: &str) -> String {
    // Some spreadsheets separate cells at semicolons and tabs.
    let begins_formula = |rest: &str| rest.trim_start_matches([' ', '"', '\'']).starts_with(FORMULA);
    let has_inner = cell.split([';', '\t']).skip(1).any(begins_formula);
    let cell = if has_inner { cell.replace([';', '\t'], ",") } else { cell.to_owned() };
    if cell.starts_with(FORMULA) { format!("'{cell}") } else { cell }
}

impl Roster {
    /// Parses a table with a header, else addresses that are separated by commas, semicolons or line breaks. An address may
    /// have a name: `Name <address>`.
    ///
    /// # Errors
    /// [`RosterError`].
    pub(crate) fn parse(text: &str) -> Result<Self, RosterError> {
        let text = text.trim_start_matches('\u{feff}');
        match Table::of(text) {
            Some(table) => table.read(text),
            None => Self::of_addresses(text),
        }
    }

    fn of_addresses(text: &str) -> Result<Self, RosterError> {
        let mut roster = Self::default();
        for (line, number) in text.replace("\r\n", "\n").split(['\n', '\r']).zip(1..) {
            for entry in line.split(';') {
                let mut parts = entry.split(',').map(str::trim).filter(|part| !part.is_empty()).peekable();
                let mut surname = "";
                while let Some(part) = parts.next() {
                    // The comma may be part of a name: `Doe, Jane <jane@example.org>`.
                    if !part.contains('@') && parts.peek().is_some_and(|next| next.contains('<')) {
                        surname = part;
                        continue;
                    }
                    roster.add_part(number, surname, part);
                    surname = "";
                    roster.check_size()?;
                }
            }
        }
        Ok(roster)
    }

    /// Adds the addresses of a part without separators: those in angle brackets, else each word with `@`.
    fn add_part(&mut self, line: u64, surname: &str, part: &str) {
        let mut found: Vec<(String, &str)> = Vec::new();
        for piece in part.split_inclusive('>') {
            let bracketed = piece.strip_suffix('>').and_then(|piece| piece.rsplit_once('<'));
            found.extend(
                bracketed.filter(|(_, inside)| inside.contains('@')).map(|(name, inside)| (name.to_owned(), inside)),
            );
        }
        if found.is_empty() {
            let (addresses, words): (Vec<&str>, Vec<&str>) =
                part.split_whitespace().partition(|word| word.contains('@'));
            let name = if addresses.len() == 1 { words.join(" ") } else { String::new() };
            found.extend(addresses.into_iter().map(|address| (name.clone(), address)));
        }
        if found.is_empty() {
            found.push((String::new(), part));
        }
        // One more than the limit is enough to report it.
        for (name, entry) in found.into_iter().take(MAX_ENTRIES + 1) {
            let name = if surname.is_empty() { name } else { format!("{surname}, {name}") };
            self.add(line, &[entry], name.trim().trim_matches('"'), None);
        }
    }

    /// Adds the person with the first address among these texts.
    fn add(&mut self, line: u64, addresses: &[&str], name: &str, role: Option<ClassRole>) {
        let Some(email) = addresses.iter().find_map(|text| EmailAddress::parse(text).ok()) else {
            let text = addresses.iter().find(|text| !text.is_empty()).unwrap_or(&name);
            let text: String = text.chars().take(MAX_SHOWN).collect();
            if !self.unreadable.iter().any(|known| known.text == text) {
                self.unreadable.push(Unreadable { line, text });
            }
            return;
        };
        if !self.people.iter().any(|person| person.email == email) {
            self.people.push(Person { email, name: tidy(name), role });
        }
    }

    fn check_size(&self) -> Result<(), RosterError> {
        let is_small = self.people.len() + self.unreadable.len() <= MAX_ENTRIES;
        if is_small { Ok(()) } else { Err(RosterError::TooManyEntries) }
    }
}

/// Returns a name as a member has it: `Doe, Jane` becomes `Jane Doe`. Empty if it is no name.
fn tidy(name: &str) -> String {
    let name = match name.split_once(',') {
        Some((last, first)) if !first.contains(',') => format!("{first} {last}"),
        _ => name.to_owned(),
    };
    let words: Vec<&str> = name.split_whitespace().collect();
    let name: String = words.join(" ").chars().take(MAX_NAME).collect();
    let name = name.trim().to_owned();
    if is_member_name(&name) { name } else { String::new() }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Email,
    /// Name of an account, which is an address at many universities.
    Login,
    FirstName,
    LastName,
    Name,
    Role,
}

/// Headers of the columns in the languages of the pages, as [`plain`] returns them, separated by `|`.
const COLUMNS: [(Column, &str); 6] = [
    (
        Column::Email,
        "email|mail|emailaddress|emailaddresses|mailaddress|primaryemail|emailadresse|mailadresse|adresseemail\
         |adressemail|adressedecourriel|courriel|adresseélectronique|correo|correoelectrónico|correoelectronico\
         |direccióndecorreo|direccióndeemail|direccióndecorreoelectrónico|البريدالإلكتروني|عنوانالبريدالإلكتروني\
         |بريدإلكتروني|电子邮件|电子邮箱|邮箱|电子邮件地址|电子邮箱地址|邮箱地址",
    ),
    (
        Column::Login,
        "username|login|loginid|sisloginid|userid|sisuserid|benutzername|anmeldename|nomdutilisateur|identifiant\
         |nombredeusuario|usuario|اسمالمستخدم|用户名",
    ),
    (
        Column::FirstName,
        "firstname|firstnames|givenname|givennames|forename|vorname|prénom|prenom|nombre|nombres|الاسمالأول|名|名字",
    ),
    (
        Column::LastName,
        "lastname|surname|familyname|nachname|familienname|nom|nomdefamille|apellido|apellidos|اسمالعائلة|اللقب|姓\
         |姓氏",
    ),
    (
        Column::Name,
        "name|fullname|displayname|student|studentname|firstnamelastname|firstnamesurname|vollständigername\
         |nomcomplet|nombrecompleto|الاسم|الاسمالكامل|姓名|全名|学生",
    ),
    (Column::Role, "role|roles|courserole|rolle|rollen|rôle|rôles|rol|الدور|الأدوار|角色"),
];

/// Names of the roles, in the same form.
const ROLES: [(ClassRole, &str); 3] = [
    (
        ClassRole::Student,
        "student|students|learner|participant|studentenrollment|studentin|studierende|studierender|studierendere\
         |teilnehmer|teilnehmerin|teilnehmende|teilnehmender|étudiant|étudiante|etudiant|participante|estudiante\
         |alumno|alumna|طالب|طالبة|学生",
    ),
    (
        ClassRole::Assistant,
        "assistant|ta|teachingassistant|taenrollment|tutor|tutorin|grader|noneditingteacher|assistenz|assistent\
         |assistentin|trainerinohnebearbeitungsrecht|assistante|enseignantnonéditeur|asistente|ayudante\
         |profesorsinpermisodeedición|مساعد|助教",
    ),
    (
        ClassRole::Teacher,
        "teacher|instructor|editingteacher|teacherenrollment|lecturer|professor|lehrperson|lehrende|lehrender\
         |lehrerin|lehrer|dozent|dozentin|trainerin|trainer|enseignant|enseignante|professeur|profesor|profesora\
         |docente|معلم|مدرس|教师|老师",
    ),
];

/// Returns the lower-case letters and digits of a text.
fn plain(text: &str) -> String {
    text.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns the value of which the list has this name, regardless of case and punctuation.
fn meaning<T: Copy>(names: &[(T, &str)], text: &str) -> Option<T> {
    let text = plain(text);
    names.iter().find(|(_, known)| known.split('|').any(|name| name == text)).map(|(value, _)| *value)
}

/// Recognises the name of a role. Moodle separates several roles by commas: the highest one counts.
fn role_of(text: &str) -> Option<ClassRole> {
    text.split([',', ';']).filter_map(|name| meaning(&ROLES, name)).max()
}

struct Table {
    delimiter: u8,
    headers: Vec<String>,
    columns: Vec<Option<Column>>,
}

impl Table {
    /// Returns the table that a text is, with the separator that finds the most known columns. A header has no address.
    fn of(text: &str) -> Option<Self> {
        let mut best: Option<(usize, Self)> = None;
        for delimiter in *b",;\t" {
            let header = records(text, delimiter).next()?;
            let headers: Vec<String> = header.iter().map(|cell| cell.trim().to_owned()).collect();
            let columns: Vec<_> = headers.iter().map(|header| meaning(&COLUMNS, header)).collect();
            let known = columns.iter().flatten().count();
            let is_header = columns.len() > 1 || columns == [Some(Column::Email)];
            let has_address = headers.iter().any(|header| header.contains('@'));
            if is_header && !has_address && known > best.as_ref().map_or(0, |(most, _)| *most) {
                best = Some((known, Self { delimiter, headers, columns }));
            }
        }
        best.map(|(_, table)| table)
    }

    fn read(&self, text: &str) -> Result<Roster, RosterError> {
        let mut roster = Roster::default();
        for record in records(text, self.delimiter).skip(1) {
            self.add(&mut roster, text, &record);
            roster.check_size()?;
        }
        if !self.columns.contains(&Some(Column::Email)) && roster.people.is_empty() {
            return Err(RosterError::NoAddresses(self.headers.clone()));
        }
        Ok(roster)
    }

    fn add(&self, roster: &mut Roster, text: &str, record: &StringRecord) {
        let cells = |wanted: Column| {
            let cells = self.columns.iter().zip(record).filter(move |(column, _)| **column == Some(wanted));
            cells.map(|(_, cell)| unquoted(cell))
        };
        let first = |wanted: Column| cells(wanted).next().unwrap_or_default();
        let addresses: Vec<&str> = cells(Column::Email).chain(cells(Column::Login)).map(str::trim).collect();
        let parts = [first(Column::FirstName).trim(), first(Column::LastName).trim()];
        let full = first(Column::Name);
        let name = if parts.iter().all(|part| part.is_empty()) { full.to_owned() } else { parts.join(" ") };
        // Canvas indents the name of the row with the points of each column, and other rows without a person have no name.
        let is_person = !name.trim().is_empty() && !full.starts_with(' ');
        if is_person || addresses.iter().any(|address| !address.is_empty()) {
            roster.add(line_of(text, record), &addresses, &name, role_of(first(Column::Role)));
        }
    }
}

/// Returns the line of a record, from 1. The position of a record is before the line breaks that precede it.
fn line_of(text: &str, record: &StringRecord) -> u64 {
    let Some(position) = record.position() else { return 0 };
    let start = usize::try_from(position.byte()).unwrap_or(usize::MAX);
    let breaks = text.bytes().skip(start).take_while(|byte| b"\r\n".contains(byte));
    breaks.filter(|byte| *byte == b'\n').zip(position.line() + 1..).last().map_or(position.line(), |(_, line)| line)
}

/// Returns the rows of a table. Skips the line with which Excel names its separator, as in `sep=;`.
fn records(text: &str, delimiter: u8) -> impl Iterator<Item = StringRecord> + '_ {
    let reader =
        ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(text.as_bytes());
    let is_hint = |record: &StringRecord| record.get(0).is_some_and(|cell| cell.starts_with("sep="));
    let is_blank = |record: &StringRecord| record.iter().all(|cell| cell.trim().is_empty());
    reader.into_records().filter_map(Result::ok).filter(move |record| !is_hint(record) && !is_blank(record))
}

/// Removes the apostrophe that [`exported`] adds.
fn unquoted(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|rest| rest.starts_with(FORMULA)).unwrap_or(cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (Vec<String>, Vec<String>) {
        let Roster { people, unreadable } = Roster::parse(text).unwrap_or_default();
        let unreadable = unreadable.into_iter().map(|entry| entry.text).collect();
        (people.iter().map(|person| person.email.to_string()).collect(), unreadable)
    }

    /// Returns each person as `name <address> role`, and each unreadable entry as `line: text`.
    fn table(text: &str) -> Vec<String> {
        let Roster { people, unreadable } = Roster::parse(text).unwrap();
        let person = |person: Person| {
            let role = person.role.map_or("-", ClassRole::as_str);
            format!("{} <{}> {role}", person.name, person.email)
        };
        let unreadable = unreadable.into_iter().map(|entry| format!("{}: {}", entry.line, entry.text));
        people.into_iter().map(person).chain(unreadable).collect()
    }

    #[test]
    fn addresses_are_read_with_all_separators_and_names() {
        let (people, unreadable) = parsed(
            "A@x.org, b@x.org;c@x.org\r\nJane <d@x.org>\n\"Doe, Jane\" <e@x.org>; Roe, Max <f@x.org>\nJo Lee\tg@x.org\n\
             h@x.org i@x.org\nOne <j@x.org> Two <k@x.org>\n\n , ;a@x.org",
        );
        let expected = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"].map(|name| format!("{name}@x.org"));
        assert_eq!((people, unreadable), (expected.to_vec(), vec![]));
        let names =
            "Jane <d@x.org>\n\"Doe, Jane\" <e@x.org>; Roe, Max <f@x.org>\nJo Lee\tg@x.org\nOne <j@x.org> Two <k@x.org>";
        let expected = ["Jane <d", "Jane Doe <e", "Max Roe <f", "Jo Lee <g", "One <j", "Two <k"];
        assert_eq!(table(names), expected.map(|start| format!("{start}@x.org> -")));
    }

    #[test]
    fn unreadable_entries_are_returned_once_with_their_line_and_shortened() {
        let long = "x".repeat(100_000);
        let (people, unreadable) =
            parsed(&format!("alice.x.org, z@x.org\nalice.x.org\na@b@c, ü@x.org; <>\n<@>\n{long}\0"));
        assert_eq!(people, ["z@x.org"]);
        assert_eq!(unreadable, ["alice.x.org", "a@b@c", "ü@x.org", "<>", "@", &"x".repeat(80)]);
        assert_eq!(table("a@x.org\r\n\r\nbob\r\n"), [" <a@x.org> -", "3: bob"]);
    }

    #[test]
    fn list_with_too_many_entries_is_refused() {
        let people = |count: usize| (0..count).map(|number| format!("p{number}@x.org\n")).collect::<String>();
        assert_eq!(Roster::parse(&people(1000)).map(|roster| roster.people.len()), Ok(1000));
        let table = |count| Roster::parse(&format!("Email,Name\n{}", people(count)));
        assert_eq!(table(1000).map(|roster| roster.people.len()), Ok(1000));
        let wrong: String = (0..1001).map(|number| format!("p{number},")).collect();
        let one_line: String = (0..1001).map(|number| format!("<p{number}@x.org>")).collect();
        let refused = [Roster::parse(&people(1001)), table(1001), Roster::parse(&wrong), Roster::parse(&one_line)];
        assert!(refused.iter().all(|refused| *refused == Err(RosterError::TooManyEntries)));
    }

    /// The list of participants, in English, German (with the roles of the language pack), French, Spanish, Arabic and
    /// Chinese: names of the columns from the language packs of Moodle (`lang/*/moodle.php`: firstname, lastname, email), and
    /// the file for uploads in `lib/tests/fixtures/upload_users.csv` of moodle/moodle.
    #[test]
    fn table_of_moodle_is_read() {
        let english = "\u{feff}\"First name\",\"Last name\",\"Email address\",Roles,Groups\n\
            Ada,Lovelace,ada@x.org,Student,\"A, B\"\nTina,Turing,tina@x.org,\"Student, Teacher\",\nNo,Role,no@x.org,Guest,\n";
        assert_eq!(
            table(english),
            ["Ada Lovelace <ada@x.org> student", "Tina Turing <tina@x.org> teacher", "No Role <no@x.org> -"]
        );
        let german = "Vorname;Nachname;E-Mail-Adresse;Rollen\nJörg;Müller;j@x.org;Teilnehmer/in\nEva;Roth;e@x.org;Trainer/in ohne Bearbeitungsrecht\n";
        assert_eq!(table(german), ["Jörg Müller <j@x.org> student", "Eva Roth <e@x.org> assistant"]);
        for header in [
            "Prénom,Nom de famille,Adresse de courriel",
            "Nombre,Apellido(s),Dirección de correo",
            "الاسم الأول,اسم العائلة,عنوان البريد الإلكتروني",
            "名,姓氏,电子邮件地址",
            "firstname,lastname,email",
        ] {
            assert_eq!(table(&format!("{header}\nAda,Lovelace,ada@x.org")), ["Ada Lovelace <ada@x.org> -"], "{header}");
        }
    }

    /// Columns of the gradebook: `lib/gradebook_exporter.rb` of instructure/canvas-lms, and
    /// <https://nemogb-dev.github.io/nemogb-r/articles/detailed-canvas-export-info.html>. It has no addresses, but logins.
    #[test]
    fn gradebook_of_canvas_is_read_if_logins_are_addresses() {
        let header = "Student,ID,SIS User ID,SIS Login ID,Section,Essay 1 (101),Current Score\n    Points Possible,,,,,10.00,(read only)\n";
        let logins = "\"Lovelace, Ada\",11,S1,ada@x.org,Block 3,9,90\n\"Student, Test\",15,,,Block 3,,\n";
        assert_eq!(table(&format!("{header}{logins}")), ["Ada Lovelace <ada@x.org> -", "4: Student, Test"]);
        let refused = Roster::parse(&format!("{header}\"Lovelace, Ada\",11,S1,al12,Block 3,9,90\n")).unwrap_err();
        let RosterError::NoAddresses(columns) = refused else { panic!("{refused:?}") };
        assert_eq!(columns[..4], ["Student", "ID", "SIS User ID", "SIS Login ID"]);
    }

    /// Download of the grade center: tab-delimited UTF-16, or comma-delimited with quotation marks, without addresses unless
    /// the course shows them. <https://und.teamdynamix.com/TDClient/2048/IT/KB/ArticleDet?ID=59084>
    #[test]
    fn table_of_blackboard_is_read() {
        let header = ["Last Name", "First Name", "Username", "Student ID", "Last Access"];
        let row = ["Lovelace", "Ada", "ada@x.org", "123", "2026-09-01"];
        let tabs = format!("\"{}\"\n\"{}\"\n", header.join("\"\t\""), row.join("\"\t\""));
        let bytes: Vec<u8> = [0xFEFF].into_iter().chain(tabs.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        assert_eq!(table(&text_of(&bytes).unwrap()), ["Ada Lovelace <ada@x.org> -"]);
        let with_email = "\"Last Name\",\"First Name\",\"Username\",\"Email\",\"Role\"\n\"Lovelace\",\"Ada\",\"al12\",\"ada@x.org\",\"Teaching Assistant\"\n";
        assert_eq!(table(with_email), ["Ada Lovelace <ada@x.org> assistant"]);
    }

    /// Excel: `sep=`, semicolons and Windows-1252 in countries with a decimal comma; a workbook is no text.
    #[test]
    fn table_of_excel_is_read() {
        let (text, _, _) =
            WINDOWS_1252.encode("sep=;\r\nName;E-Mail;Rolle\r\n\r\n\"Müller; Jörg\";j@x.org;Dozent\r\nEva;;\r\n;;\r\n");
        assert_eq!(table(&text_of(&text).unwrap()), ["Müller; Jörg <j@x.org> teacher", "5: Eva"]);
        assert_eq!(text_of(b"PK\x03\x04\x14\x00\x06\x00"), None);
        assert_eq!(table("Email\na@x.org\nb\n"), [" <a@x.org> -", "3: b"]);
        assert_eq!(table("Ada\tLovelace\tada@x.org\n"), ["Ada Lovelace <ada@x.org> -"], "cells without a header");
    }

    #[test]
    fn exported_cell_is_no_formula_and_read_again() {
        for name in ["=1+1", "+1", "-1", "@x", "O'Neil", "'quoted'"] {
            let cell = exported(name);
            assert!(!cell.starts_with(FORMULA), "{cell}");
            assert_eq!(unquoted(&cell), name);
        }
        assert_eq!(
            exported("Bob; \"=HYPERLINK(1)"),
            "Bob, \"=HYPERLINK(1)",
            "a spreadsheet that separates at semicolons"
        );
        assert_eq!(exported("Bob; Ann"), "Bob; Ann");
        assert_eq!(table("name,email\n'=cmd,'+a@x.org\n"), ["=cmd <+a@x.org> -"]);
    }
}
