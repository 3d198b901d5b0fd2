//! The seccomp profile of both containers: the system calls that their processes may use.
//!
//! The engines' own profiles differ. Docker Engine 20.10 permits sockets to the hypervisor, and Podman permits new user
//! namespaces, in which a process has all capabilities. This profile is the same with every engine.

use serde_json::{Value, json};

/// System calls that are permitted with all arguments. They are those that the default profile of Docker Engine permits
/// without a capability (github.com/moby/profiles, seccomp/default.json, 2026), except those of 32-bit programs.
const PERMITTED: &str = "accept accept4 access adjtimex alarm arch_prctl bind brk cachestat capget capset chdir chmod chown \
     clock_adjtime clock_adjtime64 clock_getres clock_getres_time64 clock_gettime clock_gettime64 clock_nanosleep \
     clock_nanosleep_time64 close close_range connect copy_file_range creat dup dup2 dup3 epoll_create \
     epoll_create1 epoll_ctl epoll_ctl_old epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old eventfd eventfd2 \
     execve execveat exit exit_group faccessat faccessat2 fadvise64 fadvise64_64 fallocate fanotify_mark fchdir \
     fchmod fchmodat fchmodat2 fchown fchownat fcntl fcntl64 fdatasync fgetxattr flistxattr flock fork \
     fremovexattr fsetxattr fstat fstat64 fstatat64 fstatfs fstatfs64 fsync ftruncate ftruncate64 futex \
     futex_requeue futex_time64 futex_wait futex_waitv futex_wake futimesat get_robust_list get_thread_area \
     getcpu getcwd getdents getdents64 getegid geteuid getgid getgroups getitimer getpeername getpgid getpgrp \
     getpid getppid getpriority getrandom getresgid getresuid getrlimit getrusage getsid getsockname getsockopt \
     gettid gettimeofday getuid getxattr getxattrat inotify_add_watch inotify_init inotify_init1 inotify_rm_watch \
     io_cancel io_destroy io_getevents io_pgetevents io_pgetevents_time64 io_setup io_submit ioctl ioprio_get \
     ioprio_set kill landlock_add_rule landlock_create_ruleset landlock_restrict_self lchown lgetxattr link \
     linkat listen listmount listxattr listxattrat llistxattr lremovexattr lseek lsetxattr lstat lstat64 madvise \
     map_shadow_stack membarrier memfd_create memfd_secret mincore mkdir mkdirat mknod mknodat mlock mlock2 \
     mlockall mmap mmap2 modify_ldt mprotect mq_getsetattr mq_notify mq_open mq_timedreceive \
     mq_timedreceive_time64 mq_timedsend mq_timedsend_time64 mq_unlink mremap mseal msgctl msgget msgrcv msgsnd \
     msync munlock munlockall munmap name_to_handle_at nanosleep newfstatat open openat openat2 pause pidfd_open \
     pidfd_send_signal pipe pipe2 pkey_alloc pkey_free pkey_mprotect poll ppoll ppoll_time64 prctl pread64 preadv \
     preadv2 prlimit64 process_mrelease process_vm_readv process_vm_writev pselect6 pselect6_time64 ptrace \
     pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv recvfrom recvmmsg recvmmsg_time64 recvmsg \
     remap_file_pages removexattr removexattrat rename renameat renameat2 restart_syscall rmdir rseq rt_sigaction \
     rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait \
     rt_sigtimedwait_time64 rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min sched_getaffinity \
     sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval sched_rr_get_interval_time64 \
     sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield seccomp select semctl semget \
     semop semtimedop semtimedop_time64 sendfile sendfile64 sendmmsg sendmsg sendto set_robust_list \
     set_thread_area set_tid_address setfsgid setfsuid setgid setgroups setitimer setpgid setpriority setregid \
     setresgid setresuid setreuid setrlimit setsid setsockopt setuid setxattr setxattrat shmat shmctl shmdt \
     shmget shutdown sigaltstack signalfd signalfd4 splice stat stat64 statfs statfs64 statmount statx \
     symlink symlinkat sync sync_file_range syncfs sysinfo tee tgkill time timer_create timer_delete \
     timer_getoverrun timer_gettime timer_gettime64 timer_settime timer_settime64 timerfd_create timerfd_gettime \
     timerfd_gettime64 timerfd_settime timerfd_settime64 times tkill truncate truncate64 umask uname unlink \
     unlinkat utime utimensat utimensat_time64 utimes vfork vmsplice wait4 waitid write writev";

/// Flags of `clone` for new namespaces: CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER,
/// CLONE_NEWPID, CLONE_NEWNET.
const NAMESPACE_FLAGS: u64 = 0x7e02_0000;
/// Families of sockets that are permitted: `AF_UNIX`, `AF_INET`, `AF_INET6` and `AF_NETLINK`, through which programs list
/// the network devices. All others are refused: they load rarely used code of the kernel, reach the hypervisor (VSOCK), or
/// reach its cryptography, through which a program could change files that other containers share (ALG, CVE-2026-31431).
/// The kernel ignores the upper half of the argument, and a profile compares all 64 bits. Only "equal" is therefore safe.
const FAMILIES: [u64; 4] = [AF_UNIX, 2, 10, 16];
/// The only family of pairs of sockets.
const AF_UNIX: u64 = 1;
/// Families whose protocols are limited.
const INTERNET: [u64; 2] = [2, 10];
/// Protocols of internet sockets that are permitted: the usual one of the type, ICMP, TCP, UDP and ICMPv6. All others load
/// rarely used code of the kernel, for example SMC (256), which is also a family of its own, SCTP and DCCP.
const PROTOCOLS: [u64; 5] = [0, 1, 6, 17, 58];
/// Execution domains: Linux, 32-bit Linux, both with a version number below 3.0 (UNAME26), and the query of the current one.
const PERSONALITIES: [u64; 5] = [0, 0x8, 0x2_0000, 0x2_0008, 0xffff_ffff];
/// The C library then uses `clone` instead of `clone3`, whose flags no profile can read.
const ENOSYS: u64 = 38;
const EPERM: u64 = 1;

