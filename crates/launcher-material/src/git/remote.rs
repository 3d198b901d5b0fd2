//! Client of a git server: the protocol "smart HTTP", version 2, else version 0.
//!
//! <https://git-scm.com/docs/gitprotocol-v2>, <https://git-scm.com/docs/http-protocol>

use std::fmt::Display;
use std::io::{self, BufRead, Read};

use gix_hash::ObjectId;
use url::Url;

use crate::failure::Failure;
use crate::limits::{ANSWER_BYTES, CAPABILITIES, CAPABILITY_BYTES, REFERENCES};
use crate::web::{Answer, Reader, Web, parse as parse_url};

const SERVICE: &str = "git-upload-pack";
const AGENT: &str = concat!("agent=git/launcher-material-", env!("CARGO_PKG_VERSION"));
const VERSION_2: (&str, &str) = ("Git-Protocol", "version=2");

/// Commit that a reference names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Object to ask for: the commit, or an annotated tag of it.
    pub(crate) object: ObjectId,
    /// Version: the commit. Equal to `object` if the server does not say.
    pub(crate) commit: ObjectId,
}

/// References by name. An annotated tag has a second entry with the suffix `^{}`.
type References = Vec<(String, ObjectId)>;

/// Repository of a server.
#[derive(Debug)]
pub(crate) struct Remote<'w, 'm> {
    web: &'w Web<'m>,
    /// URL of the repository after redirects, with a slash at its end.
    base: Url,
    /// Lines of version 2, or words of version 0.
    capabilities: Vec<String>,
    /// References, which only version 0 sends at once.
    advertised: Option<References>,
}

impl<'w, 'm> Remote<'w, 'm> {
    /// Asks the server for its capabilities.
    ///
    /// # Errors
    /// The server cannot be reached, or is no git server.
    pub(crate) fn open(web: &'w Web<'m>, url: &str) -> Result<Self, Failure> {
        let mut url = parse_url(url)?;
        let path = format!("{}/info/refs", url.path().trim_end_matches('/'));
        url.set_path(&path);
        url.query_pairs_mut().append_pair("service", SERVICE);
        let answer = web.get(&url, &[VERSION_2])?;
        check_type(web, &answer, "advertisement")?;
        let base = base(&answer.url).ok_or_else(not_git)?;
        let mut body = answer.body.take(ANSWER_BYTES);
        let (capabilities, advertised) = advertisement(&mut body)?;
        let is_other_hash = |word: &String| word.starts_with("object-format=") && word != "object-format=sha1";
        if capabilities.iter().any(is_other_hash) {
            return Err(Failure::new(
                "The repository has the object format SHA-256, which is not supported: use a repository with the object \
                 format SHA-1.",
            ));
        }
        Ok(Self { web, base, capabilities, advertised })
    }

    /// Finds the commit of a branch or tag, or of the default branch.
    ///
    /// # Errors
    /// The repository does not have the reference.
    pub(crate) fn find(&self, reference: Option<&str>) -> Result<Wanted, Failure> {
        let names = candidates(reference);
        let listed;
        let references = match &self.advertised {
            Some(advertised) => advertised,
            None => {
                listed = self.list(&names)?;
                &listed
            }
        };
        let id = |name: &str| references.iter().find(|(found, _)| found == name).map(|(_, id)| *id);
        let found = names.iter().find_map(|name| id(name).map(|object| (object, id(&format!("{name}^{{}}")))));
        match (found, reference) {
            (Some((object, peeled)), _) => Ok(Wanted { object, commit: peeled.unwrap_or(object) }),
            (None, Some(name)) => {
                Err(Failure::new(format!("The repository has no branch or tag {name}: check the name.")))
            }
            (None, None) => Err(Failure::new("The repository has no commit in its default branch: add files to it.")),
        }
    }

