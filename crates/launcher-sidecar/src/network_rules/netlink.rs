//! Sends a batch to the kernel, and reads the kernel's answers.

use std::collections::BTreeSet;
use std::io;

use netlink_bindings::builtin::Nlmsghdr;
use rustix::io::Errno;
use rustix::net::sockopt::set_socket_recv_buffer_size_force;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with};

use super::batch::Batch;

/// Kernel receive buffer, in bytes. Each acknowledgement takes about 1 KiB of it.
const ANSWERS: usize = 4 * 1024 * 1024;
/// Maximum length of an answer, in bytes. An answer contains at most one message of the batch.
const ANSWER: usize = 16 * 1024;
/// Type of an acknowledgement or error message (`NLMSG_ERROR`).
const ERROR: u16 = 2;

/// The process may not change the rules.
const NOT_PERMITTED: &str = "CAP_NET_ADMIN is missing: run this program as root with this capability, as with `docker run \
                             --cap-add NET_ADMIN --user 0`";
/// The kernel has no packet filter.
const NO_NF_TABLES: &str = "the kernel has no nf_tables: load the module nf_tables on the host (`modprobe nf_tables`)";

/// The batch could not be sent, or an answer could not be read.
fn exchange_failed(error: io::Error) -> String {
    format!("the exchange with the kernel failed: {error}; start the workshop again")
}

/// Sends a batch, and checks that the kernel has acknowledged each of its messages.
///
/// # Errors
/// Returns one line with the reason why the kernel did not commit the batch.
pub(super) fn commit(batch: &Batch) -> Result<(), String> {
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, Some(netlink::NETFILTER));
    let socket = socket.map_err(|error| match error {
        Errno::PROTONOSUPPORT => NO_NF_TABLES.to_owned(),
        error => format!(
            "no netlink socket can be opened: {}; allow sockets of the family AF_NETLINK (check the seccomp profile)",
            io::Error::from(error)
        ),
    })?;
    // A privileged process may exceed the system's limit. If it fails, many acknowledgements may exceed the buffer: the
    // kernel then reports lost answers (ENOBUFS).
    if let Err(error) = set_socket_recv_buffer_size_force(&socket, ANSWERS) {
        tracing::debug!(%error, "enlarging receive buffer of netlink socket failed, keeping its size");
    }
    send(&socket, batch.bytes(), SendFlags::empty()).map_err(|error| exchange_failed(error.into()))?;
    let mut answers = Answers::new(batch);
    let mut area = vec![0; ANSWER];
    while !answers.waiting.is_empty() {
        // The kernel has processed the batch before `send` returned, so all answers have already arrived.
        match recv(&socket, &mut area[..], RecvFlags::DONTWAIT) {
            Ok((length, _)) => answers.read(&area[..length])?,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => break,
            Err(error) => return Err(exchange_failed(error.into())),
        }
    }
    answers.finish()
}

/// The messages of a batch that the kernel has not acknowledged yet.
struct Answers<'b> {
    batch: &'b Batch,
    waiting: BTreeSet<u32>,
}

impl<'b> Answers<'b> {
    fn new(batch: &'b Batch) -> Self {
        Self { batch, waiting: batch.acknowledged().collect() }
    }

    /// Reads a datagram of the kernel.
    fn read(&mut self, mut datagram: &[u8]) -> Result<(), String> {
        let truncated = || exchange_failed(io::ErrorKind::UnexpectedEof.into());
        while !datagram.is_empty() {
            let header = datagram.get(..Nlmsghdr::len()).and_then(Nlmsghdr::new_from_slice).ok_or_else(truncated)?;
            let length = usize::try_from(header.len).unwrap_or(usize::MAX);
            let content = datagram.get(Nlmsghdr::len()..length).ok_or_else(truncated)?;
            if header.r#type == ERROR {
                let code = content.first_chunk().copied().map(i32::from_ne_bytes).ok_or_else(truncated)?;
                self.answer(header.seq, code)?;
            }
            datagram = datagram.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
        Ok(())
    }

