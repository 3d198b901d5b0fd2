//! Two connected network namespaces: the one of a workshop, and the one of this process, which plays the host, its
//! network and the internet.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::net::netdevice::name_to_index;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::PATIENCE;

/// Address of the workshop.
pub(crate) const WORKSHOP: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 9, 0, 2));
/// IPv6 address of the workshop.
pub(crate) const WORKSHOP_IPV6: IpAddr = IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2));

/// The network namespace of a workshop. Its addresses are [`WORKSHOP`] and [`WORKSHOP_IPV6`]. All other addresses are
/// routed to the namespace of this process. Dropping this value removes the namespace.
pub(crate) struct WorkshopNetwork {
    namespace: File,
    /// Process that keeps the namespace alive.
    holder: Child,
}

impl WorkshopNetwork {
    /// Creates the namespace, and gives the namespace of this process `addresses`. This process must run in a network
    /// namespace that no other process uses.
    pub(crate) fn new(addresses: &[IpAddr]) -> Self {
        let mut holder = Command::new("unshare")
            .args(["-n", "sh", "-c", "echo; exec cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // The line says that the namespace exists.
        holder.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let namespace = File::open(format!("/proc/{}/ns/net", holder.id())).unwrap();
        let workshop = Self { namespace, holder };
        shell("ip link add outside type veth peer name inside");
        shell(&format!("ip link set inside netns {}", workshop.holder.id()));
        let own = ["10.9.0.1/24", "fd00::1/64 nodad", "fe80::1/64 nodad"].map(str::to_owned);
        let further = addresses.iter().map(|address| match address {
            IpAddr::V4(address) => format!("{address}/32"),
            IpAddr::V6(address) => format!("{address}/128 nodad"),
        });
        for address in own.into_iter().chain(further) {
            shell(&format!("ip addr add {address} dev outside"));
        }
        shell("ip link set outside up");
        workshop.inside(|| {
            shell("ip link set lo up; ip addr add 10.9.0.2/24 dev inside; ip addr add fd00::2/64 dev inside nodad");
            shell("ip addr add fe80::2/64 dev inside nodad; ip link set inside up");
            shell("ip route add default via 10.9.0.1; ip route add default via fd00::1");
        });
        workshop
    }

    /// Calls `run` on a thread in the workshop's namespace.
    pub(crate) fn inside<T: Send>(&self, run: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                move_into_link_name_space(self.namespace.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
                run()
            });
            thread.join().unwrap()
        })
    }
}

impl Drop for WorkshopNetwork {
    fn drop(&mut self) {
        drop(self.holder.kill());
        drop(self.holder.wait());
    }
}

fn shell(script: &str) {
    let output = Command::new("sh").args(["-ec", script]).output().unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the address `fe80::1` of a device in the current namespace.
pub(crate) fn link_local(device: &str, port: u16) -> SocketAddr {
    let socket = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).unwrap();
    let scope = name_to_index(&socket, device).unwrap();
    SocketAddrV6::new(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1), port, 0, scope).into()
}

/// Answers TCP and UDP at an address in the current namespace with the received bytes, until the process ends. Returns
/// the number of TCP connections and datagrams so far.
pub(crate) fn echo(address: SocketAddr) -> Arc<AtomicUsize> {
    let received = Arc::new(AtomicUsize::new(0));
    let (listener, socket) = (TcpListener::bind(address).unwrap(), UdpSocket::bind(address).unwrap());
    let count = received.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            count.fetch_add(1, Ordering::SeqCst);
            let (mut reader, mut writer) = (stream.as_ref().unwrap().try_clone().unwrap(), stream.unwrap());
            std::thread::spawn(move || drop(io::copy(&mut reader, &mut writer)));
        }
    });
    let count = received.clone();
    std::thread::spawn(move || {
        let mut area = [0; 16];
        while let Ok((length, peer)) = socket.recv_from(&mut area) {
            count.fetch_add(1, Ordering::SeqCst);
            drop(socket.send_to(&area[..length], peer));
        }
    });
    received
}

/// Connects to a server of [`echo`].
pub(crate) fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    exchange(&mut stream)?;
    Ok(stream)
}

/// Sends a byte to a server of [`echo`], and waits for the answer.
pub(crate) fn exchange(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(b"x")?;
    stream.read_exact(&mut [0])
}

/// Sends a datagram to a server of [`echo`], and waits for the answer.
pub(crate) fn datagram(address: SocketAddr) -> io::Result<()> {
    let any: IpAddr = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.connect(address)?;
    socket.send(b"x")?;
    socket.recv(&mut [0]).map(drop)
}

/// Fails unless a server of [`echo`] answers over TCP and UDP.
pub(crate) fn assert_reachable(address: SocketAddr) {
    let (tcp, udp) = (connect(address), datagram(address));
    assert!(tcp.is_ok() && udp.is_ok(), "{address}: {tcp:?} over TCP, {udp:?} over UDP");
}

/// Fails unless attempts over TCP and UDP are refused.
pub(crate) fn assert_refused(address: SocketAddr) {
    for (protocol, attempt) in
        [("TCP", &(|| connect(address).map(drop)) as &dyn Fn() -> io::Result<()>), ("UDP", &|| datagram(address))]
    {
        let error = attempt().expect_err(&format!("{protocol} {address} is reachable"));
        // An attempt without an answer ends with another error, after the timeout. EHOSTUNREACH and EACCES are the kernel's errors for "administratively prohibited", EPERM is the error of a
        // datagram that a rule drops.
        let kinds = [io::ErrorKind::HostUnreachable, io::ErrorKind::PermissionDenied];
        assert!(kinds.contains(&error.kind()), "{protocol} {address}: {error}");
    }
}
