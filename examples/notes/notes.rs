//! The notes themselves: in memory, ordered by title. A database would do as well.

use std::collections::BTreeMap;
use std::ops::Bound;

pub struct Notes(BTreeMap<String, String>);

impl Notes {
    /// Some notes to begin with.
    pub fn some() -> Self {
        let texts = [
            ("garden", "Water the tomatoes in the evening."),
            ("groceries", "Bread, salt, olives."),
            ("library", "Return the atlas by Friday."),
        ];
        Self(texts.map(|(title, text)| (title.to_owned(), text.to_owned())).into())
    }

    pub fn get(&self, title: &str) -> Option<&String> {
        self.0.get(title)
    }

    pub fn titles(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    /// Some notes behind a title, in order.
    pub fn behind(&self, title: Option<&str>, most: usize) -> Vec<(&String, &String)> {
        let start = title.map_or(Bound::Unbounded, Bound::Excluded);
        self.0.range::<str, _>((start, Bound::Unbounded)).take(most).collect()
    }
}
