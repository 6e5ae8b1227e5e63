#include "lab/text/pattern.hpp"

#include "core/sentence.hpp"

#include <isomer/error.hpp>

#ifdef ISOMER_HAS_RE2
#include <re2/re2.h>
#endif

namespace isomer::lab {

#ifdef ISOMER_HAS_RE2

struct Pattern::Compiled {
  Compiled(std::string_view expression, const re2::RE2::Options& options)
      : re(re2::StringPiece(expression.data(), expression.size()), options) {}
  re2::RE2 re;

  bool search(std::string_view text, std::size_t from, re2::RE2::Anchor anchor,
              std::vector<std::string_view>* groups) const {
    // An empty view may have no address, by which a group that took no part is known.
    if (text.data() == nullptr) text = "";
    const std::size_t count = groups ? static_cast<std::size_t>(re.NumberOfCapturingGroups()) + 1 : 0;
    std::vector<re2::StringPiece> found(count);
    if (!re.Match(re2::StringPiece(text.data(), text.size()), from, text.size(), anchor, found.data(),
                  static_cast<int>(count)))
      return false;
    if (groups) {
      groups->clear();
      for (const re2::StringPiece& each : found) groups->emplace_back(each.data(), each.size());
    }
    return true;
  }
};

Pattern::Pattern(std::string_view expression, Letters letters) {
  re2::RE2::Options options;
  // Bytes: a text may be of any encoding, or of none.
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  options.set_case_sensitive(letters == Letters::as_written);
  options.set_log_errors(false);
  compiled_ = std::make_unique<Compiled>(expression, options);
  if (!compiled_->re.ok())
    core::fail(ErrorCode::bad_argument, "expected a regular expression, got '", expression,
               "': ", compiled_->re.error());
}

std::size_t Pattern::groups() const {
  return static_cast<std::size_t>(compiled_->re.NumberOfCapturingGroups());
}

bool Pattern::found_in(std::string_view text) const {
  return compiled_->search(text, 0, re2::RE2::UNANCHORED, nullptr);
}

bool Pattern::is(std::string_view text) const {
  return compiled_->search(text, 0, re2::RE2::ANCHOR_BOTH, nullptr);
}

std::optional<Match> Pattern::find(std::string_view text, std::size_t from) const {
  Match match;
  if (text.data() == nullptr) text = "";
  match.text_ = text;
  if (from > text.size() || !compiled_->search(text, from, re2::RE2::UNANCHORED, &match.groups_)) return {};
  return match;
}

std::optional<Match> Pattern::whole(std::string_view text) const {
  Match match;
  if (text.data() == nullptr) text = "";
  match.text_ = text;
  if (!compiled_->search(text, 0, re2::RE2::ANCHOR_BOTH, &match.groups_)) return {};
  return match;
}

std::string literally(std::string_view text) {
  return re2::RE2::QuoteMeta(re2::StringPiece(text.data(), text.size()));
}

#else

struct Pattern::Compiled {};

Pattern::Pattern(std::string_view, Letters) {
  core::fail(ErrorCode::unsupported,
             "this build has no regular expressions: it was made without RE2 (libre2-dev)");
}
std::size_t Pattern::groups() const { return 0; }
bool Pattern::found_in(std::string_view) const { return false; }
bool Pattern::is(std::string_view) const { return false; }
std::optional<Match> Pattern::find(std::string_view, std::size_t) const { return {}; }
std::optional<Match> Pattern::whole(std::string_view) const { return {}; }
std::string literally(std::string_view text) { return std::string(text); }

#endif

Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

std::vector<Match> Pattern::all(std::string_view text) const {
  std::vector<Match> list;
  for (std::size_t from = 0; from <= text.size();) {
    std::optional<Match> match = find(text, from);
    if (!match) break;
    // Behind an empty match the next begins a byte later.
    from = match->end() + (match->end() == match->begin() ? 1 : 0);
    list.push_back(std::move(*match));
  }
  return list;
}

std::string Pattern::replaced(std::string_view text, std::string_view with) const {
  std::string result;
  std::size_t from = 0;
  for (const Match& match : all(text)) {
    result += text.substr(from, match.begin() - from);
    for (std::size_t i = 0; i < with.size(); ++i) {
      const bool group = with[i] == '$' && i + 1 < with.size() && with[i + 1] >= '1' && with[i + 1] <= '9';
      if (group)
        result += match[static_cast<std::size_t>(with[++i] - '0')];
      else
        result += with[i];
    }
    from = match.end();
  }
  return result += text.substr(from);
}

}  // namespace isomer::lab
