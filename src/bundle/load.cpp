#include "bundle/bundle.hpp"
#include "core/ceil_div.hpp"
#include "core/json_reader.hpp"
#include "core/sentence.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace isomer {
namespace bundle {
namespace {

/// The format's own limit.
constexpr std::uint64_t kMaxHeader = 100'000'000;
constexpr std::uint64_t kAlignment = 64;

/// One tensor as the header has it.
struct Entry {
  std::string name;
  Tensor tensor;  ///< without data
  std::uint64_t begin = 0, end = 0;
};

struct Header {
  std::vector<Entry> entries;
  std::map<std::string, std::string> metadata;
};

/// The subject of every sentence about one file.
class Reading {
 public:
  explicit Reading(const std::string& name) : subject_("load: " + name) {}
  const std::string& subject() const { return subject_; }

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    core::fail(ErrorCode::io, subject_, ": ", parts...);
  }

  std::vector<std::int64_t> sizes(core::JsonReader& json, const std::string& name, const char* what) const {
    std::vector<std::int64_t> list;
    json.array([&] {
      list.push_back(json.integer());
      if (list.back() < 0) refuse(name, " has ", list.back(), " in its ", what, ", expected 0 or more");
    });
    return list;
  }

  Entry entry(core::JsonReader& json, const std::string& name) const {
    Entry entry{.name = name, .tensor = {}, .begin = 0, .end = 0};
    std::vector<std::int64_t> shape, offsets;
    std::string dtype;
    int fields = 0;
    json.object([&](const std::string& field) {
      ++fields;
      if (field == "dtype")
        dtype = json.string();
      else if (field == "shape")
        shape = sizes(json, name, "shape");
      else if (field == "data_offsets")
        offsets = sizes(json, name, "data_offsets");
      else
        refuse(name, " has the field ", field, ", expected dtype, shape and data_offsets");
    });
    if (fields != 3) refuse(name, " lacks one of dtype, shape and data_offsets");
    const DType type = type_of_format_name(dtype);
    if (type == DType::none) refuse(name, " has elements of type ", dtype, ", which Isomer does not have");
    if (shape.size() > Tensor::kMaxRank)
      refuse(name, " has ", shape.size(), " dimensions, Isomer's tensors at most ", Tensor::kMaxRank);
    if (offsets.size() != 2 || offsets[0] > offsets[1])
      refuse(name, "'s data_offsets are not a begin and an end");
    std::int64_t bytes = size_of(type);
    bool overflow = false;
    // A zero anywhere makes the tensor empty, whatever the other sizes multiply to.
    if (std::find(shape.begin(), shape.end(), 0) != shape.end())
      bytes = 0;
    else
      for (const std::int64_t size : shape) overflow |= __builtin_mul_overflow(bytes, size, &bytes);
    if (overflow || bytes != offsets[1] - offsets[0])
      refuse(name, " has ", offsets[1] - offsets[0], " bytes of data, but its shape and type ask for ",
             overflow ? "more than 64 bits count" : std::to_string(bytes));
    entry.tensor = Tensor(nullptr, type, shape);
    entry.begin = static_cast<std::uint64_t>(offsets[0]);
    entry.end = static_cast<std::uint64_t>(offsets[1]);
    return entry;
  }

  Header header(std::string_view text) const {
    Header header;
    if (!text.starts_with('{')) refuse("the header does not begin with {");
    core::JsonReader json(text, subject_ + ": the header");
    json.object([&](const std::string& key) {
      if (key == "__metadata__")
        json.object([&](const std::string& name) { header.metadata[name] = json.string(); });
      else
        header.entries.push_back(entry(json, key));
    });
    json.end();
    return header;
  }

