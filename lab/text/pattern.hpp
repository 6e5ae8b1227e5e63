#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::lab {

/// Where a pattern was found in a text, which must live as long as this.
class Match {
 public:
  /// The text of group `i`, of the whole match for 0; empty where the group took no part.
  std::string operator[](std::size_t i) const { return std::string(groups_.at(i)); }
  bool has(std::size_t i) const { return groups_.at(i).data() != nullptr; }
  std::size_t groups() const { return groups_.size(); }
  std::size_t begin() const { return static_cast<std::size_t>(groups_[0].data() - text_.data()); }
  std::size_t end() const { return begin() + groups_[0].size(); }
  std::string_view before() const { return text_.substr(0, begin()); }

 private:
  friend class Pattern;
  std::string_view text_;
  std::vector<std::string_view> groups_;
};

/// A regular expression over bytes, in time linear in the text whatever both are. The syntax is RE2's: Perl's
/// without backreferences and without looking ahead or behind.
class Pattern {
 public:
  enum class Letters { as_written, of_any_case };
  /// Throws Error bad_argument with what is wrong with the expression.
  explicit Pattern(std::string_view expression, Letters letters = Letters::as_written);
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  ~Pattern();

  /// Of the groups in parentheses.
  std::size_t groups() const;
  bool found_in(std::string_view text) const;
  /// Whether it is the whole text.
  bool is(std::string_view text) const;
  std::optional<Match> find(std::string_view text, std::size_t from = 0) const;
  std::optional<Match> whole(std::string_view text) const;
  /// One behind the other.
  std::vector<Match> all(std::string_view text) const;
  /// The text with every match replaced; $1 to $9 are groups.
  std::string replaced(std::string_view text, std::string_view with) const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

/// The text with what has a meaning in a pattern taken literally.
std::string literally(std::string_view text);

}  // namespace isomer::lab
