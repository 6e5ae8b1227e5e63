#include "contain/system_calls.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#ifdef ISOMER_HAS_SECCOMP
#include <seccomp.h>
#endif

namespace isomer::emulator {
namespace {

// Where the kernel writes the number of this thread for the C library; null where it does not say.
int* thread_number() {
  int* place = nullptr;
  return prctl(PR_GET_TID_ADDRESS, &place) == 0 ? place : nullptr;
}

}  // namespace

pid_t fork_with(std::uint64_t word) {
  int* const number = thread_number();
  const unsigned long flags = SIGCHLD | (number != nullptr ? CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID : 0);
  // The word stands where clone takes a place for the child's number, which these flags do not ask for.
#if defined(__x86_64__)
  return static_cast<pid_t>(syscall(SYS_clone, flags, 0, word, number, 0));
#else
  return static_cast<pid_t>(syscall(SYS_clone, flags, 0, word, 0, number));
#endif
}

}  // namespace isomer::emulator

#ifdef ISOMER_HAS_SECCOMP
namespace isomer::emulator {
namespace {

constexpr const char* kRefused[] = {
    // other processes
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp",
    // the network, and whoever listens on this machine
    "socket", "bind", "connect", "listen", "accept", "accept4",
    // other rooms
    "unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen",
    "fsconfig", "fsmount", "fspick", "mount_setattr", "name_to_handle_at", "open_by_handle_at",
    // large parts of the kernel
    "io_uring_setup", "io_uring_enter", "io_uring_register", "bpf", "perf_event_open", "userfaultfd",
    "fanotify_init", "keyctl", "add_key", "request_key", "personality", "vmsplice",
    // memory that no limit counts
    "memfd_create", "memfd_secret", "shmget", "msgget", "mq_open",
    // the machine
    "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon",
    "swapoff", "acct", "quotactl", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex",
    "sethostname", "setdomainname", "syslog", "iopl", "ioperm", "lookup_dcookie", "nfsservctl", "vhangup"};

}  // namespace

bool can_refuse_system_calls() { return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0; }

bool refuse_system_calls() {
  if (!can_refuse_system_calls()) return true;  // what is missing is said beforehand
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  if (filter == nullptr) return false;
  bool made = true;
  for (const char* name : kRefused) {
    const int number = seccomp_syscall_resolve_name(name);
    // A call that this library or machine does not know cannot be made by its name either.
    if (number != __NR_SCMP_ERROR && number >= 0)
      made = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 0) == 0 && made;
  }
  made = seccomp_load(filter) == 0 && made;
  seccomp_release(filter);
  return made;
}

// Adds what follows to the filters of this process.
template <class Add>
static bool refuse_more(Add add) {
  if (!can_refuse_system_calls()) return false;
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  if (filter == nullptr) return false;
  bool made = add(filter);
  made = seccomp_load(filter) == 0 && made;
  seccomp_release(filter);
  return made;
}

bool refuse_signals_to_others() {
  return refuse_more([](scmp_filter_ctx filter) {
    bool made = true;
    const auto refuse = [&](const char* name, scmp_arg_cmp unless) {
      if (const int number = seccomp_syscall_resolve_name(name); number >= 0)
        made = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 1, unless) == 0 && made;
    };
    const auto self = static_cast<std::uint64_t>(getpid());
    for (const char* name : {"kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"})
      refuse(name, SCMP_A0_64(SCMP_CMP_NE, self));
    for (const char* name : {"prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam",
                             "sched_setattr", "migrate_pages", "move_pages", "setpgid"})
      refuse(name, SCMP_A0_64(SCMP_CMP_NE, 0));
    for (const char* name : {"setpriority", "ioprio_set"}) refuse(name, SCMP_A1_64(SCMP_CMP_NE, 0));
    for (const char* name : {"pidfd_open", "pidfd_send_signal", "process_mrelease"})
      if (const int number = seccomp_syscall_resolve_name(name); number >= 0)
        made = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 0) == 0 && made;
    // Whose signal a descriptor's news are.
    for (const int what : {F_SETOWN, F_SETSIG, F_SETOWN_EX})
      made = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(fcntl), 1,
                              SCMP_A1_64(SCMP_CMP_MASKED_EQ, 0xffffffffu, static_cast<scmp_datum_t>(what))) == 0 &&
             made;
    return made;
  });
}

bool refuse_signals_to_all() {
  return refuse_more([](scmp_filter_ctx filter) {
    bool made = true;
    for (const char* name : {"kill", "rt_sigqueueinfo"})
      made = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), seccomp_syscall_resolve_name(name), 1,
                              SCMP_A0_64(SCMP_CMP_MASKED_EQ, 0xffffffffu, 0xffffffffu)) == 0 &&
             made;
    return made;
  });
}

bool refuse_new_processes(std::uint64_t word) {
  if (thread_number() == nullptr) return false;
  return refuse_more([&](scmp_filter_ctx filter) {
    bool made = true;
    for (const char* name : {"fork", "vfork"})
      if (const int number = seccomp_syscall_resolve_name(name); number >= 0)
        made = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 0) == 0 && made;
    // What it starts stands in memory, which a filter cannot read; the C library then takes clone.
    made = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0 && made;
    const scmp_arg_cmp no_thread = SCMP_A0_64(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0),
                       no_word = SCMP_A2_64(SCMP_CMP_NE, word);
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 2, no_thread, no_word) == 0 &&
           made;
  });
}

}  // namespace isomer::emulator
#else
namespace isomer::emulator {

bool can_refuse_system_calls() { return false; }
bool refuse_system_calls() { return true; }
bool refuse_new_processes(std::uint64_t) { return false; }
bool refuse_signals_to_others() { return false; }
bool refuse_signals_to_all() { return false; }

}  // namespace isomer::emulator
#endif
