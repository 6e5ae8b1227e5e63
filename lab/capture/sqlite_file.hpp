#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace isomer::lab {

using Statement = std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)>;

/// Somebody's SQLite database, of which nothing is done but read. Throws Error io.
class SqliteFile {
 public:
  explicit SqliteFile(const std::string& path);

  const std::string& path() const { return path_; }
  Statement prepare(const std::string& query) const;
  bool is_table(const std::string& name) const;
  std::set<std::string> tables() const;
  /// Empty of a table that is not there.
  std::set<std::string> columns(const std::string& table) const;
  /// SQLite's sentence about what failed last.
  std::string why() const { return sqlite3_errmsg(database_.get()); }

  static std::string text(sqlite3_stmt* row, int column);
  template <class Unsigned>
  static void whole(sqlite3_stmt* row, int column, std::optional<Unsigned>& into) {
    if (sqlite3_column_type(row, column) != SQLITE_INTEGER) return;
    const sqlite3_int64 value = sqlite3_column_int64(row, column);
    if (value >= 0 && static_cast<std::uint64_t>(value) <= std::numeric_limits<Unsigned>::max())
      into = static_cast<Unsigned>(value);
  }

 private:
  [[noreturn]] void fail() const;

  std::string path_;
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> database_;
};

}  // namespace isomer::lab
