//! HTTP server on the loopback address. Each request is answered by a function.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// Request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Path without the query.
    pub(crate) path: String,
    pub(crate) query: String,
    /// Lines of the header, with names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

/// Server, until it is dropped.
pub(crate) struct Server {
    address: SocketAddr,
    is_stopped: Arc<AtomicBool>,
    requests: Arc<Mutex<Vec<Request>>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start(answer: impl Fn(&Request, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (is_stopped, requests) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let (stopped, seen, answer) = (Arc::clone(&is_stopped), Arc::clone(&requests), Arc::new(answer));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    break;
                }
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                let mut stream = stream.unwrap();
                std::thread::spawn(move || {
                    if let Some(request) = read(&stream) {
                        seen.lock().unwrap().push(request.clone());
                        answer(&request, &mut stream);
                    }
                });
            }
        });
        Self { address, is_stopped, requests, thread: Some(thread) }
    }

    /// Answers each request with this file.
    pub(crate) fn file(content: Vec<u8>) -> Self {
        Self::start(move |_, stream| {
            respond(stream, "200 OK", &[("Content-Type", "application/octet-stream")], &content)
        })
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        let _ = self.thread.take().unwrap().join();
    }
}

/// Sends an answer and closes the connection.
pub(crate) fn respond(stream: &mut TcpStream, status: &str, headers: &[(&str, &str)], body: &[u8]) {
    let mut head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let _ = stream.write_all(format!("{head}\r\n").as_bytes()).and_then(|()| stream.write_all(body));
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
    let mut words = line.split(' ');
    let mut request = Request { method: words.next()?.to_owned(), ..Request::default() };
    let (path, query) = words.next().map(|target| target.split_once('?').unwrap_or((target, "")))?;
    (request.path, request.query) = (path.to_owned(), query.to_owned());
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        request.headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let length = request.header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
    request.body = vec![0; length];
    reader.read_exact(&mut request.body).ok()?;
    Some(request)
}
