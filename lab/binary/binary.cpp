#include "lab/binary/binary.hpp"

#include "lab/binary/binary_images.hpp"
#include "lab/binary/fatbin.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <set>
#include <tuple>

namespace isomer::lab {
namespace {

/// A file's bytes as long as the object lives; a library with kernels may be gigabytes.
class Mapping {
 public:
  explicit Mapping(const std::filesystem::path& path) : path_(path.string()) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) fail(std::strerror(errno));
    struct stat facts {};
    const bool known = fstat(file, &facts) == 0;
    size_ = static_cast<std::size_t>(facts.st_size);
    if (!known || !S_ISREG(facts.st_mode) || size_ == 0) {
      close(file);
      fail(!known                   ? std::strerror(errno)
           : S_ISREG(facts.st_mode) ? "it is empty"
           : S_ISDIR(facts.st_mode) ? "it is a folder"
                                    : "it is a device or a pipe");
    }
    void* const at = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    const int error = errno;
    close(file);
    if (at == MAP_FAILED) fail(std::strerror(error));
    data_ = static_cast<const std::uint8_t*>(at);
  }
  ~Mapping() { munmap(const_cast<std::uint8_t*>(data_), size_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  const std::uint8_t* data() const { return data_; }
  std::size_t size() const { return size_; }
  /// Gives the pages back that lie wholly inside a part of the file. They stay readable.
  void leave(const Bytes& part) const {
    if (part.data() < data_ || part.data() + part.size() > data_ + size_) return;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const auto begin = (static_cast<std::size_t>(part.data() - data_) + page - 1) / page * page;
    const auto end = static_cast<std::size_t>(part.data() - data_ + part.size()) / page * page;
    if (begin < end) madvise(const_cast<std::uint8_t*>(data_) + begin, end - begin, MADV_DONTNEED);
  }

 private:
  [[noreturn]] void fail(const char* why) const {
    core::fail(ErrorCode::io, path_, ": cannot be read: ", why);
  }
  std::string path_;
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

constexpr std::string_view kArchive = "!<arch>\n";

bool is_ptx(const Bytes& bytes) {
  const std::string_view begin = bytes.text().substr(0, 4096);
  return (begin.starts_with("//") || begin.starts_with(".version")) &&
         begin.find(".version") != std::string_view::npos && begin.find(".target") != std::string_view::npos;
}

void read_images(const Bytes& bytes, int depth, FoundKernels& out);

void read_fatbin(const Bytes& bytes, FoundKernels& out) {
  int number = 0;
  for_each_image(bytes, [&](const PackedImage& packed) {
    out.image(core::say("image ", number++, " for ", packed.arch), [&] {
      std::string room;
      const Bytes image = unpacked(packed, room);
      if (packed.kind == PackedImage::Kind::ptx) return read_ptx(image.text(), packed.arch, out);
      if (!is_elf(image)) core::fail(ErrorCode::io, bytes.what(), ": an image that is no cubin");
      read_cubin(read_elf(image), packed.arch, out);
    });
    out.leave(packed.bytes);
  });
}

void read_host(const Elf& elf, const Bytes& bytes, int depth, FoundKernels& out) {
  bool any = false;
  const auto section = [&](std::string_view name, auto read) {
    for (const Elf::Section& each : elf.sections)
      if (each.name == name) {
        any = true;
        read(each.bytes, out);
      }
  };
  section(".nv_fatbin", read_fatbin);
  // What was linked for the device is there twice: linked, and in the pieces that it was linked from.
  if (out.kernels.empty()) section("__nv_relfatbin", read_fatbin);
  section(".hip_fatbin", read_offload_bundles);
  if (out.kernels.empty() && depth == 0) {
    const int images =
        read_embedded_images(bytes, out, [&](const Bytes& image) { read_images(image, depth + 1, out); });
    if (!out.kernels.empty())
      out.notes.push_back(core::say("its kernels lie outside of .nv_fatbin, in ", images,
                                    " fat binaries and cubins among its data"));
    any = any || images > 0;
  }
  if (!any)
    core::fail(
        ErrorCode::io, bytes.what(),
        ": an ELF file without kernels: no section .nv_fatbin or .hip_fatbin, and no fat binary or cubin "
        "elsewhere in it");
}

/// A static library: its members that hold kernels.
void read_archive(const Bytes& bytes, int depth, FoundKernels& out) {
  bool any = false;
  for (std::uint64_t at = kArchive.size(); bytes.size() - at >= 60;) {
    const std::string_view digits = bytes.sub(at + 48, 10, "a member's size").text();
    std::uint64_t size = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), size).ec != std::errc())
      core::fail(ErrorCode::io, bytes.what(), ": a member's size is no number");
    const Bytes member = bytes.sub(at + 60, size, "a member");
    if (is_elf(member)) {
      const Elf elf = read_elf(member);
      if (elf.find(".nv_fatbin") != nullptr || elf.find("__nv_relfatbin") != nullptr ||
          elf.find(".hip_fatbin") != nullptr) {
        any = true;
        read_images(member, depth + 1, out);
      }
      out.leave(member);
    }
    at += 60 + size + size % 2;
    if (at > bytes.size()) break;
  }
  if (!any) core::fail(ErrorCode::io, bytes.what(), ": a static library without kernels");
}

