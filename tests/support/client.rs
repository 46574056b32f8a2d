//! An HTTP/1.1 client that hides nothing: one socket, heads and events as they arrive.

use std::net::SocketAddr;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::{Post, Server};

const LIMIT: Duration = Duration::from_secs(20);

/// Over TCP, unless a test opens it over something else.
pub struct Client<S = TcpStream> {
    pub socket: S,
    host: String,
    buffer: Vec<u8>,
    /// The response that is being read is chunked.
    chunked: bool,
}

/// A response, read to its end.
#[derive(Clone, Debug)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    pub fn is_stream(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }

    /// The messages: the one object of a JSON body, or each event of a stream.
    pub fn messages(&self) -> Vec<Value> {
        let parse = |json: &str| serde_json::from_str(json).unwrap_or_else(|e| panic!("{e} in {json:?}"));
        if self.is_stream() {
            self.body.lines().filter_map(|line| line.strip_prefix("data: ")).map(parse).collect()
        } else if self.body.is_empty() {
            Vec::new()
        } else {
            vec![parse(&self.body)]
        }
    }

    /// The last message: the response of JSON-RPC.
    pub fn answer(&self) -> Value {
        self.messages().pop().unwrap_or_else(|| panic!("no message in {self:?}"))
    }

    pub fn result(&self) -> Value {
        self.answer().get("result").cloned().unwrap_or_else(|| panic!("no result in {self:?}"))
    }

    /// The code of the error, or 0.
    pub fn code(&self) -> i64 {
        self.answer()["error"]["code"].as_i64().unwrap_or(0)
    }

    /// The first text of a tool's result.
    pub fn text(&self) -> String {
        self.result()["content"][0]["text"]
            .as_str()
            .unwrap_or_else(|| panic!("no text in {self:?}"))
            .to_owned()
    }
}

impl Client {
    pub async fn connect(addr: SocketAddr) -> Self {
        let socket = TcpStream::connect(addr).await.expect("the server accepts");
        socket.set_nodelay(true).expect("nodelay");
        Self::over(socket, addr.to_string())
    }

    /// Closes with a reset instead of a FIN.
    pub fn reset(self) {
        #[allow(deprecated)]
        self.socket.set_linger(Some(Duration::ZERO)).expect("linger");
        drop(self.socket);
    }
}

impl Client<DuplexStream> {
    /// A connection in memory that holds so many bytes in each direction.
    pub async fn pipe(server: &Server, bytes: usize) -> Self {
        let (near, far) = tokio::io::duplex(bytes);
        server.mcp.serve(TokioIo::new(far), None).await.expect("the server takes a connection");
        Self::over(near, "localhost".to_owned())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Client<S> {
    fn over(socket: S, host: String) -> Self {
        Self { socket, host, buffer: Vec::new(), chunked: false }
    }

    pub async fn send(&mut self, post: &Post) -> Response {
        self.write(post).await;
        self.read_response().await
    }

    pub async fn write(&mut self, post: &Post) {
        self.write_bytes(&post.to_bytes(&self.host)).await;
    }

    pub async fn write_bytes(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).await.expect("the server reads");
    }

    pub async fn read_response(&mut self) -> Response {
        let mut response = self.read_head().await;
        response.body = self.read_body(&response).await;
        response
    }

    /// What follows a head.
    pub async fn read_body(&mut self, head: &Response) -> String {
        let length = head.header("content-length").and_then(|length| length.parse().ok());
        match length {
            Some(length) => String::from_utf8(self.take(length).await).expect("a text body"),
            None if self.chunked => {
                let mut body = String::new();
                while let Some(chunk) = self.read_chunk().await {
                    body.push_str(&chunk);
                }
                body
            }
            None => String::new(),
        }
    }

    /// Status line and headers; the body stays unread.
    pub async fn read_head(&mut self) -> Response {
        let head = self.take_until(b"\r\n\r\n").await;
        let head = String::from_utf8(head).expect("a text head");
        let mut lines = head.trim_end().split("\r\n");
        let status =
            lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|status| status.parse().ok());
        let headers: Vec<_> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        self.chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        Response {
            status: status.unwrap_or_else(|| panic!("no status in {head:?}")),
            headers,
            body: String::new(),
        }
    }

    /// One chunk of the body: one write of the server. `None` is the end of the body.
    pub async fn read_chunk(&mut self) -> Option<String> {
        let size = self.take_until(b"\r\n").await;
        let size = String::from_utf8(size).expect("a chunk size");
        let size =
            usize::from_str_radix(size.trim(), 16).unwrap_or_else(|_| panic!("not a chunk size: {size:?}"));
        let mut chunk = self.take(size + 2).await;
        chunk.truncate(size);
        (size > 0).then(|| String::from_utf8(chunk).expect("a text chunk"))
    }

    /// The next event of a stream, keep-alives left out. `None` is the end of the body.
    pub async fn read_event(&mut self) -> Option<Value> {
        loop {
            let chunk = self.read_chunk().await?;
            if let Some(data) = chunk.strip_prefix("data: ") {
                return Some(serde_json::from_str(data).unwrap_or_else(|e| panic!("{e} in {chunk:?}")));
            }
        }
    }

    /// Everything until the server closes.
    pub async fn read_to_end(&mut self) -> Vec<u8> {
        let mut rest = std::mem::take(&mut self.buffer);
        let reading = self.socket.read_to_end(&mut rest);
        // A reset is an end too.
        let _ = timeout(LIMIT, reading).await.expect("the server closes in time");
        rest
    }

    async fn fill(&mut self) {
        let reading = self.socket.read_buf(&mut self.buffer);
        let read =
            timeout(LIMIT, reading).await.expect("the server writes in time").expect("the server writes");
        assert!(read > 0, "the server closed after {:?}", String::from_utf8_lossy(&self.buffer));
    }

    async fn take(&mut self, length: usize) -> Vec<u8> {
        while self.buffer.len() < length {
            self.fill().await;
        }
        self.buffer.drain(..length).collect()
    }

    async fn take_until(&mut self, end: &[u8]) -> Vec<u8> {
        loop {
            if let Some(at) = self.buffer.windows(end.len()).position(|window| window == end) {
                return self.take(at + end.len()).await;
            }
            self.fill().await;
        }
    }
}
