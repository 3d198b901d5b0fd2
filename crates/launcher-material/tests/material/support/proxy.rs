//! HTTP proxy on the loopback address.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};

use super::http::Server;

/// Starts an HTTP proxy. It connects every client to this server, as `HOST:PORT`, and ignores the target of the request.
/// The requests of the returned server have the targets as their paths.
pub(crate) fn start(server: &str) -> Server {
    let server = server.to_owned();
    Server::start(move |_, client| {
        let _ended = tunnel(client, &server);
    })
}

/// Accepts a CONNECT request, and copies bytes in both directions until one side closes the connection.
fn tunnel(client: &mut TcpStream, server: &str) -> io::Result<()> {
    let server = TcpStream::connect(server)?;
    client.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
    let (mut from_server, mut to_client) = (server.try_clone()?, client.try_clone()?);
    let back = std::thread::spawn(move || {
        let _copied = io::copy(&mut from_server, &mut to_client);
        let _closed = to_client.shutdown(Shutdown::Both);
    });
    let _copied = io::copy(client, &mut &server);
    let _closed = server.shutdown(Shutdown::Both);
    let _joined = back.join();
    Ok(())
}
