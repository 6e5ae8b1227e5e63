#include "lab/launches/inject/hip/image.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

namespace isomer::inject {
namespace {

constexpr std::string_view kFile = "file://";

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string decoded(std::string_view text) {
  std::string path;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool coded =
        text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    path += coded ? static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2])) : text[i];
    if (coded) i += 2;
  }
  return path;
}

/// The number behind "name="; false where there is none.
bool number_of(std::string_view part, std::string_view name, std::uint64_t& value) {
  const std::size_t at = part.find(name);
  if (at == std::string_view::npos) return false;
  part.remove_prefix(at + name.size());
  const bool hexadecimal = part.starts_with("0x");
  if (hexadecimal) part.remove_prefix(2);
  return std::from_chars(part.data(), part.data() + part.size(), value, hexadecimal ? 16 : 10).ec ==
         std::errc();
}

}  // namespace

std::vector<std::uint8_t> image_at(std::string_view uri) {
  if (!uri.starts_with(kFile)) return {};
  uri.remove_prefix(kFile.size());
  const std::size_t end = std::min(uri.find_first_of("#?"), uri.size());
  const std::string_view part = uri.substr(end);
  std::ifstream file(decoded(uri.substr(0, end)), std::ios::binary | std::ios::ate);
  if (!file) return {};
  const auto all = static_cast<std::uint64_t>(std::max<std::streamoff>(file.tellg(), 0));
  std::uint64_t offset = 0, size = all;
  if (number_of(part, "offset=", offset) && !number_of(part, "size=", size))
    size = all - std::min(offset, all);
  if (offset > all || size > all - offset) return {};
  std::vector<std::uint8_t> bytes(size);
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (!file) bytes.clear();
  return bytes;
}

}  // namespace isomer::inject
