//! Encodes the rules as one batch of netlink messages. The kernel commits all messages of a batch at once, or none.

use netlink_bindings::builtin::Nlmsghdr;
use netlink_bindings::consts;
use netlink_bindings::nftables::{
    CmpOps, CtKeys, MetaKeys, Nfgenmsg, OpBatchBeginDo, OpBatchEndDo, OpDeltableDo, OpNewchainDo, OpNewruleDo,
    OpNewtableDo, PayloadBase, PushExprListAttrs, PushRuleAttrs, Registers, RejectInetCode, RejectTypes, VerdictCode,
};

use crate::network_rules::rules::{Chain, Condition, Direction, Family, Rule, Transport, Verdict};

/// Name of the table. It contains nothing else than the rules of this program.
const TABLE: &[u8] = b"workshop";
/// Family of the table: one table for IPv4 and IPv6 (`NFPROTO_INET`).
const INET: u8 = 1;
/// Netfilter's subsystem `nf_tables`, to which the batch belongs (`NFNL_SUBSYS_NFTABLES`).
const NF_TABLES: u8 = 10;

/// Type of a message as the kernel reads it, and the flags in addition to those of every message.
type MessageType = (u16, i32);

const BEGIN: MessageType = (16, 0);
const END: MessageType = (17, 0);
const NEW_TABLE: MessageType = (of_tables(0), consts::NLM_F_CREATE);
const DELETE_TABLE: MessageType = (of_tables(2), 0);
const NEW_CHAIN: MessageType = (of_tables(3), consts::NLM_F_CREATE);
const NEW_RULE: MessageType = (of_tables(6), consts::NLM_F_CREATE | consts::NLM_F_APPEND);

const fn of_tables(code: u8) -> u16 {
    u16::from_be_bytes([NF_TABLES, code])
}

/// A batch that replaces the table with the rules.
#[derive(Debug)]
pub(super) struct Batch {
    bytes: Vec<u8>,
    /// Description of each message, for error messages. The sequence number of a message is its index.
    descriptions: Vec<String>,
}

impl Batch {
    /// Encodes a batch that replaces the table.
    ///
    /// The kernel refuses to delete a missing table, so the batch first creates the table, which has no effect on an
    /// existing one. Chains drop packets that match no rule. Otherwise a packet could pass while the kernel switches
    /// from the old chains to the new ones: it may see both of them without rules.
    pub(super) fn new(chains: &[Chain]) -> Self {
        let mut batch = Self { bytes: Vec::new(), descriptions: Vec::new() };
        batch.put(BEGIN, "the batch".to_owned(), |out| drop(OpBatchBeginDo::encode_request(out, &edge())));
        batch.put(NEW_TABLE, "the table".to_owned(), put_table);
        batch.put(DELETE_TABLE, "the removal of earlier rules".to_owned(), |out| {
            drop(OpDeltableDo::encode_request(out, &header()).push_name_bytes(TABLE));
        });
        batch.put(NEW_TABLE, "the table".to_owned(), put_table);
        for chain in chains {
            batch.put(NEW_CHAIN, format!("the chain {}", name(chain.direction)), |out| put_chain(out, chain));
        }
        for chain in chains {
            for rule in &chain.rules {
                let description = format!("the rule \"{}: {rule}\"", name(chain.direction));
                batch.put(NEW_RULE, description, |out| put_rule(out, chain.direction, rule));
            }
        }
        batch.put(END, "the end of the batch".to_owned(), |out| {
            drop(OpBatchEndDo::encode_request(out, &edge()));
        });
        batch
    }

    /// Returns the encoded messages.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the sequence numbers of the messages that every kernel acknowledges: all except the first and the last,
    /// which only newer kernels (6.10) acknowledge.
    pub(super) fn acknowledged(&self) -> impl Iterator<Item = u32> {
        (1..).take(self.descriptions.len().saturating_sub(2))
    }

    /// Returns the description of the message with a sequence number.
    pub(super) fn describe(&self, sequence: u32) -> &str {
        let index = usize::try_from(sequence).unwrap_or(usize::MAX);
        self.descriptions.get(index).map_or("an unknown message", String::as_str)
    }

