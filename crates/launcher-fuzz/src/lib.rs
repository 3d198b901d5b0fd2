//! Fuzzing of the parsers of strangers' bytes. For tests only.
//!
//! A target is a test that calls [`run`], in the module of its parser. Its corpus is the folder `corpus/NAME` of its crate. In the
//! test suite, the target reads each file of the corpus, and a fixed number of mutations, which are the same in each run. With
//! `FUZZ_STDIN`, it reads one input from standard input instead, and aborts if it panics: `e2e/fuzz.sh` runs it so under
//! AFL++, which searches for inputs with other paths through the code.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

/// Maximum bytes of an input. Longer ones are truncated: the test suite runs many of them.
const MAX_BYTES: usize = 64 << 10;
/// Maximum changes of one mutation.
const CHANGES: usize = 4;
/// Bytes at the limits of numbers, and bytes with a meaning in texts.
const BYTES: &[u8] = b"\0\x01\x7f\x80\xff\r\n\t :;,./%&?#+-_\"'{}[]0189aAzZ";

/// Runs a target on its corpus, and on `rounds` mutations. `folder` is the folder of its crate.
///
/// # Panics
/// If the target panics. The message has the input.
pub fn run(folder: &str, name: &str, rounds: usize, target: impl Fn(&[u8])) {
    if std::env::var_os("FUZZ_STDIN").is_some() {
        std::panic::set_hook(Box::new(|_| std::process::abort()));
        let mut input = Vec::new();
        std::io::stdin().read_to_end(&mut input).unwrap();
        return target(&input);
    }
    let corpus = corpus(&Path::new(folder).join("corpus").join(name));
    assert!(!corpus.is_empty(), "the corpus of {name} is empty");
    let mut random = Random::new(name);
    let attempt = |input: &[u8]| {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(input))) {
            let failed = std::env::temp_dir().join(format!("{name}.failed"));
            std::fs::write(&failed, input).unwrap();
            eprint_input(&failed, input);
            resume_unwind(panic);
        }
    };
    corpus.iter().for_each(|input| attempt(input));
    for _ in 0..rounds {
        attempt(&mutated(&corpus, &mut random));
    }
}

#[expect(clippy::print_stderr, reason = "the output of a failed test")]
fn eprint_input(path: &Path, input: &[u8]) {
    let start = input.get(..200).unwrap_or(input).escape_ascii();
    eprintln!("failed with the input in {}: {start}", path.display());
}

/// Reads all files of a folder, in the order of their names.
fn corpus(folder: &Path) -> Vec<Vec<u8>> {
    let entries = folder.read_dir().unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Returns an input of the corpus with some changes.
fn mutated(corpus: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut input = random.one_of(corpus).clone();
    for _ in 0..=random.below(CHANGES) {
        change(&mut input, corpus, random);
    }
    input.truncate(MAX_BYTES);
    input
}

fn change(input: &mut Vec<u8>, corpus: &[Vec<u8>], random: &mut Random) {
    let range = |length: usize, random: &mut Random| {
        let start = random.below(length + 1);
        start..start + random.below((length - start).min(64) + 1)
    };
    let (place, at) = (range(input.len(), random), random.below(input.len().max(1)));
    match random.below(7) {
        0 | 1 if !input.is_empty() => input[at] ^= 1 << random.below(8),
        2 | 3 if !input.is_empty() => input[at] = *random.one_of(BYTES),
        4 => drop(input.drain(place)),
        5 => {
            let other = random.one_of(corpus);
            let part = other[range(other.len(), random)].to_vec();
            drop(input.splice(place, part));
        }
        _ => {
            let part = input[place].repeat(1 + random.below(3));
            drop(input.splice(at.min(input.len())..at.min(input.len()), part));
        }
    }
}

/// Random numbers (xorshift64), the same in each run.
struct Random(u64);

impl Random {
    fn new(name: &str) -> Self {
        let seed = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Self(seed | 1)
    }

    /// Returns a number below `end`, which is above zero.
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap_or_default() % end
    }

    fn one_of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}
