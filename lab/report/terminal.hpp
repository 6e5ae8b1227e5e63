#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace isomer::lab {

/// Colours and cursor movement, only on a terminal (and not where NO_COLOR is set).
class Terminal {
 public:
  static bool out_is_terminal();
  static bool err_is_terminal();
  static int width();
  static std::string green(std::string_view text);
  static std::string red(std::string_view text);
  static std::string yellow(std::string_view text);
  static std::string dim(std::string_view text);
  static std::string bold(std::string_view text);
};

/// Rows of cells in aligned columns. Widths count code points and skip colour sequences.
class Table {
 public:
  /// 'l' or 'r' per column.
  explicit Table(std::string alignment) : alignment_(std::move(alignment)) {}
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void rule() { rows_.emplace_back(); }
  std::string text() const;

 private:
  std::string alignment_;
  std::vector<std::vector<std::string>> rows_;
};

/// One line on stderr that is drawn over itself; silent where stderr is no terminal.
class ProgressBar {
 public:
  void show(int done, int all, const std::string& label);
  void clear();
  ~ProgressBar() { clear(); }

 private:
  bool drawn_ = false;
  double last_ = 0;
};

}  // namespace isomer::lab
