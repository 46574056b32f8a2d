//! What the rounds of one request remember of each other: the content of its `requestState`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// Everything goes by key, so that neither the order of questions nor that of effects has to stay the same.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Book {
    /// What was asked, answered or not.
    #[serde(rename = "q")]
    questions: BTreeMap<String, String>,
    /// The answers that were read so far, as they came.
    #[serde(rename = "a")]
    pub(super) answers: Map<String, Value>,
    /// The outcomes of effects.
    #[serde(rename = "d")]
    outcomes: Map<String, Value>,
    /// The effects of this round.
    #[serde(skip)]
    effects: BTreeSet<String>,
}

impl Book {
    /// Notes that something is asked. False if the key stands for another question already, in this round or an earlier
    /// one: its answer would be taken for an answer to this one.
    pub(super) fn note(&mut self, key: &str, question: &Value) -> bool {
        let mark = mark(question);
        match self.questions.get(key) {
            Some(known) => *known == mark,
            None => {
                self.questions.insert(key.to_owned(), mark);
                true
            }
        }
    }

    /// Notes that an effect is wanted. False if one of this key was wanted in this round already.
    pub(super) fn want(&mut self, key: &str) -> bool {
        self.effects.insert(key.to_owned())
    }

    /// The outcome of an effect of an earlier round.
    pub(super) fn outcome(&self, key: &str) -> Option<&Value> {
        self.outcomes.get(key)
    }

    pub(super) fn keep(&mut self, key: &str, outcome: Value) {
        self.outcomes.insert(key.to_owned(), outcome);
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// What the author has to remember, without the answers, which are the client's.
    pub(super) fn own_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(&(&self.questions, &self.outcomes)).unwrap_or_default()
    }

    /// Reads a book that was sealed. `None` if another release wrote it in another way.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}

/// Enough of a hash to tell questions of one author apart.
fn mark(question: &Value) -> String {
    let hash = digest(question);
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The digest of a value, whatever the order of its members.
pub(super) fn digest(value: &Value) -> [u8; 32] {
    let mut hash = Sha256::new();
    feed(&mut hash, value);
    hash.finalize().into()
}

/// Feeds a value to a hash without a copy of it. Every part is written with its kind and its length, so that no two
/// values read the same. Values are as deep as the reader of requests lets them be.
fn feed(hash: &mut Sha256, value: &Value) {
    let text = |hash: &mut Sha256, kind: u8, text: &str| {
        hash.update([kind]);
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    match value {
        Value::Null => hash.update(b"n"),
        Value::Bool(truth) => hash.update([b'b', u8::from(*truth)]),
        Value::Number(number) => text(hash, b'd', &number.to_string()),
        Value::String(string) => text(hash, b's', string),
        Value::Array(values) => {
            hash.update(b"a");
            hash.update((values.len() as u64).to_le_bytes());
            values.iter().for_each(|value| feed(hash, value));
        }
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_unstable_by_key(|(key, _)| *key);
            hash.update(b"o");
            hash.update((sorted.len() as u64).to_le_bytes());
            for (key, value) in sorted {
                text(hash, b'k', key);
                feed(hash, value);
            }
        }
    }
}

/// The digest of the members of an object.
pub(super) fn digest_members(members: &Map<String, Value>) -> [u8; 32] {
    let mut sorted: Vec<_> = members.iter().collect();
    sorted.sort_unstable_by_key(|(key, _)| *key);
    let mut hash = Sha256::new();
    for (key, value) in sorted {
        hash.update((key.len() as u64).to_le_bytes());
        hash.update(key);
        feed(&mut hash, value);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn next_round(book: &Book) -> Book {
        Book::from_bytes(&book.to_bytes()).unwrap()
    }

    #[test]
    fn a_key_stands_for_one_question_in_all_rounds() {
        let mut book = Book::default();
        assert!(book.note("name", &json!({"message": "Who?"})));
        assert!(book.note("name", &json!({"message": "Who?"})));
        assert!(!book.note("name", &json!({"message": "How many?"})));
        let mut next = next_round(&book);
        assert!(!next.note("name", &json!({"message": "How many?"})));
        assert!(next.note("name", &json!({"message": "Who?"})));
    }

    #[test]
    fn an_effect_is_wanted_once_a_round_and_its_outcome_stays() {
        let mut book = Book::default();
        assert!(book.want("charge"));
        assert!(!book.want("charge"));
        book.keep("charge", json!(7));
        let mut next = next_round(&book);
        assert!(next.want("charge"));
        assert_eq!(next.outcome("charge"), Some(&json!(7)));
        assert_eq!(next.outcome("ship"), None);
    }

    #[test]
    fn a_digest_knows_values_and_not_their_order() {
        assert_eq!(
            digest(&json!({"a": {"x": 1, "y": 2}, "b": 3})),
            digest(&json!({"b": 3, "a": {"y": 2, "x": 1}}))
        );
        assert_ne!(digest(&json!({"a": [1, 2]})), digest(&json!({"a": [2, 1]})));
    }

    #[test]
    fn a_book_of_another_release_is_none() {
        assert!(Book::from_bytes(b"[]").is_none());
        assert!(Book::from_bytes(b"").is_none());
    }
}
