#include "bundle/bundle.hpp"
#include "core/json_reader.hpp"
#include "core/sentence.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>

namespace isomer {
namespace {

/// A file that appears under its name when commit() is called, and otherwise leaves nothing behind.
class NewFile {
 public:
  explicit NewFile(const std::string& path) : path_(path) {
    static std::atomic<unsigned> made{0};
    buffer_.reserve(kBuffer);
    temporary_ = core::say(path, ".", getpid(), ".", made.fetch_add(1), ".part");
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0) cannot_write();
  }
  ~NewFile() {
    if (descriptor_ >= 0) close(descriptor_);
    if (!committed_) unlink(temporary_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(const void* from, std::size_t bytes) {
    if (buffer_.size() + bytes > kBuffer) flush();
    if (bytes >= kBuffer) return put(static_cast<const char*>(from), bytes);
    buffer_.insert(buffer_.end(), static_cast<const char*>(from), static_cast<const char*>(from) + bytes);
  }

  void commit() {
    flush();
    // NOTES: without fsync a crash after the rename can leave an empty file under the final name.
    if (fsync(descriptor_) != 0) cannot_write();
    if (close(std::exchange(descriptor_, -1)) != 0) cannot_write();
    if (rename(temporary_.c_str(), path_.c_str()) != 0) cannot_write();
    committed_ = true;
  }

 private:
  static constexpr std::size_t kBuffer = 1 << 20;

  void flush() {
    put(buffer_.data(), buffer_.size());
    buffer_.clear();
  }
  void put(const char* from, std::size_t bytes) {
    while (bytes > 0) {
      const ssize_t done = ::write(descriptor_, from, bytes);
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) cannot_write();
      from += done;
      bytes -= static_cast<std::size_t>(done);
    }
  }
  [[noreturn]] void cannot_write() const {
    core::fail(ErrorCode::io, "save: cannot write ", path_, ": ", std::strerror(errno));
  }

  std::string path_, temporary_;
  int descriptor_ = -1;
  bool committed_ = false;
  std::vector<char> buffer_;
};

void check(const std::vector<NamedTensor>& tensors, const std::map<std::string, std::string>& metadata) {
  std::set<std::string_view> names;
  const auto refuse = [](const std::string& name, const auto&... why) {
    core::fail(ErrorCode::bad_argument, "save: tensor ", name, " ", why...);
  };
  for (const auto& [name, tensor] : tensors) {
    if (!core::is_utf8(name)) core::fail(ErrorCode::bad_argument, "save: a tensor's name is not UTF-8");
    if (name == "__metadata__") refuse(name, "has a name that the format keeps for itself");
    if (!names.insert(name).second) refuse(name, "is there twice");
    if (!tensor.defined()) refuse(name, "is absent");
    if (size_of(tensor.dtype) == 0) refuse(name, "has an unknown dtype");
    if (tensor.device.type != DeviceType::cpu)
      refuse(name, "is on ", to_string(tensor.device), ", expected cpu; copy it to the host first");
    if (tensor.rank < 0 || tensor.rank > Tensor::kMaxRank)
      refuse(name, "has ", tensor.rank, " dimensions, expected 0 to ", Tensor::kMaxRank);
    for (int d = 0; d < tensor.rank; ++d) {
      if (tensor.size(d) < 0)
        refuse(name, "has size ", tensor.size(d), " in dimension ", d, ", expected 0 or more");
      if (tensor.stride(d) < 0)
        refuse(name, "has stride ", tensor.stride(d), " in dimension ", d, ", expected 0 or more");
    }
    if (tensor.data == nullptr && !tensor.empty()) refuse(name, "has no data");
    if (bundle::span_bytes(tensor) < 0) refuse(name, "spans more bytes than an address has");
  }
  for (const auto& [key, text] : metadata) {
    if (!core::is_utf8(key) || !core::is_utf8(text))
      core::fail(ErrorCode::bad_argument, "save: metadata ", core::is_utf8(key) ? key : "", " is not UTF-8");
    if (key == "strides")
      core::fail(ErrorCode::bad_argument, "save: metadata strides is a key that save itself writes");
  }
}

std::string list(const std::int64_t* values, int count) {
  std::string text = "[";
  for (int i = 0; i < count; ++i) text += (i > 0 ? "," : "") + std::to_string(values[i]);
  return text + "]";
}

std::uint64_t data_bytes(const Tensor& tensor) {
  return static_cast<std::uint64_t>(tensor.numel()) * static_cast<std::uint64_t>(size_of(tensor.dtype));
}

/// The header with its length; `order` is that of the data.
std::string header(const std::vector<NamedTensor>& tensors, const std::vector<std::size_t>& order,
                   std::map<std::string, std::string> metadata) {
  std::vector<std::uint64_t> begin(tensors.size());
  std::uint64_t offset = 0;
  for (const std::size_t i : order) {
    begin[i] = offset;
    offset += data_bytes(tensors[i].tensor);
  }
  std::string strides, entries;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, tensor] = tensors[i];
    if (!tensor.is_contiguous())
      strides += (strides.empty() ? "" : ",") + core::json_quoted(name) + ":" +
                 list(tensor.strides.data(), tensor.rank);
    entries +=
        core::say(entries.empty() ? "" : ",", core::json_quoted(name), ":{\"dtype\":\"",
                  bundle::format_name(tensor.dtype), "\",\"shape\":", list(tensor.shape.data(), tensor.rank),
                  ",\"data_offsets\":[", begin[i], ",", begin[i] + data_bytes(tensor), "]}");
  }
  if (!strides.empty()) metadata["strides"] = "{" + strides + "}";
  std::string texts;
  for (const auto& [key, text] : metadata)
    texts += (texts.empty() ? "" : ",") + core::json_quoted(key) + ":" + core::json_quoted(text);
  if (!texts.empty()) texts = "\"__metadata__\":{" + texts + "}";
  std::string json = "{" + texts + (texts.empty() || entries.empty() ? "" : ",") + entries + "}";
  // The data then begin on 64 bytes, so that a reader may map the file and use it in place.
  json.append((64 - (8 + json.size()) % 64) % 64, ' ');
  std::string out;
  for (int byte = 0; byte < 8; ++byte) out += static_cast<char>(json.size() >> (8 * byte) & 0xFF);
  return out + json;
}

}  // namespace

void save(const std::string& path, const std::vector<NamedTensor>& tensors,
          const std::map<std::string, std::string>& metadata) {
  check(tensors, metadata);
  // Wide elements first: every tensor's data then lie on a multiple of their element's size.
  std::vector<std::size_t> order(tensors.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return size_of(tensors[a].tensor.dtype) > size_of(tensors[b].tensor.dtype);
  });
  NewFile file(path);
  const std::string head = header(tensors, order, metadata);
  file.write(head.data(), head.size());
  for (const std::size_t i : order) {
    const Tensor& tensor = tensors[i].tensor;
    const auto element = static_cast<std::size_t>(size_of(tensor.dtype));
    const std::int64_t length = tensor.rank > 0 ? tensor.size(-1) : 1;
    const std::int64_t stride = tensor.rank > 0 ? tensor.stride(-1) : 1;
    bundle::for_each_row(tensor, [&](const std::byte* row) {
      if (stride == 1) return file.write(row, static_cast<std::size_t>(length) * element);
      for (std::int64_t j = 0; j < length; ++j)
        file.write(row + j * stride * static_cast<std::int64_t>(element), element);
    });
  }
  file.commit();
}

}  // namespace isomer
