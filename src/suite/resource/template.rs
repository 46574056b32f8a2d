//! URI templates (RFC 6570) that match: which resource of a family a URI names.
//!
//! Taken are `{a}`, `{a,b}`, `{/a,b}` and one `{+a}`. A variable is never empty, and what it matches can be relied on as
//! part of a path: no `/` hides in a simple variable, encoded or not, no segment is `.` or `..`, and no control
//! character or backslash comes through. Nothing is normalised before a match, so that no other spelling of a URI gets
//! further than the URI itself.

use super::uri::{Token, tokens};

/// A template, parsed: text, then variables with text behind each.
#[derive(Debug)]
pub(in crate::suite) struct Template {
    start: Vec<Token>,
    variables: Vec<Variable>,
}

#[derive(Debug)]
struct Variable {
    name: String,
    /// `{+a}`: it matches reserved characters too, slashes among them.
    is_reserved: bool,
    /// The text behind it; empty for the last one at most, so that every variable has an end.
    then: Vec<Token>,
}

/// The variables of a URI and their decoded values.
pub(in crate::suite) type Values = Vec<(String, String)>;

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and what would do.
    pub(in crate::suite) fn parse(template: &str) -> Result<Self, String> {
        if template.is_empty() {
            return Err("its text is empty; `notes://{id}` would do".to_owned());
        }
        let mut parsed = Self { start: Vec::new(), variables: Vec::new() };
        let mut rest = template;
        while let Some((text, behind)) = rest.split_once('{') {
            parsed.push_text(text)?;
            let (expression, behind) =
                behind.split_once('}').ok_or("it has a `{` without its `}`; `{name}` would do")?;
            parsed.push_expression(expression)?;
            rest = behind;
        }
        parsed.push_text(rest)?;
        match parsed.variables.iter().filter(|one| one.is_reserved).count() {
            _ if parsed.variables.is_empty() => {
                Err("it has no variable; for one resource there is `Suite::resource`".to_owned())
            }
            0 | 1 => Ok(parsed),
            _ => Err(
                "it has two variables of the kind `{+name}`, whose borders nobody could tell; one would do"
                    .to_owned(),
            ),
        }
    }

    /// The names of its variables, in order.
    pub(in crate::suite) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.variables.iter().map(|variable| &*variable.name)
    }

    fn push_text(&mut self, text: &str) -> Result<(), String> {
        let text = tokens(text).ok_or_else(|| {
            format!("`{}` holds what a URI cannot hold; percent-encode it", text.escape_debug())
        })?;
        match self.variables.last_mut() {
            None => self.start.extend(text),
            Some(variable) => variable.then.extend(text),
        }
        Ok(())
    }

    fn push_expression(&mut self, expression: &str) -> Result<(), String> {
        let (names, before, between) = match expression.as_bytes().first() {
            Some(b'+') => (expression.get(1..).unwrap_or_default(), "", ","),
            Some(b'/') => (expression.get(1..).unwrap_or_default(), "/", "/"),
            _ => (expression, "", ","),
        };
        for (place, name) in names.split(',').enumerate() {
            self.push_text(if place == 0 { before } else { between })?;
            self.push_variable(name, expression.starts_with('+'))?;
        }
        Ok(())
    }

    fn push_variable(&mut self, name: &str, is_reserved: bool) -> Result<(), String> {
        let fits = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '.');
        if name.is_empty() || !name.chars().all(fits) {
            return Err(format!(
                "`{{{}}}` is not taken; `{{name}}`, `{{a,b}}`, `{{/a,b}}` and `{{+name}}` are, with names of letters, digits, \
                 `_` and `.`",
                name.escape_debug()
            ));
        }
        if self.names().any(|known| known == name) {
            return Err(format!("it has the variable `{name}` twice; each name once would do"));
        }
        if let Some(before) = self.variables.last().filter(|before| before.then.is_empty()) {
            return Err(format!(
                "nothing tells where `{}` ends and `{name}` begins; text between them would do",
                before.name
            ));
        }
        self.variables.push(Variable { name: name.to_owned(), is_reserved, then: Vec::new() });
        Ok(())
    }

    /// The values of the variables, if the template expands to this URI.
    ///
    /// A reserved variable takes what the others leave: those before it are matched from the left, those behind it from
    /// the right, each as short as it can be. No other choice would match more, since simple variables of all URIs that
    /// match hold no reserved character.
    pub(in crate::suite) fn matches(&self, uri: &str) -> Option<Values> {
        let uri = tokens(uri)?;
        let mut rest = uri.strip_prefix(&*self.start)?;
        let pivot = self.variables.iter().position(|one| one.is_reserved);
        let (before, rest_of_variables) = self.variables.split_at(pivot.unwrap_or(self.variables.len() - 1));
        let (pivot, behind) = rest_of_variables.split_first()?;

        let mut values = Vec::with_capacity(self.variables.len());
        for variable in before {
            let end = first(rest, &variable.then)?;
            let (value, more) = rest.split_at(end);
            values.push((variable.name.clone(), variable.decode(value, &[])?));
            rest = more.strip_prefix(&*variable.then)?;
        }
        let mut last_values = Vec::with_capacity(behind.len());
        for (place, variable) in behind.iter().enumerate().rev() {
            rest = rest.strip_suffix(&*variable.then)?;
            let previous = place.checked_sub(1).and_then(|place| behind.get(place)).unwrap_or(pivot);
            let (more, value) = rest.split_at(last(rest, &previous.then)?);
            last_values.push((variable.name.clone(), variable.decode(value, &[])?));
            rest = more;
        }
        let value = rest.strip_suffix(&*pivot.then)?;
        let text_before = before.last().map_or(&self.start, |variable| &variable.then);
        values.push((pivot.name.clone(), pivot.decode(value, text_before)?));
        values.extend(last_values.into_iter().rev());
        Some(values)
    }
}

