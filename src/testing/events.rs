//! The events of a stream, cut out of the bytes as they come.

use bytes::Bytes;

/// Bytes of a stream that do not make a whole event yet.
#[derive(Default)]
pub(super) struct Events(Vec<u8>);

impl Events {
    pub(super) fn push(&mut self, bytes: &Bytes) {
        self.0.extend_from_slice(bytes);
    }

    /// The next event, or comment, as it was written, without the empty line that ends it.
    pub(super) fn next(&mut self) -> Option<String> {
        let end = self.0.windows(2).position(|two| two == b"\n\n")?;
        let event: Vec<u8> = self.0.drain(..end + 2).take(end).collect();
        Some(String::from_utf8_lossy(&event).into_owned())
    }

    /// What is left at the end of the body: nothing, if a stream was whole.
    pub(super) fn rest(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.0)).into_owned()
    }
}

/// The data of an event; `None` for a comment, which only keeps the stream alive (SSE-06).
pub(super) fn data(event: &str) -> Option<String> {
    let lines = event.lines().filter_map(|line| line.strip_prefix("data:"));
    let lines: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_comes_out_when_it_is_whole() {
        let mut events = Events::default();
        events.push(&Bytes::from_static(b"data: {\"a\""));
        assert_eq!(events.next(), None);
        events.push(&Bytes::from_static(b":1}\n\n:\n\ndata"));
        assert_eq!(events.next().as_deref(), Some("data: {\"a\":1}"));
        assert_eq!(events.next().as_deref(), Some(":"));
        assert_eq!((events.next(), events.rest().as_str()), (None, "data"));
    }

    #[test]
    fn a_comment_has_no_data_and_lines_of_data_are_one_text() {
        assert_eq!(data(":"), None);
        assert_eq!(data("data: a\ndata:b").as_deref(), Some("a\nb"));
    }
}
