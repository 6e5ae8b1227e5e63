#include "contain/system_calls.hpp"

#include <sys/prctl.h>

#include <cerrno>

#ifdef ISOMER_HAS_SECCOMP
#include <seccomp.h>

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

}  // namespace isomer::emulator
#else
namespace isomer::emulator {

bool can_refuse_system_calls() { return false; }
bool refuse_system_calls() { return true; }

}  // namespace isomer::emulator
#endif
