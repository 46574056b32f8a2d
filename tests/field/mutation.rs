//! Seeds and mutations of them: input that is nearly right, for the tests that send anything.

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::Index;

/// One change of some bytes. Places are shares of the length, so that they fit whatever was changed before.
#[derive(Clone, Debug)]
enum Mutation {
    Replace(Index, u8),
    Remove(Index, usize),
    Insert(Index, Vec<u8>),
    Repeat(Index, usize),
    CutOff(Index),
}

/// What parsers trip over, for insertion.
const TOKENS: &[&str] = &[
    "\r\n",
    "\r\n\r\n",
    "\0",
    "\u{feff}",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\u0000",
    "\\ud800",
    "null",
    "1e400",
    "-",
    ":",
    ",",
    "=?base64?",
    "?=",
    "Content-Length: 5\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Host: localhost\r\n",
    "Connection: close\r\n",
    "\"id\":null,",
    "\"_meta\":{}",
    "HTTP/1.1",
    "ffffffffffffffff\r\n",
    "é",
    "❄",
];

fn mutation() -> impl Strategy<Value = Mutation> {
    let token = proptest::sample::select(TOKENS).prop_map(|token| token.as_bytes().to_vec());
    let noise = proptest::collection::vec(any::<u8>(), 1..8);
    prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Mutation::Replace(at, byte)),
        (any::<Index>(), 1..40_usize).prop_map(|(at, length)| Mutation::Remove(at, length)),
        (any::<Index>(), prop_oneof![3 => token, 1 => noise])
            .prop_map(|(at, bytes)| Mutation::Insert(at, bytes)),
        (any::<Index>(), 1..60_usize).prop_map(|(at, length)| Mutation::Repeat(at, length)),
        any::<Index>().prop_map(Mutation::CutOff),
    ]
}

impl Mutation {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let end = bytes.len();
        let place = |at: &Index| at.index(end + 1);
        let range = |at: &Index, length: usize| place(at)..(place(at) + length).min(end);
        match self {
            Self::Replace(at, byte) => {
                let at = place(at);
                if let Some(old) = bytes.get_mut(at) {
                    *old = *byte;
                }
            }
            Self::Remove(at, length) => drop(bytes.drain(range(at, *length))),
            Self::Insert(at, new) => {
                let at = place(at);
                bytes.splice(at..at, new.iter().copied());
            }
            Self::Repeat(at, length) => {
                let again = bytes[range(at, *length)].to_vec();
                let at = place(at);
                bytes.splice(at..at, again);
            }
            Self::CutOff(at) => bytes.truncate(place(at)),
        }
    }
}

/// A seed of a fuzz target, with up to five mutations.
pub fn mutated(target: &str) -> impl Strategy<Value = Vec<u8>> + use<> {
    let seeds = proptest::sample::select(seeds(target));
    (seeds, proptest::collection::vec(mutation(), 0..5)).prop_map(|(mut bytes, mutations)| {
        mutations.iter().for_each(|mutation| mutation.apply(&mut bytes));
        bytes
    })
}

/// The committed seeds of a fuzz target, in a stable order.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let entries = std::fs::read_dir(folder).expect("the seeds are there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a seed")).collect()
}
