// PTX text: enough of it to say which entries it has and how they are called.
#include "core/sha256.hpp"
#include "lab/binary/binary_images.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace isomer::lab {
namespace {

bool in_ptx_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         c == '.';
}

/// Words, numbers and single signs; comments and strings are passed over.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  std::string_view next() {
    skip();
    if (at_ >= text_.size()) return {};
    const std::size_t begin = at_;
    while (at_ < text_.size() && in_ptx_word(text_[at_])) ++at_;
    if (at_ == begin) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  std::size_t at() const { return at_; }

 private:
  void skip() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        ++at_;
      } else if (text_.substr(at_).starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(at_).starts_with("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else if (c == '"') {
        const std::size_t end = text_.find('"', at_ + 1);
        at_ = end == std::string_view::npos ? text_.size() : end + 1;
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::uint32_t number(std::string_view word) {
  std::uint32_t value = 0;
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

/// The bytes of a scalar type: .u64, .b8, .f16x2, .pred has none.
std::uint32_t bytes_of(std::string_view type) {
  const std::size_t digit = type.find_first_of("0123456789");
  if (digit == std::string_view::npos) return 0;
  const std::uint32_t bits = number(type.substr(digit));
  return bits % 8 == 0 && bits <= 128 ? bits / 8 * (type.ends_with("x2") ? 2 : 1) : 0;
}

/// (.param .u64 a, .param .align 8 .b8 b[40]) behind its opening bracket.
std::vector<BinaryKernel::Parameter> parameters(Tokens& tokens) {
  std::vector<BinaryKernel::Parameter> list;
  std::uint32_t offset = 0;
  std::string_view word = tokens.next();
  while (!word.empty() && word != ")") {
    std::uint32_t size = 0, align = 0, count = 1;
    for (; !word.empty() && word != "," && word != ")"; word = tokens.next()) {
      if (word == ".align")
        align = number(tokens.next());
      else if (word == "[")
        count = number(tokens.next());
      else if (word.starts_with('.') && word != ".param" && word != ".ptr" && size == 0)
        size = bytes_of(word);
    }
    if (align == 0 || (align & (align - 1)) != 0) align = std::max(size, 1u);
    offset = (offset + align - 1) / align * align;
    list.push_back({static_cast<std::uint32_t>(list.size()), offset, size * count});
    offset += size * count;
    if (word == ",") word = tokens.next();
  }
  return list;
}

}  // namespace

void read_ptx(std::string_view text, const std::string& named, FoundKernels& out) {
  Tokens tokens(text);
  std::string arch = named;
  for (std::string_view word = tokens.next(); !word.empty(); word = tokens.next()) {
    if (word == ".target" && arch.empty()) {
      const std::string_view target = tokens.next();
      arch = "compute_" + std::string(target.starts_with("sm_") ? target.substr(3) : target);
      continue;
    }
    if (word != ".entry") continue;
    const std::size_t begin = tokens.at();
    BinaryKernel& kernel = out.add(tokens.next());
    kernel.arch = arch;
    word = tokens.next();
    if (word == "(")
      kernel.parameters = parameters(tokens);
    else if (word.empty())
      return out.kernels.pop_back();
    int depth = 0;
    for (word = word == "{" ? word : tokens.next(); !word.empty(); word = tokens.next()) {
      if (word == ".maxntid" && depth == 0) {
        kernel.max_threads = number(tokens.next());
      } else if (word == "{") {
        ++depth;
      } else if ((word == "}" && --depth <= 0) || (word == ";" && depth == 0)) {
        break;
      }
    }
    kernel.code_bytes = tokens.at() - begin;
    kernel.code_hash = core::sha256(std::as_bytes(std::span(text.substr(begin, kernel.code_bytes))));
  }
}

}  // namespace isomer::lab
