#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isomer::gpu {

/// One of the ways in which an implementation could run a call, such as a tile. The name is what tables and
/// `isomer explain` call it.
struct Candidate {
  std::string name;
  double modelled = 0;   ///< seconds, as the implementation's model of the cost has them
  double measured = -1;  ///< seconds, as the table of measured choices has them; −1 unknown
  bool taken = false;    ///< the plan's own
};

/// What a measured choice is looked up by.
struct TunedKey {
  std::string device;          ///< Facts::name: "NVIDIA H200"
  std::string op;              ///< "fp8_gemm"
  std::string implementation;  ///< without the device: "sm90"
  std::string dtypes;          ///< "a=e4m3fn c=bf16"
  std::string shape;  ///< "m=64 n=7168 k=16384", and whatever else decides which candidates there are
  bool operator==(const TunedKey&) const = default;
};

/// What was measured of one call.
struct TunedRow {
  TunedKey key;
  std::string takes;                                              ///< a candidate's name
  std::vector<std::pair<std::string, std::int64_t>> nanoseconds;  ///< by candidate, as they were measured
};

/// Measured choices, as `isomer bench OP --tune FILE` writes them and ISOMER_TUNED names them.
class TunedTable {
 public:
  /// Throws Error bad_argument, beginning with `what`, where the text is no table.
  static TunedTable parse(std::string_view text, const std::string& what);
  /// Throws Error io where the file cannot be read, and as parse().
  static TunedTable read(const std::string& path, const std::string& what);

  /// Null where nothing was measured.
  const TunedRow* find(const TunedKey& key) const;
  /// In place of a row of the same key.
  void put(TunedRow row);
  void put(TunedTable table);  ///< all of its rows
  const std::vector<TunedRow>& rows() const { return rows_; }
  std::string json() const;

 private:
  std::vector<TunedRow> rows_;
};

/// A table that the library has with it. The path is relative to src/.
struct MeasuredTable {
  std::string_view path;
  std::string_view text;
};
/// Made by the build from src/ops/*/gpu/measured.
std::span<const MeasuredTable> measured_tables();

/// The rows of measured_tables(), and in their place those of the table that ISOMER_TUNED names where it has
/// the same keys; "none" means no table at all. Read once in a process. Throws Error as TunedTable::read().
const TunedTable& tuned();

/// Which of the candidates, by their names, a table's row takes. Throws Error bad_argument where it takes
/// none of them.
std::size_t tuned_choice(const TunedRow& row, const std::vector<std::string>& names);
/// What the row has measured of a candidate, in seconds; −1 where it has not, or there is no row.
double tuned_seconds(const TunedRow* row, std::string_view name);

}  // namespace isomer::gpu