/// Where a text first occurs behind at least one token.
fn first(tokens: &[Token], text: &[Token]) -> Option<usize> {
    let at = tokens.get(1..)?.windows(text.len()).position(|window| window == text)?;
    Some(at + 1)
}

/// Where a text last occurs in front of at least one token: the place behind it.
fn last(tokens: &[Token], text: &[Token]) -> Option<usize> {
    let (_, front) = tokens.split_last()?;
    let at = front.windows(text.len()).rposition(|window| window == text)?;
    Some(at + text.len())
}

impl Variable {
    /// The value that expands to these tokens, if it is one that may be passed on.
    fn decode(&self, value: &[Token], text_before: &[Token]) -> Option<String> {
        let is_allowed = |token: &Token| {
            if token.is_encoded {
                !matches!(token.byte, b'/' | b'\\')
            } else {
                self.is_reserved || token.is_unreserved()
            }
        };
        if value.is_empty() || !value.iter().all(is_allowed) {
            return None;
        }
        let text = String::from_utf8(value.iter().map(|token| token.byte).collect()).ok()?;
        let is_relative = text.split('/').any(|segment| matches!(segment, "." | ".."));
        // Two slashes make an absolute path of what is joined to a folder; those of `file://` do not.
        let is_absolute = text.starts_with('/') && ends_in(text_before, "/") && !ends_in(text_before, "://");
        let leaves_folder = is_absolute || cfg!(windows) && names_a_drive(&text);
        let is_safe =
            !is_relative && !leaves_folder && !text.contains("//") && !text.contains(char::is_control);
        is_safe.then_some(text)
    }
}

/// Whether Windows takes a path for one on a drive of its own, as in `C:secret`: joined to a folder, it leaves that.
fn names_a_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

