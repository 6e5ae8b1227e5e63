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

const Queue& queue_of(std::string_view op, const isomer_queue* queue) {
  check_given(op, "queue", queue);
  return queue->queue;
}

void fill_args(const core::Contract& contract, const void* in_c, void* args) {
  for (const core::Arg& arg : contract.args) {
    const isomer_tensor* given = nullptr;
    std::memcpy(&given, static_cast<const std::byte*>(in_c) + arg.offset_in_c, sizeof given);
    *reinterpret_cast<Tensor*>(static_cast<std::byte*>(args) + arg.offset) =
        tensor_of(contract.op, arg.name, given);
  }
}

void fill_options(const core::Contract& contract, const void* in_c, void* options) {
  const auto value = [&]<class Number>(const core::Option& option, Number number) {
    std::memcpy(&number, static_cast<const std::byte*>(in_c) + option.offset_in_c, sizeof number);
    return number;
  };
  using Kind = core::Option::Kind;
  for (const core::Option& option : contract.options) switch (option.kind) {
      case Kind::integer:
        option.set(options, std::int64_t{value(option, isomer_int64{})});
        break;
      case Kind::f32:
        option.set(options, static_cast<float>(value(option, double{})));
        break;
      case Kind::boolean:
        option.set(options, std::int64_t{value(option, int{}) != 0});
        break;
      case Kind::choice: {
        const int given = value(option, int{}), count = static_cast<int>(option.enumerators.size());
        if (given < 0 || given >= count)
          core::fail(ErrorCode::bad_argument, contract.op, ": ", option.name, " is ", given,
                     ", expected 0 to ", count - 1);
        option.set(options, std::int64_t{given});
        break;
      }
    }
}

}  // namespace isomer::c

const char* isomer_last_error(void) { return isomer::c::sentence; }

const char* isomer_version(void) { return ISOMER_VERSION; }
