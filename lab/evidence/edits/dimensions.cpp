#include "lab/evidence/edits/dimensions.hpp"

#include "lab/evidence/edits/operands.hpp"
#include "lab/evidence/edits/terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

namespace isomer::lab {
namespace {

class Dimensions {
 public:
  Dimensions(const EditPlaces& places, ChangedValues& changed)
      : places_(places), tokens_(places.tokens()), changed_(changed) {}

  void add(const SourceValue& value) {
    const bool whole = value.kind == SourceValue::Kind::whole;
    if (whole || value.kind == SourceValue::Kind::memory)
      for (std::size_t i = value.first; i + 1 < value.last; ++i) add_leading(value, i);
    if (whole && !value.begins_loop && value.target != "index") add_aligned(value);
    for (std::size_t i = value.first; i + 2 <= value.last; ++i) add_absent(value, i);
  }

 private:
  std::string text(std::size_t first, std::size_t last) const {
    return std::string(tokens_.text(first, last));
  }

  bool names(const SourceValue& value, std::string_view name) const {
    for (std::size_t i = value.first; i <= value.last; ++i)
      if (tokens_.is(i, name)) return true;
    return false;
  }

  /// `h * W + w` as `(n * H + h) * W + w`.
  void add_leading(const SourceValue& value, std::size_t at) {
    constexpr std::size_t kMostCounts = 3, kMostSizes = 4;
    const CppVariable* named = places_.functions().named(at);
    const bool front =
        at == value.first || tokens_.is(at - 1, "(") || tokens_.is(at - 1, "+") || tokens_.is(at - 1, "[");
    if (!front || named == nullptr || !is_whole_type(named->type) || !tokens_.is(at + 1, "*") ||
        places_.functions().is_parameter(*named))
      return;
    std::size_t counts = 0;
    for (const std::string& count : places_.functions().counts_and_sizes(value.first).first) {
      if (names(value, count) || count == value.name || counts++ == kMostCounts) continue;
      for (const std::string& size : sizes_near(places_, value.first, count, kMostSizes))
        if (!tokens_.is(at + 2, size))
          changed_.add(value, {{at, at, fmt::format("({} * {} + {})", count, size, text(at, at))}},
                       Code::wrong_expression, 4);
    }
  }

  /// `i` as `i + K - Q`: the last rows of one lie beside the last ones of the other.
  void add_aligned(const SourceValue& value) {
    constexpr std::size_t kShort = 4, kMostSizes = 4;
    if (value.last - value.first > kShort) return;
    for (std::size_t i = value.first; i <= value.last; ++i)
      for (const char* each : {"*", "/", "%", "?", "<", ">", "&", "|", "(", "["})
        if (tokens_.is(i, each)) return;
    const CppVariable* named = places_.functions().named(value.first);
    if (named == nullptr || !is_whole_type(named->type)) return;
    const std::vector<std::string> sizes = sizes_near(places_, value.first, "", kMostSizes);
    for (const std::string& more : sizes)
      for (const std::string& less : sizes)
        if (more != less && !names(value, more) && !names(value, less))
          changed_.add(value,
                       {{value.first, value.last,
                         fmt::format("{} + {} - {}", text(value.first, value.last), more, less)}},
                       Code::mask_alignment, 3);
  }

  /// Of memory that is read by numbers alone: a number that none of its indices is.
  void add_absent(const SourceValue& value, std::size_t at) {
    constexpr long kLargest = 64, kMost = 3;
    const auto number = [&](std::size_t open) -> long {
      if (!tokens_.is(open, "[") || !tokens_.is(open + 2, "]") ||
          tokens_[open + 1].kind != CppToken::Kind::number)
        return -1;
      return std::strtol(text(open + 1, open + 1).c_str(), nullptr, 0);
    };
    const long own = tokens_.is_name(at) ? number(at + 1) : -1;
    if (own < 0 || own > kLargest) return;
    std::set<long> used;
    const std::size_t body = places_.functions().body_of(at);
    for (std::size_t i = 0; i + 3 < tokens_.size(); ++i)
      if (tokens_.text(i) == tokens_.text(at) && places_.functions().body_of(i) == body)
        if (const long each = number(i + 1); each >= 0 && each <= kLargest) used.insert(each);
    constexpr std::size_t kFew = 4;
    if (used.size() < kFew) return;
    long count = 0;
    for (long each = 0; each <= *used.rbegin() + 1 && count < kMost; ++each)
      if (used.count(each) == 0 && ++count)
        changed_.add(value, {{at + 2, at + 2, std::to_string(each)}}, Code::wrong_expression, 1);
  }

  const EditPlaces& places_;
  const CppTokens& tokens_;
  ChangedValues& changed_;
};

}  // namespace

void add_dimensions(const EditPlaces& places, const std::vector<SourceValue>& values,
                    ChangedValues& changed) {
  Dimensions dimensions(places, changed);
  for (const SourceValue& value : values) dimensions.add(value);
}

}  // namespace isomer::lab
