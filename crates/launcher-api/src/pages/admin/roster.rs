//! Addresses of the people in a class, as an admin pastes them, and the comparison with the class's workshops.

use std::collections::HashMap;

use launcher_domain::{EmailAddress, InstanceState};

/// Maximum number of entries in one list.
pub(crate) const MAX_ENTRIES: usize = 500;
/// Maximum length of an unreadable entry on the page, in characters.
const MAX_SHOWN: usize = 80;

/// The readable and the unreadable entries of a pasted list, without repetitions, in their order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Roster {
    pub(crate) people: Vec<EmailAddress>,
    /// Start of each entry that is not an e-mail address.
    pub(crate) unreadable: Vec<String>,
}

/// The list has more than [`MAX_ENTRIES`] entries.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooManyEntries;

impl Roster {
    /// Parses addresses that are separated by commas, semicolons or line breaks. An address may have a name:
    /// `Name <address>`.
    ///
    /// # Errors
    /// [`TooManyEntries`].
    pub(crate) fn parse(text: &str) -> Result<Self, TooManyEntries> {
        let mut roster = Self::default();
        for line in text.split(['\n', '\r', ';']) {
            let mut parts = line.split(',').map(str::trim).filter(|part| !part.is_empty()).peekable();
            while let Some(part) = parts.next() {
                // The comma may be part of a name: `Doe, Jane <jane@example.org>`.
                let is_name = !part.contains('@') && parts.peek().is_some_and(|next| next.contains('<'));
                if !is_name {
                    roster.add_part(part);
                }
                if roster.people.len() + roster.unreadable.len() > MAX_ENTRIES {
                    return Err(TooManyEntries);
                }
            }
        }
        Ok(roster)
    }

    /// Adds the addresses of a part without separators: those in angle brackets, else each word with `@`.
    fn add_part(&mut self, part: &str) {
        let bracketed = part.split('<').skip(1).filter_map(|rest| rest.split_once('>')).map(|(inside, _)| inside);
        let mut found: Vec<&str> = bracketed.filter(|inside| inside.contains('@')).collect();
        if found.is_empty() {
            found.extend(part.split_whitespace().filter(|word| word.contains('@')));
        }
        if found.is_empty() {
            found.push(part);
        }
        // One more than the limit is enough to report it.
        found.into_iter().take(MAX_ENTRIES + 1).for_each(|entry| self.add(entry));
    }

    fn add(&mut self, entry: &str) {
        match EmailAddress::parse(entry) {
            Ok(email) if self.people.contains(&email) => {}
            Ok(email) => self.people.push(email),
            Err(_) => {
                let shown: String = entry.chars().take(MAX_SHOWN).collect();
                if !self.unreadable.contains(&shown) {
                    self.unreadable.push(shown);
                }
            }
        }
    }

    /// Returns the people of the list by standing, in the order of [`Standing::ALL`]. `live` has the owner and the
    /// state of each instance of the class that is not terminated.
    pub(crate) fn by_standing<'r>(
        &'r self,
        live: &[(EmailAddress, InstanceState)],
    ) -> Vec<(Standing, Vec<&'r EmailAddress>)> {
        let mut best: HashMap<&EmailAddress, Standing> = HashMap::new();
        for (owner, state) in live {
            let standing = best.entry(owner).or_insert(Standing::NotLaunched);
            *standing = Standing::of(*state).max(*standing);
        }
        let standing = |email: &EmailAddress| best.get(email).copied().unwrap_or(Standing::NotLaunched);
        let people = |wanted| self.people.iter().filter(|email| standing(email) == wanted).collect();
        Standing::ALL.into_iter().map(|wanted| (wanted, people(wanted))).collect()
    }
}

/// State of a person in the class. A later variant wins if the person has several workshops of the template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    NotLaunched,
    Ending,
    Failed,
    Paused,
    Starting,
    Ready,
}

impl Standing {
    /// All variants, in the order in which the page shows them.
    const ALL: [Self; 6] = [Self::NotLaunched, Self::Failed, Self::Starting, Self::Ready, Self::Paused, Self::Ending];

    fn of(state: InstanceState) -> Self {
        match state {
            InstanceState::Queued | InstanceState::Starting => Self::Starting,
            InstanceState::Running => Self::Ready,
            InstanceState::Suspending | InstanceState::Suspended => Self::Paused,
            InstanceState::Failed => Self::Failed,
            InstanceState::Terminating => Self::Ending,
            InstanceState::Terminated => Self::NotLaunched,
        }
    }

    /// Returns the instance state whose name and colour the page uses; `None` for [`Self::NotLaunched`].
    pub(crate) fn state(self) -> Option<InstanceState> {
        match self {
            Self::NotLaunched => None,
            Self::Ending => Some(InstanceState::Terminating),
            Self::Paused => Some(InstanceState::Suspended),
            Self::Failed => Some(InstanceState::Failed),
            Self::Starting => Some(InstanceState::Starting),
            Self::Ready => Some(InstanceState::Running),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (Vec<String>, Vec<String>) {
        let Roster { people, unreadable } = Roster::parse(text).unwrap_or_default();
        (people.iter().map(ToString::to_string).collect(), unreadable)
    }

    #[test]
    fn addresses_are_read_with_all_separators_and_names() {
        let (people, unreadable) = parsed(
            "A@x.org, b@x.org;c@x.org\r\nJane <d@x.org>\n\"Doe, Jane\" <e@x.org>; Roe, Max <f@x.org>\nJo Lee\tg@x.org\n\
             h@x.org i@x.org\nOne <j@x.org> Two <k@x.org>\n\n , ;a@x.org",
        );
        let expected = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"].map(|name| format!("{name}@x.org"));
        assert_eq!((people, unreadable), (expected.to_vec(), vec![]));
    }

    #[test]
    fn unreadable_entries_are_returned_once_and_shortened() {
        let long = "x".repeat(100_000);
        let (people, unreadable) =
            parsed(&format!("alice.x.org, z@x.org\nalice.x.org\na@b@c, ü@x.org; <>\n<@>\n{long}\0"));
        assert_eq!(people, ["z@x.org"]);
        assert_eq!(unreadable, ["alice.x.org", "a@b@c", "ü@x.org", "<>", "@", &"x".repeat(80)]);
    }

    #[test]
    fn list_with_too_many_entries_is_refused() {
        let people = |count: usize| (0..count).map(|number| format!("p{number}@x.org\n")).collect::<String>();
        assert_eq!(Roster::parse(&people(500)).map(|roster| roster.people.len()), Ok(500));
        assert_eq!(Roster::parse(&people(501)), Err(TooManyEntries));
        let wrong: String = (0..501).map(|number| format!("p{number},")).collect();
        assert_eq!(Roster::parse(&wrong), Err(TooManyEntries));
        let one_line: String = (0..501).map(|number| format!("<p{number}@x.org>")).collect();
        assert_eq!(Roster::parse(&one_line), Err(TooManyEntries));
    }
}
