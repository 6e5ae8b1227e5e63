#include "lab/evidence/edits/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::lab {
namespace {

constexpr std::size_t kMostElements = 32;
constexpr int kRankOfTables = 2;

/// An array of numbers that are written down: `const float kCodes[4] = {0.f, -0.5f, 0.5f, 1.f};`
struct Table {
  std::string name;
  std::size_t declared = 0;  ///< token
  std::vector<EditPlaces::Part> elements;
};

/// Neighbours of a table in each other's place, and the numbers that have a sign without it, or one that they
/// have not. The table stays as it is: what is read of it is another element, or another number.
class Tables {
 public:
  explicit Tables(EditPlaces& places) : places_(places), tokens_(places.tokens()) {}

  void add() {
    for (std::size_t i = 1; i + 4 < tokens_.size(); ++i) {
      const Table table = table_at(i);
      if (table.elements.size() < 2 || table.elements.size() > kMostElements) continue;
      const std::vector<std::size_t> reads = reads_of(table);
      if (!reads.empty()) exchange(table, reads);
    }
  }

 private:
  Table table_at(std::size_t at) const {
    Table table;
    if (!tokens_.is_name(at) || !tokens_.is(at + 1, "[") || !is_number_word(tokens_.text(at - 1)))
      return table;
    const std::size_t close = tokens_[at + 1].partner;
    if (close + 2 >= tokens_.size() || !tokens_.is(close + 1, "=") || !tokens_.is(close + 2, "{"))
      return table;
    const std::size_t end = tokens_[close + 2].partner;
    for (std::size_t i = close + 3; i < end; ++i) {
      const std::size_t first = i;
      if (tokens_.is(i, "-") || tokens_.is(i, "+")) ++i;
      if (tokens_[i].kind != CppToken::Kind::number || (i + 1 != end && !tokens_.is(i + 1, ","))) return {};
      table.elements.push_back({first, i, std::string(tokens_.text(first, i))});
      ++i;
    }
    table.name = tokens_.text(at);
    table.declared = at;
    return table;
  }

  /// The `[` of each read of one element.
  std::vector<std::size_t> reads_of(const Table& table) const {
    std::vector<std::size_t> list;
    for (std::size_t i = 1; i + 2 < tokens_.size(); ++i) {
      if (i == table.declared || !tokens_.is(i, table.name) || !tokens_.is(i + 1, "[")) continue;
      const std::size_t close = tokens_[i + 1].partner;
      const bool is_member = tokens_.is(i - 1, ".") || tokens_.is(i - 1, "->");
      static constexpr std::array<std::string_view, 9> kWrites = {
          "=", "[", "+=", "-=", "*=", "/=", "++", "--", "|="};
      const bool is_written =
          std::find(kWrites.begin(), kWrites.end(), tokens_.text(close + 1)) != kWrites.end();
      if (is_member || is_written || tokens_.is(i - 1, "&")) return {};
      if (!places_.open_rewrites(i) || close <= i + 2) return {};
      list.push_back(i + 1);
    }
    return list;
  }

  void exchange(const Table& table, const std::vector<std::size_t>& reads) {
    const int first = places_.next();
    const auto count = static_cast<int>(table.elements.size());
    for (int k = 0; k + 1 < count; ++k) {
      EditPlaces::Part one = table.elements[static_cast<std::size_t>(k)],
                       other = table.elements[static_cast<std::size_t>(k) + 1];
      std::swap(one.text, other.text);
      places_.add({one, other}, Code::wrong_expression, kRankOfTables);
    }
    for (EditPlaces::Part each : table.elements) {
      each.text = each.text.front() == '-' ? each.text.substr(1) : "-" + each.text;
      places_.add({each}, Code::wrong_expression, kRankOfTables + 1);
    }
    for (const std::size_t open : reads) {
      const std::size_t close = tokens_[open].partner;
      places_.surround(open + 1, close - 1, fmt::format("isomer_edits::placed({}, {}, ", first, count), ")");
      const std::string index(tokens_.text(open + 1, close - 1));
      if (index.find('(') != std::string::npos || index.find('=') != std::string::npos ||
          index.find("++") != std::string::npos || index.find("--") != std::string::npos)
        continue;
      places_.surround(open - 1, close,
                       fmt::format("isomer_edits::signed_of({}, {}, {}, ", first + count - 1, count, index),
                       ")");
    }
  }

  EditPlaces& places_;
  const CppTokens& tokens_;
};

}  // namespace

void add_tables(EditPlaces& places) { Tables(places).add(); }

}  // namespace isomer::lab