/// Returns the profile as JSON, in the form that Docker Engine and Podman read. Without a list of architectures, it
/// permits only programs of the machine's own architecture.
#[must_use]
pub fn profile() -> String {
    let permit =
        |name: &str, arguments: Value| json!({ "names": [name], "action": "SCMP_ACT_ALLOW", "args": arguments });
    let is = |value: u64| equal(0, value);
    let mut rules = vec![
        json!({ "names": PERMITTED.split(' ').collect::<Vec<_>>(), "action": "SCMP_ACT_ALLOW", "args": [] }),
        permit("clone", json!([masked(NAMESPACE_FLAGS)])),
        json!({ "names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": ENOSYS, "args": [] }),
        permit("socketpair", json!([is(AF_UNIX)])),
    ];
    for family in FAMILIES {
        if INTERNET.contains(&family) {
            rules.extend(PROTOCOLS.map(|protocol| permit("socket", json!([is(family), equal(2, protocol)]))));
        } else {
            rules.push(permit("socket", json!([is(family)])));
        }
    }
    rules.extend(PERSONALITIES.map(|domain| permit("personality", json!([is(domain)]))));
    json!({ "defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": EPERM, "syscalls": rules }).to_string()
}

/// Condition that an argument has this value.
fn equal(index: u32, value: u64) -> Value {
    json!({ "index": index, "value": value, "valueTwo": 0, "op": "SCMP_CMP_EQ" })
}

/// Condition that the first argument has none of these bits.
fn masked(bits: u64) -> Value {
    json!({ "index": 0, "value": bits, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ" })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls that reach beyond the container: modules and memory of the kernel, mounts, namespaces, the whole machine, or
    /// other processes.
    const REFUSED: &str = "acct add_key bpf chroot clone3 delete_module fanotify_init finit_module fsconfig fsmount fsopen \
         fspick init_module io_uring_enter io_uring_register io_uring_setup ioperm iopl kcmp kexec_file_load \
         kexec_load keyctl lookup_dcookie mount mount_setattr move_mount open_by_handle_at open_tree \
         perf_event_open pidfd_getfd pivot_root process_madvise quotactl reboot request_key setdomainname \
         sethostname setns settimeofday swapoff swapon syslog umount umount2 unshare userfaultfd vhangup";

    #[test]
    fn profile_permits_ordinary_calls_and_refuses_those_that_reach_beyond_the_container() {
        let profile: Value = serde_json::from_str(&profile()).unwrap();
        let permitted: Vec<_> = profile["syscalls"][0]["names"].as_array().unwrap().iter().collect();
        for name in ["read", "execve", "futex", "epoll_wait", "openat2", "rseq", "ptrace"] {
            assert!(permitted.contains(&&Value::from(name)), "{name}");
        }
        let rules = profile["syscalls"].as_array().unwrap().iter().filter(|rule| rule["action"] == "SCMP_ACT_ALLOW");
        let permitted: Vec<_> = rules.flat_map(|rule| rule["names"].as_array().unwrap()).collect();
        for name in REFUSED.split(' ') {
            assert!(!permitted.contains(&&Value::from(name)), "{name}");
        }
        assert_eq!(profile["defaultAction"], "SCMP_ACT_ERRNO");
    }

    /// Returns the values that a call may have for these arguments.
    fn permitted(call: &str, arguments: &[u64]) -> Vec<Vec<u64>> {
        let profile: Value = serde_json::from_str(&profile()).unwrap();
        let rules = profile["syscalls"].as_array().unwrap().iter();
        let rules = rules.filter(|rule| rule["names"].as_array().unwrap().contains(&call.into()));
        let values = |rule: &Value| {
            let conditions = rule["args"].as_array().unwrap().iter().zip(arguments);
            let value = |(condition, argument): (&Value, &u64)| {
                // The kernel ignores the upper half of the argument: any other comparison could be evaded by one of its bits.
                assert_eq!((&condition["index"], &condition["op"]), (&(*argument).into(), &"SCMP_CMP_EQ".into()));
                condition["value"].as_u64().unwrap()
            };
            conditions.map(value).collect::<Vec<_>>()
        };
        rules.map(values).collect()
    }

    #[test]
    fn only_common_families_and_protocols_of_sockets_are_permitted() {
        let internet = |family: u64| [0, 1, 6, 17, 58].map(|protocol| vec![family, protocol]);
        let mut sockets = vec![vec![1], vec![16]];
        sockets.extend([2, 10].into_iter().flat_map(internet));
        let mut found = permitted("socket", &[0, 2]);
        found.sort_by_key(|values| (values.len(), values.clone()));
        assert_eq!(found, sockets);
        assert_eq!(permitted("socketpair", &[0]), [[1]]);
    }
}
