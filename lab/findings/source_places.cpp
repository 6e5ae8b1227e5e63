#include "lab/findings/source_places.hpp"

#include "lab/findings/variation_codes.hpp"
#include "lab/text/pattern.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace isomer::lab {
namespace {

/// Where a line stands: what is computed in a kernel first, then on the host, then what is declared.
enum class Where : std::uint8_t { device, host, file, enumeration };

struct Line {
  std::string code;  ///< without comments, and without what is in quotes
  Where where = Where::file;
};

/// The source as lines, each with the innermost body that a part of it stands in.
class Lines {
 public:
  explicit Lines(const std::string& source) {
    for (std::size_t at = 0; at < source.size(); ++at) take(source, at);
    list_.push_back(std::move(line_));
  }
  const std::vector<Line>& list() const { return list_; }

 private:
  void take(const std::string& source, std::size_t& at) {
    const char c = source[at];
    const std::string_view two = std::string_view(source).substr(at, 2);
    if (c == '\n') {
      end_line();
      head_ += ' ';
    } else if (two == "//" || two == "/*") {
      skip_comment(source, at, two == "/*");
    } else if (c == '"' || (c == '\'' && !is_within_number(source, at))) {
      skip_quoted(source, at);
    } else if (c == '{') {
      put(c);
      open_.push_back(body_of(head_));
      head_.clear();
    } else if (c == '}') {
      put(c);
      if (!open_.empty()) open_.pop_back();
      head_.clear();
    } else {
      put(c);
      if (c == ';') head_.clear();
    }
  }

  void put(char c) {
    line_.code += c;
    head_ += c;
    const Where where = open_.empty() ? Where::file : open_.back();
    if (std::string_view(" \t{};").find(c) != std::string_view::npos) return;
    const bool first = line_.code.find_first_not_of(" \t{};") == line_.code.size() - 1;
    const bool enumerates = where == Where::enumeration && line_.where == Where::file;
    line_.where = first || enumerates ? where : std::min(line_.where, where);
  }

  /// Of the body that begins behind this text.
  Where body_of(const std::string& head) const {
    static const Pattern enumerates("\\benum\\b"), on_device("__(global|device)__");
    const Where around = open_.empty() ? Where::file : open_.back();
    if (around == Where::device || around == Where::host) return around;
    if (enumerates.found_in(head)) return Where::enumeration;
    static const Pattern holds_others("\\b(namespace|struct|class|union|extern)\\b[^()]*$");
    if (holds_others.found_in(head) || head.find('(') == std::string::npos) return around;
    return on_device.found_in(head) ? Where::device : Where::host;
  }

  void skip_comment(const std::string& source, std::size_t& at, bool block) {
    const std::size_t end = block ? source.find("*/", at + 2) : source.find('\n', at);
    const std::size_t stop = end == std::string::npos ? source.size() : end + (block ? 2 : 0);
    for (; at < stop; ++at)
      if (source[at] == '\n') end_line();
    --at;
  }

  void skip_quoted(const std::string& source, std::size_t& at) {
    const char quote = source[at];
    const bool raw = quote == '"' && at > 0 && source[at - 1] == 'R';
    std::size_t end = at + 1;
    if (raw) {
      const std::size_t paren = source.find('(', at);
      const std::string stop =
          paren == std::string::npos ? "\"" : ")" + source.substr(at + 1, paren - at - 1) + "\"";
      end = source.find(stop, at);
      end = end == std::string::npos ? source.size() : end + stop.size() - 1;
    } else {
      while (end < source.size() && source[end] != quote && source[end] != '\n')
        end += source[end] == '\\' ? 2 : 1;
    }
    put(quote);
    for (++at; at < end && at < source.size(); ++at)
      if (source[at] == '\n') end_line();
    if (at < source.size() && source[at] == '\n')
      --at;
    else
      put(quote);
  }

  void end_line() {
    // Words are looked for in what is computed: this one holds `exp`.
    static const std::string kConstant = "constexpr";
    for (std::size_t at = 0; (at = line_.code.find(kConstant, at)) != std::string::npos;)
      line_.code.replace(at, kConstant.size(), "const");
    list_.push_back(std::move(line_));
    line_ = {};
  }

  static bool is_within_number(const std::string& source, std::size_t at) {
    return at > 0 && std::isalnum(static_cast<unsigned char>(source[at - 1])) != 0;
  }

  std::vector<Line> list_;
  Line line_;
  std::string head_;  ///< since the last body or statement
  std::vector<Where> open_;
};

}  // namespace

int line_of(const std::string& source, const std::vector<std::string_view>& patterns) {
  const std::vector<Line> lines = Lines(source).list();
  const auto first_in = [&](const Pattern& wanted, Where where) {
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (lines[i].where == where && lines[i].code.find("#include") == std::string::npos &&
          wanted.found_in(lines[i].code))
        return static_cast<int>(i) + 1;
    return 0;
  };
  for (const std::string_view pattern : patterns)
    for (const Where where : {Where::device, Where::host, Where::file})
      if (const int line = first_in(Pattern(pattern), where); line != 0) return line;
  for (const std::string_view pattern : patterns)
    if (const int line = first_in(Pattern(pattern), Where::enumeration); line != 0) return line;
  return 0;
}

void add_places(std::vector<Finding>& findings, const std::string& source, const std::string& file) {
  if (source.empty()) return;
  for (Finding& finding : findings) {
    if (finding.subject != Subject::candidate || finding.location.line != 0) continue;
    for (const std::string& name : finding.variations) {
      const VariationCode& code = code_of(name);
      if (code.code != finding.code) continue;
      finding.location = {file, line_of(source, code.places)};
      break;
    }
    if (finding.location.line == 0 && finding.code == Code::assumes_contiguous)
      finding.location = {
          file, line_of(source, {"is_contiguous", "\\*\\s*(head_num|H|D|d_model|head_dim|dim)\\b"})};
  }
}

}  // namespace isomer::lab