    /// Records the kernel's answer to a message. `code` is 0, or a negative error number.
    fn answer(&mut self, sequence: u32, code: i32) -> Result<(), String> {
        if code == 0 {
            self.waiting.remove(&sequence);
            return Ok(());
        }
        let code = code.wrapping_neg();
        Err(if code == Errno::PERM.raw_os_error() {
            NOT_PERMITTED.to_owned()
        } else if code == Errno::OPNOTSUPP.raw_os_error() && sequence == 0 {
            // The answer to the first message: the kernel has no subsystem for this batch.
            NO_NF_TABLES.to_owned()
        } else {
            format!(
                "the kernel refused {}: {}; load the modules nf_tables, nft_ct and nft_reject_inet on the host, or update \
                 the kernel",
                self.batch.describe(sequence),
                io::Error::from_raw_os_error(code)
            )
        })
    }

    /// Checks that the kernel has acknowledged each message.
    fn finish(&self) -> Result<(), String> {
        let Some(missing) = self.waiting.first() else { return Ok(()) };
        Err(format!("the kernel did not acknowledge {}: update the kernel", self.batch.describe(*missing)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network_rules::rules::chains;

    fn batch() -> Batch {
        Batch::new(&chains(&[], &[]))
    }

    /// Builds the kernel's answer to a message, with the header of this message.
    fn answer(sequence: u32, code: i32) -> Vec<u8> {
        let header = Nlmsghdr { len: 36, r#type: ERROR, flags: 0, seq: sequence, pid: 0 };
        let refused = Nlmsghdr { len: 16, r#type: 0, flags: 0, seq: sequence, pid: 0 };
        [header.as_slice(), &code.to_ne_bytes(), refused.as_slice()].concat()
    }

    /// Returns the error after these answers.
    fn outcome(batch: &Batch, datagrams: &[Vec<u8>]) -> Result<(), String> {
        let mut answers = Answers::new(batch);
        let read = datagrams.iter().try_for_each(|datagram| answers.read(datagram));
        read.and_then(|()| answers.finish())
    }

    fn all(batch: &Batch) -> Vec<Vec<u8>> {
        batch.acknowledged().map(|sequence| answer(sequence, 0)).collect()
    }

    #[test]
    fn batch_is_committed_once_each_message_is_acknowledged() {
        let batch = batch();
        let mut datagrams = all(&batch);
        assert_eq!(outcome(&batch, &datagrams), Ok(()));
        assert_eq!(outcome(&batch, &[datagrams.concat()]), Ok(()));
        // Kernels since 6.10 also acknowledge the first message.
        datagrams.insert(0, answer(0, 0));
        assert_eq!(outcome(&batch, &datagrams), Ok(()));
        datagrams.remove(6);
        assert!(
            outcome(&batch, &datagrams)
                .unwrap_err()
                .contains("did not acknowledge the rule \"output: accept loopback\"")
        );
    }

    #[test]
    fn error_answer_names_the_message_and_what_to_do() {
        let batch = batch();
        for (sequence, code, expected) in [
            (0, -1, "CAP_NET_ADMIN is missing"),
            (0, -95, "the kernel has no nf_tables"),
            (0, -12, "the kernel refused the batch: "),
            (6, -2, "the kernel refused the rule \"output: accept loopback\": No such file or directory"),
            (6, -95, "the kernel refused the rule \"output: accept loopback\""),
        ] {
            let mut datagrams = all(&batch);
            datagrams.insert(0, answer(sequence, code));
            let error = outcome(&batch, &datagrams).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn acknowledgements_of_other_messages_do_not_hide_an_error() {
        let batch = batch();
        let mut datagrams = all(&batch);
        let last = datagrams.len() - 1;
        datagrams[last] = answer(u32::try_from(last).unwrap() + 1, -2);
        assert!(outcome(&batch, &datagrams).is_err());
    }

    #[test]
    fn truncated_answer_is_an_error() {
        let batch = batch();
        let whole = answer(1, 0);
        for length in [1, 15, 17, 35] {
            assert!(outcome(&batch, &[whole[..length].to_vec()]).unwrap_err().contains("exchange"), "{length}");
        }
    }
}
