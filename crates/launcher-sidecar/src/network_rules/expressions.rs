//! Encodes the conditions and the verdict of a rule as expressions. The kernel evaluates the expressions of a rule in
//! order, until one does not hold.

use netlink_bindings::nftables::{
    CmpOps, CtKeys, MetaKeys, PayloadBase, PushExprListAttrs, PushRuleAttrs, Registers, RejectInetCode, RejectTypes,
    VerdictCode,
};

use super::rules::{Condition, Direction, Family, Transport, Verdict};

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

/// The expressions of a rule.
pub(super) type Expressions<'a> = PushExprListAttrs<PushRuleAttrs<&'a mut Vec<u8>>>;

/// Appends a verdict. It must follow all conditions.
pub(super) fn put_verdict(list: Expressions<'_>, verdict: Verdict) -> Expressions<'_> {
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

/// Appends a condition.
pub(super) fn put_condition(list: Expressions<'_>, direction: Direction, condition: Condition) -> Expressions<'_> {
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
            let list = if network.prefix < 32 { mask(list, &network.mask().to_be_bytes()) } else { list };
            equal(list, &network.address.octets())
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
