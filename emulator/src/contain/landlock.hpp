// Which files a process and its children may read and write from now on, by the kernel's Landlock.
#pragma once

namespace isomer::emulator {

/// The version of Landlock that the kernel has; 0 where it has none.
int landlock_version();

class Landlock {
 public:
  Landlock();
  ~Landlock();
  Landlock(const Landlock&) = delete;
  Landlock& operator=(const Landlock&) = delete;
  /// Everything below the path may be read and executed, and written as well. What is not there is passed
  /// over.
  void allow(const char* path, bool write);
  /// Lets go of every rule: files stay as they are.
  void open();
  /// False where the kernel has Landlock and refuses it.
  bool enforce();

 private:
  int rules_ = -1;
  unsigned long long handled_ = 0;
};

}  // namespace isomer::emulator
