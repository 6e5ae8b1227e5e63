#include "gpu/tuned.hpp"

#include "core/json_reader.hpp"
#include "core/json_text.hpp"
#include "core/sentence.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace isomer::gpu {
namespace {

using core::fail;
using core::json_quoted;
using core::say;

constexpr std::int64_t kVersion = 1;
constexpr const char* kFields = "device, op, implementation, dtypes, shape, takes and nanoseconds";

TunedRow row_of(core::JsonReader& json) {
  TunedRow row;
  int fields = 0;
  json.object([&](const std::string& field) {
    const std::pair<const char*, std::string*> texts[] = {
        {"device", &row.key.device}, {"op", &row.key.op},       {"implementation", &row.key.implementation},
        {"dtypes", &row.key.dtypes}, {"shape", &row.key.shape}, {"takes", &row.takes}};
    ++fields;
    const auto* const text = std::find_if(std::begin(texts), std::end(texts),
                                          [&](const auto& each) { return field == each.first; });
    if (text != std::end(texts)) {
      *text->second = json.string();
    } else if (field == "nanoseconds") {
      json.object([&](const std::string& name) {
        row.nanoseconds.emplace_back(name, json.integer());
        if (row.nanoseconds.back().second <= 0) json.wrong("a positive number of nanoseconds expected");
      });
    } else {
      json.wrong(say("a row has the field ", json_quoted(field), ", expected ", kFields));
    }
  });
  if (fields != 7) json.wrong(say("a row lacks one of ", kFields));
  return row;
}

}  // namespace

TunedTable TunedTable::parse(std::string_view text, const std::string& what) {
  core::JsonReader json(text, what);
  TunedTable table;
  std::int64_t version = 0;
  try {
    json.object([&](const std::string& field) {
      if (field == "isomer_tuned")
        version = json.integer();
      else if (field == "rows")
        json.array([&] { table.put(row_of(json)); });
      else
        json.wrong(say("the field ", json_quoted(field), ", expected isomer_tuned and rows"));
    });
    json.end();
  } catch (const Error& error) {
    fail(ErrorCode::bad_argument, error.what());
  }
  if (version != kVersion)
    fail(ErrorCode::bad_argument, what, " is not valid: \"isomer_tuned\": ", kVersion, " expected, got ",
         version == 0 ? "none" : say(version));
  return table;
}

TunedTable TunedTable::read(const std::string& path, const std::string& what) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(ErrorCode::io, what, " cannot be read");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  if (file.bad()) fail(ErrorCode::io, what, " cannot be read");
  return parse(text, what);
}

const TunedRow* TunedTable::find(const TunedKey& key) const {
  const auto found =
      std::find_if(rows_.begin(), rows_.end(), [&](const TunedRow& row) { return row.key == key; });
  return found == rows_.end() ? nullptr : &*found;
}

void TunedTable::put(TunedRow row) {
  for (TunedRow& each : rows_)
    if (each.key == row.key) {
      each = std::move(row);
      return;
    }
  rows_.push_back(std::move(row));
}

void TunedTable::put(TunedTable table) {
  for (TunedRow& row : table.rows_) put(std::move(row));
}

std::string TunedTable::json() const {
  std::string text = say("{\"isomer_tuned\":", kVersion, ",\"rows\":[");
  for (const TunedRow& row : rows_) {
    text +=
        say(&row == rows_.data() ? "\n" : ",\n", "{\"device\":", json_quoted(row.key.device),
            ",\"op\":", json_quoted(row.key.op), ",\"implementation\":", json_quoted(row.key.implementation),
            ",\"dtypes\":", json_quoted(row.key.dtypes), ",\"shape\":", json_quoted(row.key.shape),
            ",\n \"takes\":", json_quoted(row.takes), ",\"nanoseconds\":{");
    for (const auto& [name, time] : row.nanoseconds)
      text += say(text.back() == '{' ? "" : ",", json_quoted(name), ":", time);
    text += "}}";
  }
  return text + "\n]}\n";
}

const TunedTable& tuned() {
  static const TunedTable table = [] {
    const char* value = std::getenv("ISOMER_TUNED");
    const std::string_view path = value == nullptr ? "" : value;
    TunedTable all;
    if (path == "none") return all;
    for (const MeasuredTable& each : measured_tables())
      all.put(TunedTable::parse(each.text, std::string(each.path)));
    if (!path.empty())
      all.put(TunedTable::read(std::string(path), say("ISOMER_TUNED: the table '", path, "'")));
    return all;
  }();
  return table;
}

std::size_t tuned_choice(const TunedRow& row, const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), row.takes);
  if (found == names.end())
    fail(ErrorCode::bad_argument, "ISOMER_TUNED: the row of ", row.key.op, " ", row.key.shape, " on ",
         row.key.device, " takes '", row.takes, "', expected one of ", core::either(names));
  return static_cast<std::size_t>(found - names.begin());
}

double tuned_seconds(const TunedRow* row, std::string_view name) {
  if (row != nullptr)
    for (const auto& [candidate, time] : row->nanoseconds)
      if (candidate == name) return 1e-9 * static_cast<double>(time);
  return -1;
}

}  // namespace isomer::gpu