    fn put(&mut self, (code, flags): MessageType, description: String, put_content: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        let end = start + Nlmsghdr::len();
        self.bytes.resize(end, 0);
        put_content(&mut self.bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let header = Nlmsghdr {
            len: u32::try_from(self.bytes.len() - start).unwrap_or(u32::MAX),
            r#type: code,
            flags: u16::try_from(consts::NLM_F_REQUEST | consts::NLM_F_ACK | flags).unwrap_or_default(),
            seq: u32::try_from(self.descriptions.len()).unwrap_or(u32::MAX),
            pid: 0,
        };
        self.bytes[start..end].copy_from_slice(header.as_slice());
        self.descriptions.push(description);
    }
}

/// Returns the content header of the first and the last message.
fn edge() -> Nfgenmsg {
    let mut header = Nfgenmsg::new();
    header.set_res_id(NF_TABLES.into());
    header
}

/// Returns the content header of the other messages.
fn header() -> Nfgenmsg {
    Nfgenmsg { nfgen_family: INET, ..Nfgenmsg::new() }
}

fn name(direction: Direction) -> &'static str {
    match direction {
        Direction::Input => "input",
        Direction::Output => "output",
    }
}

fn put_table(out: &mut Vec<u8>) {
    drop(OpNewtableDo::encode_request(out, &header()).push_name_bytes(TABLE));
}

fn put_chain(out: &mut Vec<u8>, chain: &Chain) {
    // Netfilter's hooks for packets to this network namespace (NF_INET_LOCAL_IN), and from it (NF_INET_LOCAL_OUT).
    let hook = match chain.direction {
        Direction::Input => 1,
        Direction::Output => 3,
    };
    let chain = OpNewchainDo::encode_request(out, &header())
        .push_table_bytes(TABLE)
        .push_name_bytes(name(chain.direction).as_bytes())
        .push_type_bytes(b"filter")
        .push_policy(VerdictCode::Drop as u32);
    drop(chain.nested_hook().push_num(hook).push_priority(0));
}

fn put_rule(out: &mut Vec<u8>, direction: Direction, rule: &Rule) {
    let attributes = OpNewruleDo::encode_request(out, &header())
        .push_table_bytes(TABLE)
        .push_chain_bytes(name(direction).as_bytes());
    let put = |list, condition: &Condition| put_condition(list, direction, *condition);
    let conditions = rule.conditions.iter().fold(attributes.nested_expressions(), put);
    drop(put_verdict(conditions, rule.verdict));
}

/// Register that the conditions use. It has 16 bytes.
const REGISTER: u32 = Registers::Reg1 as u32;
/// Index of the loopback device, the same in every network namespace.
const LOOPBACK: u32 = 1;
/// Bits of the connection states *established* and *related* (`NF_CT_STATE_BIT`).
const ESTABLISHED_OR_RELATED: u32 = 0b110;
/// Position of the destination address in the IPv4 header, in bytes.
const IPV4_DESTINATION: u32 = 16;
/// Position of the destination port in the headers of TCP and UDP, in bytes.
const PORT: u32 = 2;

type Expressions<'a> = PushExprListAttrs<PushRuleAttrs<&'a mut Vec<u8>>>;

