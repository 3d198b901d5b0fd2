use std::time::SystemTime;

use jiff::Timestamp;
use launcher_domain::clock::{Clock, Entropy, SystemClock, SystemEntropy};

#[test]
#[expect(clippy::disallowed_methods, reason = "compares the clock with the system's")]
fn system_clock_gives_the_current_time_in_whole_milliseconds() {
    let before = Timestamp::try_from(SystemTime::now()).unwrap();
    let now = SystemClock.now();
    let after = Timestamp::try_from(SystemTime::now()).unwrap();
    assert!((before.as_millisecond()..=after.as_millisecond()).contains(&now.as_millisecond()), "{now}");
    assert_eq!(now.subsec_nanosecond() % 1_000_000, 0, "{now}");
}

#[test]
fn system_entropy_fills_the_whole_buffer() {
    let mut buffers = [[0_u8; 32]; 2];
    for buffer in &mut buffers {
        SystemEntropy.fill(buffer);
    }
    assert_ne!(buffers[0], buffers[1]);
    // Sixteen zero bytes in a row have a probability of 2^-128, so they show that a part of the buffer was not filled.
    assert!(buffers.iter().all(|buffer| buffer[..16] != [0; 16] && buffer[16..] != [0; 16]), "{buffers:?}");
}