    /// Returns the name of the default branch, if the server says it.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub(crate) fn default_branch(&self) -> Result<Option<String>, Failure> {
        let branch = |target: &str| target.strip_prefix("refs/heads/").map(str::to_owned);
        if self.advertised.is_some() {
            let mut words = self.capabilities.iter();
            return Ok(words.find_map(|word| word.strip_prefix("symref=HEAD:")).and_then(branch));
        }
        let mut body = self.command("ls-refs", ["symrefs", "ref-prefix HEAD"])?.take(ANSWER_BYTES);
        while let Some(line) = read_packet(&mut body)?.and_then(|packet| packet.line()) {
            let is_head = line.split(' ').nth(1) == Some("HEAD");
            let target = line.split(' ').find_map(|word| word.strip_prefix("symref-target:")).filter(|_| is_head);
            if let Some(target) = target {
                return Ok(branch(target));
            }
        }
        Ok(None)
    }

    /// Asks for references with version 2.
    fn list(&self, names: &[String]) -> Result<References, Failure> {
        let prefixes = names.iter().map(|name| format!("ref-prefix {name}"));
        let arguments = std::iter::once("peel".to_owned()).chain(prefixes);
        let mut body = self.command("ls-refs", arguments)?.take(ANSWER_BYTES);
        let mut references = References::new();
        while let Some(line) = read_packet(&mut body)?.and_then(|packet| packet.line()) {
            let mut words = line.split(' ');
            // A branch without commits has the word `unborn` instead of an object.
            let (Some(Ok(id)), Some(name)) = (words.next().map(parse), words.next()) else { continue };
            // Other references, which begin like a wanted one, would only need memory.
            if !names.iter().any(|wanted| wanted == name) || references.len() >= 2 * names.len() {
                continue;
            }
            references.push((name.to_owned(), id));
            let peeled = words.find_map(|word| word.strip_prefix("peeled:")).map(parse).transpose()?;
            references.extend(peeled.map(|id| (format!("{name}^{{}}"), id)));
        }
        Ok(references)
    }

    /// Asks for the pack of one commit without its history.
    ///
    /// # Errors
    /// The server refuses.
    pub(crate) fn pack(&self, wanted: ObjectId) -> Result<FirstBand<Reader<'m>>, Failure> {
        if self.advertised.is_some() {
            return self.pack_of_version_0(wanted);
        }
        let is_shallow = |line: &String| {
            line.strip_prefix("fetch=").is_some_and(|features| features.split(' ').any(|word| word == "shallow"))
        };
        let want = format!("want {wanted}");
        let depth = self.capabilities.iter().any(is_shallow).then_some("deepen 1");
        let arguments = ["no-progress", "ofs-delta", want.as_str()].into_iter().chain(depth).chain(["done"]);
        let mut body = self.command("fetch", arguments)?;
        loop {
            match read_packet(&mut body)?.ok_or_else(not_git)? {
                packet if packet.line().as_deref() == Some("packfile") => return Ok(FirstBand::new(body)),
                Packet::Flush => return Err(not_git()),
                _ => {}
            }
        }
    }

    fn pack_of_version_0(&self, wanted: ObjectId) -> Result<FirstBand<Reader<'m>>, Failure> {
        let has = |name: &&str| self.capabilities.iter().any(|word| word == name);
        if !has(&"side-band-64k") {
            return Err(Failure::new("The git server is too old for this program: use another server."));
        }
        let words: Vec<&str> =
            ["side-band-64k", "ofs-delta", "no-progress", "shallow"].into_iter().filter(has).collect();
        let mut request = Vec::new();
        write_packet(&mut request, &format!("want {wanted} {} {AGENT}\n", words.join(" ")));
        if has(&"shallow") {
            write_packet(&mut request, "deepen 1\n");
        }
        request.extend_from_slice(b"0000");
        write_packet(&mut request, "done\n");
        let mut body = self.post(&request)?;
        loop {
            let packet = read_packet(&mut body)?.ok_or_else(not_git)?;
            if packet.line().is_some_and(|line| line == "NAK" || line.starts_with("ACK ")) {
                return Ok(FirstBand::new(body));
            }
        }
    }

    /// Sends a command of version 2 with these arguments.
    fn command(&self, name: &str, arguments: impl IntoIterator<Item = impl Display>) -> Result<Reader<'m>, Failure> {
        let mut request = Vec::new();
        write_packet(&mut request, &format!("command={name}\n"));
        write_packet(&mut request, &format!("{AGENT}\n"));
        if self.capabilities.iter().any(|line| line == "object-format=sha1") {
            write_packet(&mut request, "object-format=sha1\n");
        }
        request.extend_from_slice(b"0001");
        for argument in arguments {
            write_packet(&mut request, &format!("{argument}\n"));
        }
        request.extend_from_slice(b"0000");
        self.post(&request)
    }

    fn post(&self, request: &[u8]) -> Result<Reader<'m>, Failure> {
        let url = self.base.join(SERVICE).map_err(|_| not_git())?;
        let content = format!("application/x-{SERVICE}-request");
        let accepted = format!("application/x-{SERVICE}-result");
        let mut headers = vec![("Content-Type", content.as_str()), ("Accept", accepted.as_str())];
        if self.advertised.is_none() {
            headers.push(VERSION_2);
        }
        let answer = self.web.post(&url, &headers, request)?;
        check_type(self.web, &answer, "result")?;
        Ok(answer.body)
    }
}

