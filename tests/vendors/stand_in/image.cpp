#include "image.hpp"

#include <cstdint>
#include <cstring>
#include <sstream>

#ifdef ISOMER_STAND_IN_EMULATOR
#include <isomer/emulator/module.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#endif

namespace isomer::stand_in {
namespace {

constexpr char kMagic[] = "stand-in";
constexpr std::size_t kHead = 8 + 2 * sizeof(std::uint64_t);

std::uint64_t sum_of(std::string_view text) {
  std::uint64_t sum = 0xcbf29ce484222325u;
  for (const unsigned char c : text) sum = (sum ^ c) * 0x100000001b3u;
  return sum;
}

void put(std::string& to, std::string_view text) {
  const std::uint64_t size = text.size();
  to.append(reinterpret_cast<const char*>(&size), sizeof size).append(text);
}

std::string take(std::string_view& from) {
  std::uint64_t size = 0;
  std::memcpy(&size, from.data(), sizeof size);
  std::string text(from.substr(sizeof size, size));
  from.remove_prefix(sizeof size + size);
  return text;
}

}  // namespace

std::string Image::bytes() const {
  std::string body;
  put(body, kind);
  put(body, std::to_string(lanes));
  put(body, main);
  put(body, std::to_string(files.size()));
  for (const auto& [name, text] : files) {
    put(body, name);
    put(body, text);
  }
  put(body, std::to_string(definitions.size()));
  for (const std::string& definition : definitions) put(body, definition);
  const std::uint64_t head[] = {body.size(), sum_of(body)};
  return std::string(kMagic, 8).append(reinterpret_cast<const char*>(head), sizeof head) + body;
}

std::optional<Image> Image::parse(const void* bytes, const std::string& kind) {
  const char* begin = static_cast<const char*>(bytes);
  if (std::memcmp(begin, kMagic, 8) != 0) return std::nullopt;
  std::uint64_t head[2];
  std::memcpy(head, begin + 8, sizeof head);
  std::string_view body(begin + kHead, head[0]);
  if (sum_of(body) != head[1]) return std::nullopt;
  Image image;
  image.kind = take(body);
  if (image.kind != kind) return std::nullopt;
  image.lanes = std::stoi(take(body));
  image.main = take(body);
  for (int left = std::stoi(take(body)); left > 0; --left) {
    std::string name = take(body);
    image.files.emplace_back(std::move(name), take(body));
  }
  for (int left = std::stoi(take(body)); left > 0; --left) image.definitions.push_back(take(body));
  return image;
}

#ifdef ISOMER_STAND_IN_EMULATOR
namespace {

namespace fs = std::filesystem;

/// The files of an image, in a folder that is named after them: the emulator's cache knows sources by their
/// places. The folder appears whole.
fs::path folder_of(const Image& image) {
  std::uint64_t sum = sum_of("");
  for (const auto& [name, text] : image.files) sum = sum * 31 + sum_of(name) * 7 + sum_of(text);
  std::ostringstream name;
  name << "isomer-stand-in-" << ::getuid() << "-" << std::hex << sum;
  const fs::path folder = fs::temp_directory_path() / name.str();
  if (fs::exists(folder)) return folder;
  std::string pattern = folder.string() + ".XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr)
    throw std::runtime_error("cannot create a folder like " + pattern);
  for (const auto& [path, text] : image.files) {
    const fs::path file = fs::path(pattern) / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::error_code failed;
  fs::rename(pattern, folder, failed);
  if (failed) fs::remove_all(pattern, failed);  // another process was first
  return folder;
}

}  // namespace

std::shared_ptr<emulator::Module> Image::build(std::string& complaint) const {
  try {
    const fs::path folder = folder_of(*this);
    emulator::BuildOptions options;
    options.sources = {folder / main};
    options.lanes = lanes;
    options.include_directories = {folder.string()};
    options.definitions = definitions;
    return std::make_shared<emulator::Module>(emulator::Module::build(options));
  } catch (const std::exception& error) {
    complaint = error.what();
    return nullptr;
  }
}
#else
std::shared_ptr<emulator::Module> Image::build(std::string& complaint) const {
  complaint = "this build has no emulator";
  return nullptr;
}
#endif

}  // namespace isomer::stand_in
