// What travels between a session and the process that holds its module. Tensors' storages lie behind the
// request in the same shared file, each on pages of its own; those of results behind the answer.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "isomer/emulator/session.hpp"
#include "memory/pages.hpp"

namespace isomer::emulator {

inline constexpr std::uint64_t kWirePage = 4096;

struct WireStorage {
  std::uint64_t bytes = 0, offset = 0;  ///< in the shared file
  std::string name;
  std::vector<Extent> extents;  ///< the parts that travel; the rest is zero
};

/// A value whose storage is a number in the list of storages.
struct WireValue {
  ValueKind kind = ValueKind::none;
  std::int64_t integer = 0;
  double real = 0;
  std::string text;
  Element element = 0;
  std::vector<std::int64_t> shape, strides;
  std::uint64_t storage = 0, storage_offset = 0;
  std::vector<WireValue> items;
};

/// What the session gives anew for each call, and what its process says has to begin with: other code in that
/// process is not told of it.
using Seal = std::array<char, 16>;

struct SessionSetup {
  std::string library;
  int lanes = 32;
  bool watch = false, hip = false;
  bool real_device = false;
  bool room = false;  ///< it has a namespace of processes to itself
  Seal seal{};        ///< of what it says before the first call
  std::uint64_t forks_with =
      0;  ///< it and what it calls start no process but by this word; 0: nothing is kept
};

struct SessionRequest {
  Seal seal{};
  std::uint64_t forks_with = 0;  ///< of the setup
  std::uint64_t entry = 0;
  CallOptions options;
  std::vector<WireStorage> storages;
  std::vector<WireValue> values;
};

struct SessionAnswer {
  CallResult result;  ///< without the returned values
  std::vector<WireStorage> storages;
  std::vector<WireValue> returned;
  std::vector<std::vector<Extent>>
      after;  ///< the parts of the arguments' storages that come back; empty: none does
};

std::string pack(const SessionSetup& setup);
SessionSetup unpack_setup(const std::string& bytes);
std::string pack(const SessionRequest& request);
SessionRequest unpack_session_request(const std::string& bytes);
std::string pack(const SessionAnswer& answer);
SessionAnswer unpack_session_answer(const std::string& bytes);
std::string pack(const std::vector<EntryInfo>& entries);
std::vector<EntryInfo> unpack_entries(const std::string& bytes);

/// Copies these parts.
void copy_extents(std::byte* to, const std::byte* from, const std::vector<Extent>& extents);

/// Descriptors that a session's process finds open.
inline constexpr int kSessionSocket = 3, kSessionArena = 4, kSessionAnswer = 5;

/// From the process to the session: that it has begun (s) or can make no process for a call (f), that the
/// module is loaded (a), that a call begins, in process `pid` (b), that it has ended with `status` (e).
struct SessionEvent {
  char what = 0;
  std::int32_t pid = 0;
  std::int32_t status = 0;
  Seal seal{};
};

}  // namespace isomer::emulator
