//! `clauses.md` says what the names in comments and test titles stand for: all of them, and no others.
#![allow(missing_docs)]
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const FOLDERS: [&str; 5] = ["src", "actors", "tests", "examples", "benches"];

/// What looks like a clause and is none.
const NO_CLAUSES: [&str; 2] = ["UTF-16", "UTF-32"];

#[test]
fn every_name_in_use_has_its_line_and_every_line_is_in_use() {
    let mut used = BTreeMap::new();
    for folder in FOLDERS {
        let mut files = Vec::new();
        rust_files(&root().join(folder), &mut files);
        // The names in here are examples.
        files.retain(|file| !file.ends_with("tests/clauses.rs"));
        for file in files {
            for name in names(&read(&file)) {
                used.entry(name).or_insert_with(|| file.clone());
            }
        }
    }
    assert!(used.len() > 300, "found only {used:?}");
    let told = told(&read(&root().join("clauses.md")));
    let missing = used.iter().filter(|(name, _)| !told.contains(*name));
    let unused = told.iter().filter(|name| !used.contains_key(*name));
    let faults: Vec<String> = missing
        .map(|(name, file)| format!("{name} of {} is not in clauses.md", file.display()))
        .chain(unused.map(|name| format!("{name} of clauses.md is used nowhere")))
        .collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_page_has_its_address_and_every_address_its_clause() {
    let text = read(&root().join("clauses.md"));
    let clauses = text.lines().filter(|line| line.starts_with("- `"));
    let named = clauses.filter_map(|line| Some(line.strip_suffix(']')?.rsplit_once(" [")?.1));
    let named: BTreeSet<&str> = named.collect();
    let addresses =
        text.lines().filter_map(|line| Some(line.strip_prefix('[')?.split_once("]: https://")?.0));
    assert_eq!(named, addresses.collect());
}

#[test]
fn every_rule_has_its_clauses_on_its_first_line_and_its_tests_below() {
    let mut files = Vec::new();
    rust_files(&root().join("src/rules"), &mut files);
    files.retain(|file| !file.ends_with("mod.rs"));
    assert!(files.len() > 25, "{files:?}");
    for file in files {
        let text = read(&file);
        let first = text.lines().next().unwrap_or_default();
        assert!(!names(first).is_empty(), "{} names no clause: {first}", file.display());
        assert!(text.contains("#[cfg(test)]"), "{} has no tests", file.display());
    }
}

#[test]
fn names_are_found_in_text_comments_and_titles() {
    let found = |text: &str| names(text).into_iter().collect::<Vec<_>>().join(" ");
    assert_eq!(found("//! HDR-01, A-39: it is, UTF-16 or not."), "A-39 HDR-01");
    assert_eq!(found("/// As XHDR-02 to\n/// XHDR-04 say (E8)."), "E8 XHDR-02 XHDR-03 XHDR-04");
    assert_eq!(found("assert!(it, \"A-23: it stays\"); let e8 = \"E8\";"), "A-23");
    assert_eq!(found("fn base_06_and_e4_an_id_is_kept() {"), "BASE-06 E4");
    assert_eq!(found("async fn res_06_res_07_and_14_contents() {"), "RES-06 RES-07 RES-14");
    assert_eq!(found("fn xhdr_02_to_04_the_name_is_a_token() {"), "XHDR-02 XHDR-03 XHDR-04");
    assert_eq!(found("fn prm_08_to_prm_10_every_kind() {"), "PRM-08 PRM-09 PRM-10");
    assert_eq!(found("fn step_5_a_13_a_notification_needs_no_headers() {"), "A-13");
    assert_eq!(found("fn step_10_comes_before_step_11() {"), "");
    assert_eq!(found("fn a_limit_of_10_is_kept() {"), "");
}

/// The names that lines of the file explain.
fn told(text: &str) -> BTreeSet<String> {
    let names = text.lines().filter_map(|line| Some(line.strip_prefix("- `")?.split_once('`')?.0.to_owned()));
    let mut told = BTreeSet::new();
    for name in names {
        assert!(told.insert(name.clone()), "clauses.md has {name} twice");
    }
    told
}

/// The names that a source file uses.
fn names(text: &str) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = titles(text).flat_map(names_of_title).collect();
    let comments: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once("//")?.1)).collect();
    found.extend(words(&comments.join("\n")).filter(|word| is_case(word)).map(str::to_owned));
    let words: Vec<&str> = words(text).collect();
    for (at, word) in words.iter().enumerate() {
        let Some((subject, first)) = clause(word) else { continue };
        let last = match words.get(at + 1..at + 3) {
            Some(["to", last]) => clause(last).map_or(first, |(_, last)| last),
            _ => first,
        };
        found.extend((first..=last).map(|number| name(subject, number)));
    }
    found
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').filter(|word| !word.is_empty())
}

/// `META-12`: the subject in capitals and two digits.
fn clause(word: &str) -> Option<(&str, u8)> {
    let (subject, number) = word.split_once('-').filter(|_| !NO_CLAUSES.contains(&word))?;
    let is_subject = (1..=5).contains(&subject.len()) && subject.bytes().all(|c| c.is_ascii_uppercase());
    let is_number = number.len() == 2 && number.bytes().all(|c| c.is_ascii_digit());
    (is_subject && is_number).then(|| Some((subject, number.parse().ok()?)))?
}

/// `E16`: one of the letters that cases have, and a number.
fn is_case(word: &str) -> bool {
    word.strip_prefix(|letter| ('A'..='P').contains(&letter))
        .is_some_and(|number| (1..=2).contains(&number.len()) && number.bytes().all(|c| c.is_ascii_digit()))
}

fn titles(text: &str) -> impl Iterator<Item = &str> {
    let functions = text.split("fn ").skip(1);
    functions.filter_map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next())
}

/// The names at the beginning of a title: `base_06_and_e4_an_id_is_kept`, `xhdr_02_to_04_tokens`, and before them perhaps a step.
fn names_of_title(title: &str) -> Vec<String> {
    let parts: Vec<String> = title.split('_').map(str::to_uppercase).collect();
    let mut parts = match parts.as_slice() {
        [step, _, rest @ ..] if step == "STEP" => rest,
        all => all,
    };
    let mut found: Vec<String> = Vec::new();
    loop {
        // A number alone is another one of the same subject.
        let subject = found.last().and_then(|name| name.split_once('-')).map_or("", |(subject, _)| subject);
        let (more, rest) = match parts {
            [and, rest @ ..] if and == "AND" && !found.is_empty() => (Vec::new(), rest),
            [case, rest @ ..] if is_case(case) => (vec![case.clone()], rest),
            [to, same, last, rest @ ..] if to == "TO" && same == subject => (up_to(found.last(), last), rest),
            [to, last, rest @ ..] if to == "TO" && !found.is_empty() => (up_to(found.last(), last), rest),
            [number, rest @ ..] if clause(&format!("{subject}-{number}")).is_some() => {
                (vec![format!("{subject}-{number}")], rest)
            }
            [subject, number, rest @ ..] if clause(&format!("{subject}-{number}")).is_some() => {
                (vec![format!("{subject}-{number}")], rest)
            }
            _ => return found,
        };
        found.extend(more);
        parts = rest;
    }
}

/// The names behind this one, up to the one with this number.
fn up_to(first: Option<&String>, last: &str) -> Vec<String> {
    let range = || {
        let (subject, first) = clause(first?)?;
        Some((first + 1..=last.parse().ok()?).map(|number| name(subject, number)).collect())
    };
    range().unwrap_or_default()
}

fn name(subject: &str, number: u8) -> String {
    format!("{subject}-{number:02}")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
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