  /// The data of the tensors lie one after the other and fill the file.
  void check_offsets(const std::vector<Entry>& entries, std::uint64_t data_bytes) const {
    std::vector<const Entry*> order;
    for (const Entry& entry : entries) order.push_back(&entry);
    std::sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) {
      return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
    });
    std::uint64_t end = 0;
    for (const Entry* entry : order) {
      if (entry->begin != end)
        refuse(entry->name, "'s data begin at byte ", entry->begin, ", but the data before them end at ",
               end);
      end = entry->end;
    }
    if (end != data_bytes)
      refuse("the header speaks of ", end, " bytes of data, but the file has ", data_bytes,
             end > data_bytes ? "; it is cut off" : "");
  }

  /// Gives the entries the strides of the metadata.
  void apply_strides(const std::string& text, std::vector<Entry>& entries) const {
    core::JsonReader json(text, subject_ + ": metadata strides");
    json.object([&](const std::string& name) {
      const auto found = std::find_if(entries.begin(), entries.end(),
                                      [&](const Entry& entry) { return entry.name == name; });
      if (found == entries.end())
        refuse("metadata strides names ", name, ", but the file has no such tensor");
      const std::vector<std::int64_t> strides = sizes(json, name, "strides");
      Tensor& tensor = found->tensor;
      if (static_cast<int>(strides.size()) != tensor.rank)
        refuse(name, " has ", tensor.rank, " dimensions but ", strides.size(), " strides");
      std::copy(strides.begin(), strides.end(), tensor.strides.begin());
      if (span_bytes(tensor) < 0) refuse(name, "'s strides span more bytes than 64 bits count");
    });
    json.end();
  }

  /// Memory for all of them, zero, and each tensor's place in it.
  void allocate(std::vector<Entry>& entries, BundleContents& contents) const {
    std::vector<std::uint64_t> places;
    std::uint64_t total = 0;
    for (const Entry& entry : entries) {
      places.push_back(total);
      const auto span = static_cast<std::uint64_t>(span_bytes(entry.tensor));
      if (__builtin_add_overflow(total, core::align_up(span, kAlignment), &total))
        refuse("its tensors span more bytes than 64 bits count");
    }
    if (total == 0) return;
    void* memory =
        mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      core::fail(ErrorCode::out_of_memory, subject_, ": its tensors span ", total,
                 " bytes, which cannot be allocated");
    contents.memory = static_cast<std::byte*>(memory);
    contents.bytes = total;
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (!entries[i].tensor.empty()) entries[i].tensor.data = contents.memory + places[i];
  }

  /// Reads the row-major data at `offset` into the tensor's elements.
  void fill(const Entry& entry, std::uint64_t offset, const ReadAt& read_at) const {
    const Tensor& tensor = entry.tensor;
    const std::size_t bytes = entry.end - entry.begin;
    if (tensor.empty()) return;
    if (tensor.is_contiguous()) return read_at(offset, tensor.data, bytes);
    const auto element = static_cast<std::size_t>(size_of(tensor.dtype));
    const std::int64_t length = tensor.size(-1),
                       stride = tensor.stride(-1) * static_cast<std::int64_t>(element);
    std::vector<std::byte> row_major(bytes);
    read_at(offset, row_major.data(), bytes);
    const std::byte* from = row_major.data();
    for_each_row(tensor, [&](std::byte* row) {
      for (std::int64_t j = 0; j < length; ++j, from += element) std::memcpy(row + j * stride, from, element);
    });
    // Strides may give one place to several elements; then these must be equal.
    from = row_major.data();
    for_each_row(tensor, [&](const std::byte* row) {
      for (std::int64_t j = 0; j < length; ++j, from += element)
        if (std::memcmp(row + j * stride, from, element) != 0)
          refuse(entry.name, "'s strides give one place in memory to elements that differ");
    });
  }

 private:
  std::string subject_;
};

}  // namespace

Bundle read_bundle(const std::string& name, std::uint64_t file_bytes, const ReadAt& read_at) {
  const Reading reading(name);
  unsigned char length_bytes[8];
  if (file_bytes < sizeof length_bytes)
    reading.refuse("it has ", file_bytes, " bytes, too few for a safetensors file");
  read_at(0, length_bytes, sizeof length_bytes);
  std::uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | length_bytes[i];
  if (length > kMaxHeader)
    reading.refuse("it claims a header of ", length, " bytes, where the format allows ", kMaxHeader,
                   "; it is no safetensors file");
  if (length > file_bytes - sizeof length_bytes)
    reading.refuse("it claims a header of ", length, " bytes, but ends ", file_bytes - sizeof length_bytes,
                   " bytes after the length; it is cut off");
  std::string text(length, '\0');
  read_at(sizeof length_bytes, text.data(), length);
  Header header = reading.header(text);
  const std::uint64_t data = sizeof length_bytes + length;
  reading.check_offsets(header.entries, file_bytes - data);
  if (const auto strides = header.metadata.find("strides"); strides != header.metadata.end()) {
    reading.apply_strides(strides->second, header.entries);
    header.metadata.erase(strides);
  }
  auto contents = std::make_shared<BundleContents>();
  reading.allocate(header.entries, *contents);
  for (const Entry& entry : header.entries) {
    reading.fill(entry, data + entry.begin, read_at);
    contents->tensors.push_back({entry.name, entry.tensor});
  }
  contents->metadata = std::move(header.metadata);
  return Bundle(std::move(contents));
}

}  // namespace bundle

Bundle load(const std::string& path) {
  struct File {
    int descriptor;
    ~File() {
      if (descriptor >= 0) close(descriptor);
    }
  };
  const auto cannot = [&](const char* why) {
    core::fail(ErrorCode::io, "load: cannot read ", path, ": ", why);
  };
  const File file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status {};
  if (file.descriptor < 0 || fstat(file.descriptor, &status) != 0) cannot(std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    cannot(S_ISDIR(status.st_mode) ? "it is a directory" : "it is not a regular file");
  return bundle::read_bundle(path, static_cast<std::uint64_t>(status.st_size),
                             [&](std::uint64_t offset, void* to, std::size_t bytes) {
                               auto* at = static_cast<char*>(to);
                               while (bytes > 0) {
                                 const ssize_t done =
                                     pread(file.descriptor, at, bytes, static_cast<off_t>(offset));
                                 if (done < 0 && errno == EINTR) continue;
                                 if (done < 0) cannot(std::strerror(errno));
                                 if (done == 0) cannot("it became shorter while it was read");
                                 at += done;
                                 offset += static_cast<std::uint64_t>(done);
                                 bytes -= static_cast<std::size_t>(done);
                               }
                             });
}

}  // namespace isomer
