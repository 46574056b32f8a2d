//! HTTP-20: a request head is bounded; beyond is 431. The buffer that hyper reads a head into stops it too, but grows in
//! steps, so that its own limit is passed by up to as much again.

use http::request::Parts;

use super::errors::Refusal;

/// Checks the size of a head.
///
/// # Errors
///
/// 431.
pub(crate) fn check(head: &Parts, limit: usize) -> Result<(), Refusal> {
    if of(head) <= limit { Ok(()) } else { Err(Refusal::head_too_large(limit)) }
}

/// The size of a head as it is sent over HTTP/1.1: request line, header lines and the empty line.
pub(crate) fn of(head: &Parts) -> usize {
    let line = head.method.as_str().len() + target(head) + "  HTTP/1.1\r\n".len();
    let headers = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    line + headers.sum::<usize>() + "\r\n".len()
}

/// What a head takes in memory, by the measure of RFC 9113, section 6.5.2: 32 bytes for each field beside its text. Many small
/// fields take much more than they send.
pub(crate) fn in_memory(head: &Parts) -> usize {
    of(head) + 32 * head.headers.len()
}

fn target(head: &Parts) -> usize {
    let authority = head.uri.authority().map_or(0, |authority| authority.as_str().len());
    authority + head.uri.path_and_query().map_or(0, |path| path.as_str().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_20_every_byte_of_a_head_counts() {
        let (head, ()) =
            http::Request::post("/mcp").header("host", "localhost").body(()).unwrap().into_parts();
        let sent = "POST /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n".len();
        assert_eq!(check(&head, sent), Ok(()));
        let refusal = check(&head, sent - 1).unwrap_err();
        assert_eq!((refusal.status.as_u16(), refusal.closes), (431, true));
        assert_eq!(in_memory(&head), sent + 32);
    }
}