/// Returns the names of references that a user can mean, in the order of preference.
fn candidates(reference: Option<&str>) -> Vec<String> {
    match reference {
        None => vec!["HEAD".to_owned()],
        Some(name) if name.starts_with("refs/") => vec![name.to_owned()],
        Some(name) => vec![format!("refs/heads/{name}"), format!("refs/tags/{name}")],
    }
}

/// Returns the URL of a repository from that of its references.
fn base(url: &Url) -> Option<Url> {
    let mut base = url.clone();
    base.set_path(url.path().strip_suffix("info/refs")?);
    base.set_query(None);
    Some(base)
}

fn check_type(web: &Web<'_>, answer: &Answer<'_>, part: &str) -> Result<(), Failure> {
    if answer.content_type == format!("application/x-{SERVICE}-{part}") {
        return Ok(());
    }
    Err(match web.secret() {
        None => Failure::new("The URL is no public git repository: check it, for example with `git ls-remote URL`."),
        // Some servers answer with their login page.
        Some(secret) => Failure::new(format!(
            "The URL is no git repository, or its server refuses the secret {}: check both, for example with `git \
             ls-remote URL`.",
            secret.name()
        )),
    })
}

/// Reads the first answer of a server: its capabilities, and the references of version 0.
fn advertisement(body: &mut dyn BufRead) -> Result<(Vec<String>, Option<References>), Failure> {
    let (mut capabilities, mut references) = (Vec::new(), References::new());
    let (mut is_version_2, mut is_begun) = (false, false);
    while let Some(packet) = read_packet(body)? {
        match packet.line() {
            Some(line) if line.starts_with("# service=") || line == "version 1" => {}
            Some(line) if line == "version 2" => is_version_2 = true,
            Some(line) if is_version_2 => capabilities.push(line),
            Some(line) => {
                is_begun = true;
                let (reference, words) = line.split_once('\0').unwrap_or((&line, ""));
                capabilities.extend(words.split(' ').filter(|word| !word.is_empty()).map(str::to_owned));
                references.extend(advertised(reference)?);
            }
            None if is_begun || is_version_2 => break,
            None => {}
        }
        check_memory(&capabilities, &references)?;
    }
    Ok((capabilities, (!is_version_2).then_some(references)))
}

/// Parses a reference of version 0.
fn advertised(line: &str) -> Result<Option<(String, ObjectId)>, Failure> {
    let (id, name) = line.split_once(' ').ok_or_else(not_git)?;
    // A server without references names its capabilities in an entry of its own.
    if name == "capabilities^{}" || id == "shallow" {
        return Ok(None);
    }
    Ok(Some((name.to_owned(), parse(id)?)))
}

/// Checks the memory that an advertisement needs.
fn check_memory(capabilities: &[String], references: &References) -> Result<(), Failure> {
    if references.len() > REFERENCES {
        return Err(Failure::new(format!("The repository has more than {REFERENCES} branches and tags: use another.")));
    }
    let bytes = || capabilities.iter().map(String::len).sum::<usize>();
    // The sum is computed only for few entries.
    if capabilities.len() > CAPABILITIES || bytes() > CAPABILITY_BYTES {
        return Err(Failure::new("The git server names too many capabilities: check the URL."));
    }
    Ok(())
}

