// The values of a call as a module takes them.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "child/session_wire.hpp"
#include "child/storages.hpp"
#include "runtime/entries.hpp"

namespace isomer::emulator {

/// Values as the module takes them, and what they point to.
class Arguments {
 public:
  explicit Arguments(const std::vector<StoragePlace>& places) : places_(places) {}
  CallValue make(const WireValue& w);

 private:
  const std::vector<StoragePlace>& places_;
  std::deque<CallTensor> tensors_;
  std::deque<std::vector<CallValue>> lists_;
};

/// The arguments, filled up with defaults. A sentence where they do not fit.
std::string complete(const OfferedEntry& entry, std::vector<WireValue>& values);

}  // namespace isomer::emulator
