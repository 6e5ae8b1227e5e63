#include "c_api/entry.hpp"

#include "core/sentence.hpp"

#include <algorithm>
#include <new>

namespace isomer::c {
namespace {

/// A plain buffer: it needs no memory when memory is what is missing, and no destructor at the thread's end.
constexpr std::size_t kSentence = 1024;
thread_local char sentence[kSentence] = "";

void keep(std::string_view text) noexcept {
  std::size_t length = std::min(text.size(), kSentence - 1);
  // A cut falls between characters, not inside one.
  if (length < text.size())
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
  std::memcpy(sentence, text.data(), length);
  sentence[length] = '\0';
}

}  // namespace

isomer_status caught() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    keep(error.what());
    return static_cast<isomer_status>(error.code());
  } catch (const std::bad_alloc&) {
    keep("out of host memory");
    return ISOMER_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    keep(error.what());
    return ISOMER_INTERNAL;
  } catch (...) {
    keep("an exception of unknown type");
    return ISOMER_INTERNAL;
  }
}

void check_given(std::string_view op, std::string_view name, const void* pointer) {
  if (pointer == nullptr) core::fail(ErrorCode::bad_argument, op, ": ", name, " is null");
}

void check_size(std::string_view op, std::string_view name, isomer_uint64 given, std::size_t first,
                std::size_t known) {
  if (given < first)
    core::fail(ErrorCode::bad_argument, op, ": ", name, ".size is ", given, ", expected ", known,
               "; begin the struct with its _INIT macro");
  if (given > known)
    core::fail(ErrorCode::bad_argument, op, ": ", name, ".size is ", given, ", but this library, version ",
               isomer_version(), ", knows ", known, "; it is older than the header of the program");
}

Tensor tensor_of(std::string_view op, std::string_view name, const isomer_tensor* given) {
  if (given == nullptr) return {};
  try {
    return Tensor::from_dlpack(*given);
  } catch (const Error& error) {
    std::string_view why = error.what();
    constexpr std::string_view kSubject = "tensor: ";
    if (why.starts_with(kSubject)) why.remove_prefix(kSubject.size());
    core::fail(error.code(), op, ": ", name, ": ", why);
  }
}

Entry::Entry(std::string_view op, const isomer_queue* queue) : op_(op), queue_(nullptr) {
  check_given(op, "queue", queue);
  queue_ = &queue->queue;
}

int Entry::choice(std::string_view name, int given, int count) const {
  if (given < 0 || given >= count)
    core::fail(ErrorCode::bad_argument, op_, ": ", name, " is ", given, ", expected 0 to ", count - 1);
  return given;
}

}  // namespace isomer::c

const char* isomer_last_error(void) { return isomer::c::sentence; }

const char* isomer_version(void) { return ISOMER_VERSION; }
