// A thread that lives as long as its process. A program that ends with its parent ends with the thread that
// started it.
#pragma once

#include <functional>

namespace isomer::emulator {

/// What `work` gives, done on that thread, of which each process has its own.
int on_lasting_thread(const std::function<int()>& work);

}  // namespace isomer::emulator