/// Appends a verdict. It must follow all conditions.
fn put_verdict(list: Expressions<'_>, verdict: Verdict) -> Expressions<'_> {
    match verdict {
        Verdict::Accept => {
            let immediate = list.nested_elem().nested_data_immediate().push_dreg(Registers::RegVerdict as u32);
            let code = immediate.nested_data().nested_verdict().push_code(VerdictCode::Accept as u32);
            code.end_nested().end_nested().end_nested().end_nested()
        }
        Verdict::Reject => {
            let reject = list.nested_elem().nested_data_reject().push_type(RejectTypes::IcmpxUnreach as u32);
            reject.push_icmp_code(RejectInetCode::IcmpxAdminProhibited as u8).end_nested().end_nested()
        }
    }
}

fn put_condition(list: Expressions<'_>, direction: Direction, condition: Condition) -> Expressions<'_> {
    match (condition, direction) {
        (Condition::Loopback, Direction::Input) => equal(load_meta(list, MetaKeys::Iif), &LOOPBACK.to_ne_bytes()),
        (Condition::Loopback, Direction::Output) => equal(load_meta(list, MetaKeys::Oif), &LOOPBACK.to_ne_bytes()),
        (Condition::Established, _) => {
            let list = mask(load_connection_state(list), &ESTABLISHED_OR_RELATED.to_ne_bytes());
            compare(list, CmpOps::Neq, &[0; 4])
        }
        (Condition::Family(family), _) => put_family(list, family),
        (Condition::To(network), _) => {
            let list = load_payload(put_family(list, Family::Ipv4), PayloadBase::NetworkHeader, IPV4_DESTINATION, 4);
            let list = if network.prefix_len() < 32 { mask(list, &network.netmask().octets()) } else { list };
            equal(list, &network.addr().octets())
        }
        (Condition::Port(transport, port), _) => {
            let protocol = match transport {
                Transport::Tcp => 6,
                Transport::Udp => 17,
            };
            let list = equal(load_meta(list, MetaKeys::L4Proto), &[protocol]);
            equal(load_payload(list, PayloadBase::TransportHeader, PORT, 2), &port.to_be_bytes())
        }
    }
}

fn put_family(list: Expressions<'_>, family: Family) -> Expressions<'_> {
    // NFPROTO_IPV4 and NFPROTO_IPV6.
    let protocol = match family {
        Family::Ipv4 => 2,
        Family::Ipv6 => 10,
    };
    equal(load_meta(list, MetaKeys::Nfproto), &[protocol])
}

fn load_meta(list: Expressions<'_>, key: MetaKeys) -> Expressions<'_> {
    list.nested_elem().nested_data_meta().push_key(key as u32).push_dreg(REGISTER).end_nested().end_nested()
}

fn load_connection_state(list: Expressions<'_>) -> Expressions<'_> {
    list.nested_elem().nested_data_ct().push_key(CtKeys::State as u32).push_dreg(REGISTER).end_nested().end_nested()
}

fn load_payload(list: Expressions<'_>, base: PayloadBase, offset: u32, length: u32) -> Expressions<'_> {
    let payload = list.nested_elem().nested_data_payload().push_dreg(REGISTER).push_base(base as u32);
    payload.push_offset(offset).push_len(length).end_nested().end_nested()
}

/// Keeps the bits of the register that are set in the 4 bytes `bits`.
fn mask<'a>(list: Expressions<'a>, bits: &[u8; 4]) -> Expressions<'a> {
    let bitwise = list.nested_elem().nested_data_bitwise().push_sreg(REGISTER).push_dreg(REGISTER).push_len(4);
    let bitwise = bitwise.nested_mask().push_value(bits).end_nested();
    bitwise.nested_xor().push_value(&[0; 4]).end_nested().end_nested().end_nested()
}

fn equal<'a>(list: Expressions<'a>, value: &[u8]) -> Expressions<'a> {
    compare(list, CmpOps::Eq, value)
}

fn compare<'a>(list: Expressions<'a>, operator: CmpOps, value: &[u8]) -> Expressions<'a> {
    let compare = list.nested_elem().nested_data_cmp().push_sreg(REGISTER).push_op(operator as u32);
    compare.nested_data().push_value(value).end_nested().end_nested().end_nested()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network_rules::rules::chains;

    /// Returns type, flags and sequence number of each message.
    fn messages(mut bytes: &[u8]) -> Vec<(u16, i32, u32)> {
        let mut found = Vec::new();
        while !bytes.is_empty() {
            let header = Nlmsghdr::new_from_slice(&bytes[..Nlmsghdr::len()]).unwrap();
            found.push((header.r#type, header.flags.into(), header.seq));
            bytes = &bytes[header.len.try_into().unwrap()..];
        }
        found
    }

    #[test]
    fn batch_replaces_the_table_and_requests_an_acknowledgement_of_each_message() {
        let chains = chains(&[], &[]);
        let batch = Batch::new(&chains);
        let messages = messages(batch.bytes());
        let codes: Vec<u16> = messages.iter().map(|message| message.0).collect();
        let rules: usize = chains.iter().map(|chain| chain.rules.len()).sum();
        assert_eq!(codes[..6], [16, 0xa00, 0xa02, 0xa00, 0xa03, 0xa03]);
        assert!(codes[6..6 + rules].iter().all(|code| *code == 0xa06), "{codes:?}");
        assert_eq!(codes[6 + rules..], [17]);
        assert!(messages.iter().all(|message| message.1 & consts::NLM_F_ACK != 0), "{messages:?}");
        let sequence: Vec<u32> = messages.iter().map(|message| message.2).collect();
        assert!(batch.acknowledged().eq(sequence[1..sequence.len() - 1].iter().copied()));
    }

    #[test]
    fn message_is_described_by_its_sequence_number() {
        let batch = Batch::new(&chains(&[], &[]));
        for (sequence, description) in [
            (0, "the batch"),
            (2, "the removal of earlier rules"),
            (4, "the chain output"),
            (6, "the rule \"output: accept loopback\""),
            (8, "the rule \"output: reject to 10.0.0.0/8\""),
            (999, "an unknown message"),
        ] {
            assert_eq!(batch.describe(sequence), description);
        }
    }
}