void read_images(const Bytes& bytes, int depth, FoundKernels& out) {
  if (is_elf(bytes)) {
    const Elf elf = read_elf(bytes);
    if (elf.machine == Elf::kCuda)
      read_cubin(elf, {}, out);
    else if (elf.machine == Elf::kAmdGpu)
      read_amd_code_object(elf, out);
    else
      read_host(elf, bytes, depth, out);
  } else if (is_fatbin(bytes)) {
    read_fatbin(bytes, out);
  } else if (is_offload_bundle(bytes)) {
    read_offload_bundles(bytes, out);
  } else if (bytes.starts_with(kArchive) && depth == 0) {
    read_archive(bytes, depth, out);
  } else if (is_ptx(bytes)) {
    read_ptx(bytes.text(), {}, out);
  } else {
    core::fail(ErrorCode::io, bytes.what(),
               ": is not a binary with kernels, expected a shared library, an executable, an object, a "
               "static library, a cubin, a fatbin, PTX or an AMD code object");
  }
}

}  // namespace

namespace {

/// A template that several translation units instantiate stands in each one's image.
void remove_repeated(std::vector<BinaryKernel>& kernels) {
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;
  std::set<Key> seen;
  std::vector<bool> repeated;
  for (const BinaryKernel& kernel : kernels)
    repeated.push_back(!seen.insert({kernel.name, kernel.arch, kernel.code_hash}).second);
  std::size_t at = 0;
  std::erase_if(kernels, [&](const BinaryKernel&) { return repeated[at++]; });
}

std::vector<BinaryKernel> read_all(const Bytes& bytes, std::function<void(const Bytes&)> leave,
                                   std::vector<std::string>& notes) {
  FoundKernels found;
  found.leave = std::move(leave);
  read_images(bytes, 0, found);
  if (found.readable == 0 && !found.damage.empty()) throw Error(ErrorCode::io, found.damage);
  notes.insert(notes.end(), found.notes.begin(), found.notes.end());
  remove_repeated(found.kernels);
  return std::move(found.kernels);
}

}  // namespace

std::vector<BinaryKernel> read_image(const std::uint8_t* data, std::size_t bytes, const std::string& what,
                                     std::vector<std::string>& notes) {
  return read_all(
      {{data, bytes}, what}, [](const Bytes&) {}, notes);
}

std::vector<BinaryKernel> read_image(const std::uint8_t* data, std::size_t bytes, const std::string& what) {
  std::vector<std::string> ignored;
  return read_image(data, bytes, what, ignored);
}

std::vector<BinaryKernel> read_binary(const std::filesystem::path& path, std::vector<std::string>& notes) {
  const Mapping file(path);
  const std::string what = path.string();
  return read_all(
      {{file.data(), file.size()}, what}, [&](const Bytes& part) { file.leave(part); }, notes);
}

std::vector<BinaryKernel> read_binary(const std::filesystem::path& path) {
  std::vector<std::string> ignored;
  return read_binary(path, ignored);
}

bool looks_like_binary(const std::filesystem::path& path) {
  const Mapping file(path);
  const Bytes bytes({file.data(), file.size()}, "");
  return is_elf(bytes) || is_fatbin(bytes) || is_offload_bundle(bytes) || bytes.starts_with(kArchive) ||
         is_ptx(bytes);
}

}  // namespace isomer::lab
