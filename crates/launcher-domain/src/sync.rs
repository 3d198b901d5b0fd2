//! Access to state that several threads share.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, also if it is poisoned, which means that a thread panicked while it held the lock.
///
/// A panic must affect only its own request or task. If this function refused a poisoned lock, every later caller would
/// fail. A critical section must therefore keep the value valid at each point where it could panic.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::lock;

    #[test]
    fn poisoned_mutex_is_locked_with_its_last_value() {
        let mutex = Mutex::new(1);
        let panicked = std::thread::scope(|scope| {
            let change = || {
                *lock(&mutex) += 1;
                let _guard = lock(&mutex);
                panic!("poisons the mutex");
            };
            scope.spawn(change).join().is_err()
        });
        assert!(panicked && mutex.is_poisoned());
        assert_eq!(*lock(&mutex), 2);
    }
}
