#include "contain/landlock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#endif

namespace isomer::emulator {

#ifdef LANDLOCK_CREATE_RULESET_VERSION
namespace {

constexpr unsigned long long kRead =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
// As the sixth version has it, which this system's header may not know.
constexpr int kWithScopes = 6;
struct Scoped {
  unsigned long long files = 0, network = 0;
  unsigned long long scopes = 3;  ///< abstract sockets (1) and signals (2)
};
constexpr unsigned long long kOfFiles =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE;
constexpr unsigned long long kAll = kRead | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                    LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                    LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                    LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                    LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;

}  // namespace

int landlock_version() {
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version > 0 ? static_cast<int>(version) : 0;
}

Landlock::Landlock() {
  if (landlock_version() == 0) return;
  // Of the first version: what later ones add would forbid compilers to rename files.
  handled_ = kAll;
  if (landlock_version() >= kWithScopes) {
    // Signals reach nobody outside, who in a room without namespaces may be anybody of this user's.
    Scoped attributes;
    attributes.files = handled_;
    rules_ = static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0));
  }
  if (rules_ >= 0) return;
  landlock_ruleset_attr attributes{};
  attributes.handled_access_fs = handled_;
  rules_ = static_cast<int>(
      syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes.handled_access_fs, 0));
}

Landlock::~Landlock() { open(); }

void Landlock::open() {
  if (rules_ >= 0) close(rules_);
  rules_ = -1;
}

void Landlock::allow(const char* path, bool write) {
  const int place = ::open(path, O_PATH | O_CLOEXEC);
  struct stat found {};
  if (rules_ < 0 || place < 0 || fstat(place, &found) != 0) {
    if (place >= 0) close(place);
    return;
  }
  landlock_path_beneath_attr rule{};
  rule.parent_fd = place;
  rule.allowed_access = (write ? kAll : kRead) & (S_ISDIR(found.st_mode) ? kAll : kOfFiles);
  syscall(SYS_landlock_add_rule, rules_, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  close(place);
}

bool Landlock::enforce() { return rules_ < 0 || syscall(SYS_landlock_restrict_self, rules_, 0) == 0; }
#else
int landlock_version() { return 0; }
Landlock::Landlock() = default;
Landlock::~Landlock() = default;
void Landlock::open() {}
void Landlock::allow(const char*, bool) {}
bool Landlock::enforce() { return true; }
#endif

}  // namespace isomer::emulator
