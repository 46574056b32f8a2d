//! The floors: a module of `src/` uses lower floors only, and none of its own floor beside it.
#![allow(missing_docs)]
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

use std::fs;
use std::path::{Path, PathBuf};

/// Folder and floor, as `src/lib.rs` draws them.
const FLOORS: [(&str, u8); 11] = [
    ("wire", 0),
    ("rules", 1),
    ("handler", 2),
    ("request", 3),
    ("suite", 3),
    ("http", 4),
    ("stdio", 4),
    ("legacy", 4),
    ("tree", 5),
    ("testing", 6),
    ("fuzzing", 6),
];

/// The files of the top floor: they may use everything.
const TOP: [&str; 2] = ["lib.rs", "prelude.rs"];

#[test]
fn every_module_uses_lower_floors_only() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&source, &mut files);
    assert!(files.len() > 50, "found only {files:?}");
    let faults: Vec<String> = files
        .iter()
        .flat_map(|file| {
            let name = file.strip_prefix(&source).expect("a file of src");
            faults(&name.to_string_lossy().replace('\\', "/"), &read(file))
        })
        .collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_folder_has_a_floor() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in fs::read_dir(source).expect("src") {
        let name = entry.expect("an entry").file_name().into_string().expect("a name");
        assert!(TOP.contains(&name.as_str()) || floor(&name).is_some(), "src/{name} is on no floor");
    }
}

#[test]
fn the_time_of_day_is_read_by_the_clock_alone() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&source, &mut files);
    files.retain(|file| without_comments(&read(file)).contains("SystemTime::now"));
    assert_eq!(files, [source.join("handler/clock.rs")], "others ask `Clock`, which a test can move");
}

#[test]
fn upward_sideward_and_hidden_imports_are_found() {
    let found = |file: &str, code: &str| faults(file, code).len();
    assert_eq!(found("rules/a.rs", "use crate::wire::Tool;"), 0);
    assert_eq!(found("rules/a.rs", "use crate::rules::b;"), 0);
    assert_eq!(found("rules/a.rs", "use crate::handler::Channel;"), 1);
    assert_eq!(found("suite/a.rs", "use crate::request::Slots;"), 1);
    assert_eq!(found("wire/a.rs", "use crate::{\n    rules::{order, reply},\n    wire::Tool,\n};"), 1);
    assert_eq!(found("http/a.rs", "let a = crate::tree::Error::new();"), 1);
    // A name that `lib.rs` re-exports is on the top floor.
    assert_eq!(found("handler/a.rs", "use crate::Suite;"), 1);
    assert_eq!(found("handler/mod.rs", "use super::tree;"), 1);
    assert_eq!(found("handler/a.rs", "use super::super::tree;"), 1);
    assert_eq!(found("wire/a.rs", "/// See [`Suite`](crate::Suite).\nuse super::Tool;"), 0);
    assert_eq!(found("wire/a.rs", "macro_rules! a { () => { $crate::Suite }; }"), 0);
}

fn faults(file: &str, text: &str) -> Vec<String> {
    if TOP.contains(&file) {
        return Vec::new();
    }
    let own = file.split('/').next().unwrap_or(file);
    let Some(limit) = floor(own) else {
        return vec![format!("src/{file}: `{own}` is on no floor")];
    };
    let code = without_comments(text);
    let mut faults: Vec<String> = modules(&code)
        .into_iter()
        .filter(|used| used != own && floor(used).is_none_or(|floor| floor >= limit))
        .map(|used| {
            format!("src/{file}: `crate::{used}` is not below floor {limit}: move it down, or pass it in as a value")
        })
        .collect();
    let leaves = code.contains("super::super::")
        || (file.ends_with("/mod.rs") && code.lines().any(|line| line.starts_with("use super::")));
    if leaves {
        faults.push(format!("src/{file}: `super` leaves the folder: name the path from `crate`"));
    }
    faults
}

fn floor(name: &str) -> Option<u8> {
    FLOORS.iter().find(|(known, _)| *known == name).map(|(_, floor)| *floor)
}

/// The first name after each `crate::`, those in braces too.
fn modules(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c == '$' || c == '_' || c.is_alphanumeric()) {
            continue;
        }
        let after = &code[at + "crate::".len()..];
        match after.strip_prefix('{') {
            Some(group) => found.extend(first_names(group)),
            None => found.push(name(after)),
        }
    }
    found
}

/// The first names of `wire::Tool, rules::{a, b}}`, up to the brace that closes the group.
fn first_names(group: &str) -> Vec<String> {
    let mut names = vec![name(group.trim_start())];
    let mut depth = 1;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => break,
            '}' => depth -= 1,
            ',' if depth == 1 => names.push(name(group[at + 1..].trim_start())),
            _ => {}
        }
    }
    // A comma may be the last thing in a group.
    names.retain(|name| !name.is_empty());
    names
}

fn name(text: &str) -> String {
    text.chars().take_while(|c| *c == '_' || c.is_alphanumeric()).collect()
}

fn without_comments(text: &str) -> String {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    code.collect::<Vec<_>>().join("\n")
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