fn ends_in(tokens: &[Token], text: &str) -> bool {
    text.bytes()
        .rev()
        .zip(tokens.iter().rev().map(Some).chain(std::iter::repeat(None)))
        .all(|(byte, token)| token.is_some_and(|token| token.byte == byte && !token.is_encoded))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matched(template: &str, uri: &str) -> Option<Vec<String>> {
        let values = Template::parse(template).unwrap().matches(uri)?;
        Some(values.into_iter().map(|(_, value)| value).collect())
    }

    fn values<const N: usize>(values: [&str; N]) -> Option<Vec<String>> {
        Some(values.map(str::to_owned).to_vec())
    }

    #[test]
    fn simple_variables() {
        assert_eq!(matched("test://template/{id}/data", "test://template/123/data"), values(["123"]));
        assert_eq!(matched("a://{x,y}", "a://1,2"), values(["1", "2"]));
        assert_eq!(matched("a://{x}-{y}.md", "a://1-2-3.md.md"), values(["1", "2-3.md"]));
        assert_eq!(matched("a://{x}", "a://caf%C3%A9%20%e2%82%ac"), values(["café €"]));
        assert_eq!(matched("a://{x}2{y}", "a://%12%7e2b"), None, "a control character");
        assert_eq!(matched("a://{x}1{y}", "a://%411b"), values(["A", "b"]), "no text inside of an escape");
        for uri in [
            "a://", "a://1/2", "a://1?2", "a://1,2", "a://1:2", "A://1", "a:/1", "a://1%", "a://%zz",
            "a://%ff", "a://é", "a://1 2", "a://a b", "b://1", "",
        ] {
            assert_eq!(matched("a://{x}", uri), None, "{uri}");
        }
    }

    #[test]
    fn path_and_reserved_variables() {
        assert_eq!(matched("a://b{/x,y}", "a://b/1/2"), values(["1", "2"]));
        assert_eq!(matched("a://b{/x}/end", "a://b/1/end"), values(["1"]));
        assert_eq!(matched("a://{+path}", "a://b/c.md?q=1#f"), values(["b/c.md?q=1#f"]));
        assert_eq!(matched("a://{repo}/{+path}", "a://r/b/c"), values(["r", "b/c"]));
        assert_eq!(matched("a://{+path}/by/{user}.txt", "a://b/by/c/by/u.txt"), values(["b/by/c", "u"]));
        assert_eq!(matched("a://{+path}-{id}", "a://a-b/c-7"), values(["a-b/c", "7"]));
        assert_eq!(matched("file://{+path}", "file:///home/x"), values(["/home/x"]));
        assert_eq!(matched("a://{+path}/raw", "a://raw"), None);
        assert_eq!(matched("a://{+path}/raw", "a:///raw"), None);
    }

    #[test]
    fn res_13_traversal_and_encoded_slashes_widen_nothing() {
        for name in [
            "..",
            ".",
            "%2e%2e",
            "%2E.",
            "..%2f..%2fetc",
            "a%2Fb",
            "a%5Cb",
            "..%5c",
            "%2f",
            "a%00b",
            "a/b",
            "../a",
            "a%0ab",
        ] {
            assert_eq!(matched("file:///docs/{name}", &format!("file:///docs/{name}")), None, "{name}");
            assert_eq!(matched("file:///docs{/name}", &format!("file:///docs/{name}")), None, "{name}");
        }
        for path in [
            "../etc",
            "a/../b",
            "a/..",
            "./a",
            "a/.",
            "a/%2e%2e/b",
            "..%2fetc",
            "a%2fb",
            "/etc/passwd",
            "a//b",
            "%2fetc",
            "..%5ca",
            "a%00",
        ] {
            assert_eq!(matched("file:///docs/{+path}", &format!("file:///docs/{path}")), None, "{path}");
        }
        assert_eq!(matched("file:///docs/{name}", "file:///docs/..."), values(["..."]));
        // Decoded once and not again: what looks like an escape then is text.
        assert_eq!(matched("file:///docs/{name}", "file:///docs/%252e%252e%252f"), values(["%2e%2e%2f"]));
    }

    #[test]
    fn res_13_a_drive_is_no_name_in_a_folder() {
        for (path, names_one) in [
            ("C:/x", true),
            ("c:x", true),
            ("z:", true),
            ("ab:c", false),
            ("7:x", false),
            ("é:x", false),
            ("", false),
        ] {
            assert_eq!(names_a_drive(path), names_one, "{path}");
        }
        let value = matched("a://b/{+x}", "a://b/C:x");
        assert_eq!(value.is_none(), cfg!(windows), "{value:?}");
    }

    #[test]
    fn another_spelling_of_the_text_is_another_uri() {
        assert_eq!(matched("a://b/{x}", "a://%62/1"), None);
        assert_eq!(matched("a://b/{x}", "a://b%2F1"), None);
        assert_eq!(matched("a://b/{x}", "a://b/c/../1"), None);
    }

    #[test]
    fn what_is_not_taken_is_refused_with_what_would_do() {
        for (template, fault) in [
            ("a://b", "no variable"),
            ("a://{x", "without its `}`"),
            ("a://{}", "`{}` is not taken"),
            ("a://{?q}", "`{?q}` is not taken"),
            ("a://{x:3}", "`{x:3}` is not taken"),
            ("a://{x*}", "is not taken"),
            ("a://{x}{y}", "where `x` ends and `y` begins"),
            ("a://{x}/{x}", "`x` twice"),
            ("a://{+x}/{+y}", "two variables of the kind"),
            ("a://{+x,y}", "two variables of the kind"),
            ("a://b c/{x}", "percent-encode"),
            ("a://é/{x}", "percent-encode"),
            ("a://{x}}", "percent-encode"),
        ] {
            let told = Template::parse(template).unwrap_err();
            assert!(told.contains(fault), "{template}: {told}");
        }
    }

    /// RFC 6570, section 3.2: what is neither unreserved nor, for `{+a}`, reserved, is percent-encoded.
    fn expand(value: &str, is_reserved: bool) -> String {
        let encode = |byte: u8| {
            let token = Token { byte, is_encoded: false };
            let stays = token.is_unreserved()
                || (is_reserved && byte != b'%' && tokens(&(byte as char).to_string()).is_some());
            if stays { (byte as char).to_string() } else { format!("%{byte:02X}") }
        };
        value.bytes().map(encode).collect()
    }

    fn simple() -> impl Strategy<Value = String> {
        "[a-c.~é€ %?#:,&=\\-]{1,5}".prop_filter("a segment of its own", |value| value != "." && value != "..")
    }

    fn path() -> impl Strategy<Value = String> {
        proptest::collection::vec(simple(), 1..4).prop_map(|segments| segments.join("/"))
    }

    proptest! {
        #[test]
        fn matches_what_it_expands_to(x in simple(), y in simple(), path in path()) {
            let (ex, ey, ep) = (expand(&x, false), expand(&y, false), expand(&path, true));
            let two = values([&x, &y]);
            prop_assert_eq!(matched("t://{x}", &format!("t://{ex}")), values([&x]));
            prop_assert_eq!(matched("t://{x}/raw", &format!("t://{ex}/raw")), values([&x]));
            prop_assert_eq!(matched("t://{x,y}", &format!("t://{ex},{ey}")), two.clone());
            prop_assert_eq!(matched("t:{/x,y}", &format!("t:/{ex}/{ey}")), two.clone());
            prop_assert_eq!(matched("t://{x}/a:{y}.md", &format!("t://{ex}/a:{ey}.md")), two);
            prop_assert_eq!(matched("t://{+p}", &format!("t://{ep}")), values([&path]));
            prop_assert_eq!(
                matched("t://{x}/{+p}/end/{y}", &format!("t://{ex}/{ep}/end/{ey}")),
                values([&x, &path, &y])
            );
        }

        #[test]
        fn what_matches_is_what_it_expands_to(uri in "t://[a-c./%2eEfF5C,-]{0,12}") {
            for (template, is_reserved) in [("t://{v}", false), ("t://{+v}", true)] {
                if let Some(value) = matched(template, &uri) {
                    let decoded = tokens(&expand(&value[0], is_reserved)).unwrap();
                    let given = tokens(&uri[4..]).unwrap();
                    prop_assert!(decoded.iter().map(|t| t.byte).eq(given.iter().map(|t| t.byte)));
                    prop_assert!(is_reserved || !value[0].contains('/'));
                    prop_assert!(!value[0].split('/').any(|segment| segment == ".."));
                }
            }
        }

        #[test]
        fn two_variables_with_any_text_between_match_all_that_they_expand_to(
            x in simple(), y in simple(), between in "[ab/,-]{1,2}",
        ) {
            let uri = format!("t://{}{between}{}", expand(&x, false), expand(&y, false));
            let template = format!("t://{{x}}{between}{{y}}");
            let found = matched(&template, &uri);
            let again = found.map(|v| format!("t://{}{between}{}", expand(&v[0], false), expand(&v[1], false)));
            // Where the text may be part of a value, a segment `.` may come out of the borders and is refused.
            prop_assert!(again.as_ref() == Some(&uri) || x.contains('.') || y.contains('.'), "{uri} {again:?}");
        }

        #[test]
        fn anything_is_parsed_and_matched_without_a_panic(template in ".{0,20}", uri in ".{0,20}", more in "[{}+/,a]{0,12}") {
            for template in [template, format!("a:{more}")] {
                if let Ok(template) = Template::parse(&template) {
                    let _ = template.matches(&uri);
                    let _ = template.matches(&format!("a:{uri}"));
                }
            }
        }
    }
}
