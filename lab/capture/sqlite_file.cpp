#ifdef ISOMER_HAS_SQLITE
#include "lab/capture/sqlite_file.hpp"

#include "core/sentence.hpp"

namespace isomer::lab {
namespace {

/// A foreign database may hold views and functions of its author's: reading is all that it may make us do.
int only_reading(void*, int action, const char*, const char*, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_PRAGMA:
      return SQLITE_OK;
    default:
      return SQLITE_DENY;
  }
}

}  // namespace

SqliteFile::SqliteFile(const std::string& path) : path_(path), database_(nullptr, sqlite3_close) {
  sqlite3* handle = nullptr;
  const int result =
      sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
  database_.reset(handle);
  if (result != SQLITE_OK) fail();
  sqlite3_exec(handle, "PRAGMA trusted_schema=OFF", nullptr, nullptr, nullptr);
  sqlite3_exec(handle, "PRAGMA cell_size_check=ON", nullptr, nullptr, nullptr);
  sqlite3_set_authorizer(handle, only_reading, nullptr);
}

void SqliteFile::fail() const { core::fail(ErrorCode::io, "trace: '", path_, "' cannot be read: ", why()); }

Statement SqliteFile::prepare(const std::string& query) const {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_.get(), query.c_str(), -1, &statement, nullptr) != SQLITE_OK) fail();
  return {statement, sqlite3_finalize};
}

std::set<std::string> SqliteFile::tables() const {
  std::set<std::string> names;
  const Statement rows = prepare("SELECT name FROM sqlite_master WHERE type='table'");
  while (sqlite3_step(rows.get()) == SQLITE_ROW) names.insert(text(rows.get(), 0));
  return names;
}

bool SqliteFile::is_table(const std::string& name) const {
  const Statement statement = prepare("SELECT 1 FROM sqlite_master WHERE type='table' AND name=?1");
  sqlite3_bind_text(statement.get(), 1, name.c_str(), -1, SQLITE_TRANSIENT);
  return sqlite3_step(statement.get()) == SQLITE_ROW;
}

std::set<std::string> SqliteFile::columns(const std::string& table) const {
  std::set<std::string> names;
  const Statement statement = prepare(core::say("PRAGMA table_info(\"", table, "\")"));
  while (sqlite3_step(statement.get()) == SQLITE_ROW)
    if (const auto* name = sqlite3_column_text(statement.get(), 1))
      names.insert(reinterpret_cast<const char*>(name));
  return names;
}

std::string SqliteFile::text(sqlite3_stmt* row, int column) {
  const auto* value = sqlite3_column_text(row, column);
  return value == nullptr ? "" : reinterpret_cast<const char*>(value);
}

}  // namespace isomer::lab
#endif
