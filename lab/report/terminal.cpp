#include "lab/report/terminal.hpp"

#include "lab/report/markup.hpp"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace isomer::lab {
namespace {

bool plain() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return (no_color != nullptr && *no_color != '\0') || (term != nullptr && std::string_view(term) == "dumb");
}

std::string colour(const char* code, std::string_view text) {
  if (!Terminal::out_is_terminal() || plain()) return std::string(text);
  return fmt::format("\033[{}m{}\033[0m", code, text);
}

/// Code points outside escape sequences.
std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  bool escape = false;
  for (const char c : text) {
    if (c == '\033') escape = true;
    if (!escape && (static_cast<unsigned char>(c) & 0xC0) != 0x80) ++count;
    if (escape && c == 'm') escape = false;
  }
  return count;
}

}  // namespace

bool Terminal::out_is_terminal() { return isatty(STDOUT_FILENO) != 0; }
bool Terminal::err_is_terminal() { return isatty(STDERR_FILENO) != 0; }

int Terminal::width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 100;
}

std::string Terminal::green(std::string_view text) { return colour("32", text); }
std::string Terminal::red(std::string_view text) { return colour("31", text); }
std::string Terminal::yellow(std::string_view text) { return colour("33", text); }
std::string Terminal::dim(std::string_view text) { return colour("2", text); }
std::string Terminal::bold(std::string_view text) { return colour("1", text); }

std::string Table::text() const {
  std::vector<std::size_t> widths(alignment_.size(), 0);
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    if (row.empty()) {
      std::size_t total = 0;
      for (const std::size_t width : widths) total += width + 2;
      for (std::size_t i = 2; i < total; ++i) line += "─";
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - columns(row[i]), ' ');
      line += i > 0 ? "  " : "";
      line += alignment_[i] == 'r' ? pad + row[i] : i + 1 == row.size() ? row[i] : row[i] + pad;
    }
    text += line + "\n";
  }
  return text;
}

void ProgressBar::show(int done, int all, const std::string& label) {
  if (!Terminal::err_is_terminal()) return;
  const double now =
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  if (done < all && now - last_ < 0.05) return;
  last_ = now;
  constexpr int kBar = 24;
  const int filled = all > 0 ? done * kBar / all : kBar;
  std::string bar;
  for (int i = 0; i < kBar; ++i) bar += i < filled ? "█" : "░";
  const std::string count = fmt::format(" {}/{} ", done, all);
  const auto room = std::max(0, Terminal::width() - kBar - static_cast<int>(count.size()) - 1);
  fmt::print(stderr, "\r\033[K{}{}{}", bar, count,
             escape_terminal(label).substr(0, static_cast<std::size_t>(room)));
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressBar::clear() {
  if (!drawn_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace isomer::lab
