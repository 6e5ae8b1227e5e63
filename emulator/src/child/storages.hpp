// Where the storages of a call lie while it runs: in the emulated device's memory or in a real one's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "child/session_wire.hpp"
#include "isomer_emulator/entries_abi.h"

namespace isomer::emulator {

/// A storage of the call; null and 0 bytes for one without any.
struct StoragePlace {
  std::byte* begin = nullptr;
  std::uint64_t bytes = 0;
};

class Storages {
 public:
  virtual ~Storages() = default;
  /// Allocates all of them, with their contents as they travel in `arena`. Throws Error where they do not
  /// fit.
  virtual void place(const SessionRequest& request, const std::byte* arena) = 0;
  const std::vector<StoragePlace>& places() const { return places_; }
  /// Their contents again, as they were given.
  virtual void restore(const SessionRequest& request, const std::byte* arena) = 0;
  virtual void clear() = 0;
  /// What follows is one call.
  virtual void begin_call() {}
  /// The call has returned: waits for what it launched. `refusals` takes the launches that the device
  /// refused; a sentence comes back where the device stopped.
  virtual std::string settle(std::vector<Refusal>& refusals) = 0;
  /// Writes beyond the storages' ends that nothing else has seen.
  virtual void check_guards(std::vector<Report>& reports) = 0;
  /// The parts of a storage, of an argument or a result, that have to travel, copied to `to`.
  virtual std::vector<Extent> fetch(std::byte* to, const std::byte* from, std::uint64_t bytes) = 0;
  virtual void release() = 0;
  /// Nothing more can be done in this process.
  virtual bool lost() const { return false; }

 protected:
  std::vector<StoragePlace> places_;
};

std::unique_ptr<Storages> emulated_storages();
/// `limit`: bytes that the code may allocate.
std::unique_ptr<Storages> device_storages(const DeviceTable& table, std::uint8_t poison, std::uint64_t limit);
/// Of the module that is loaded; null: it was compiled for the emulated device.
const DeviceTable* real_device();

}  // namespace isomer::emulator