fn parse(hexadecimal: &str) -> Result<ObjectId, Failure> {
    ObjectId::from_hex(hexadecimal.as_bytes()).map_err(|_| not_git())
}

/// Maximum bytes of a packet, with its length.
const PACKET_BYTES: usize = 65_520;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Packet {
    /// End of a message.
    Flush,
    /// Boundary between two sections.
    Delimiter,
    /// Data.
    Data(Vec<u8>),
}

impl Packet {
    /// Returns the data as a line of text without its end; `None` for a boundary.
    fn line(&self) -> Option<String> {
        let Self::Data(data) = self else { return None };
        Some(String::from_utf8_lossy(data).trim_end_matches('\n').to_owned())
    }
}

/// Reads one packet; `None` at the end.
///
/// # Errors
/// The bytes are no packet, or the packet is an error message of the server.
fn read_packet(reader: &mut dyn BufRead) -> Result<Option<Packet>, Failure> {
    if reader.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let mut length = [0; 4];
    reader.read_exact(&mut length)?;
    let digits = std::str::from_utf8(&length).ok().filter(|digits| !digits.starts_with('+'));
    let length = digits.and_then(|digits| usize::from_str_radix(digits, 16).ok());
    let size = match length {
        Some(0) => return Ok(Some(Packet::Flush)),
        Some(1 | 2) => return Ok(Some(Packet::Delimiter)),
        Some(length @ 4..=PACKET_BYTES) => length - 4,
        _ => return Err(not_git()),
    };
    let mut data = vec![0; size];
    reader.read_exact(&mut data)?;
    if let Some(message) = data.strip_prefix(b"ERR ") {
        return Err(refused(message));
    }
    Ok(Some(Packet::Data(data)))
}

fn write_packet(to: &mut Vec<u8>, text: &str) {
    to.extend_from_slice(format!("{:04x}{text}", text.len() + 4).as_bytes());
}

/// Failure of a server that does not speak the protocol.
fn not_git() -> Failure {
    Failure::new("The server does not answer as a git server: check the URL.")
}

/// Failure with a message of the server.
fn refused(message: &[u8]) -> Failure {
    let message = String::from_utf8_lossy(message.get(..message.len().min(200)).unwrap_or_default()).trim().to_owned();
    Failure::new(format!("The git server refuses: {message}."))
}

/// Data of the first band: the server's progress messages are skipped, its errors are failures.
pub(crate) struct FirstBand<R> {
    inner: R,
    packet: Vec<u8>,
    position: usize,
}

impl<R: BufRead> FirstBand<R> {
    /// Reads the bands that begin at this position.
    fn new(inner: R) -> Self {
        Self { inner, packet: Vec::new(), position: 0 }
    }

    fn next(&mut self) -> Result<(), Failure> {
        loop {
            let Some(Packet::Data(data)) = read_packet(&mut self.inner)? else {
                (self.packet, self.position) = (Vec::new(), 0);
                return Ok(());
            };
            match data.split_first() {
                Some((1, content)) if !content.is_empty() => {
                    (self.packet, self.position) = (data, 1);
                    return Ok(());
                }
                Some((3, message)) => return Err(refused(message)),
                _ => {}
            }
        }
    }
}

impl<R: BufRead> BufRead for FirstBand<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.position >= self.packet.len() {
            self.next()?;
        }
        Ok(self.packet.get(self.position..).unwrap_or_default())
    }

    fn consume(&mut self, amount: usize) {
        self.position += amount;
    }
}

impl<R: BufRead> Read for FirstBand<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_answer_of_a_git_server_is_read_or_refused() {
        let name = "any_answer_of_a_git_server_is_read_or_refused";
        launcher_fuzz::run(env!("CARGO_MANIFEST_DIR"), name, 200_000, |bytes| {
            if let Ok((capabilities, references)) = advertisement(&mut &*bytes) {
                check_memory(&capabilities, &references.unwrap_or_default()).unwrap();
            }
            let mut content = Vec::new();
            drop(FirstBand::new(bytes).read_to_end(&mut content));
            assert!(content.len() <= bytes.len());
        });
    }
}
