// Any bytes as a recording of calls: either values whose every byte can be read, or one sentence.
#include "bundle/bundle.hpp"
#include "lab/record/recording_format.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz_recording: %s\n", what);
  std::abort();
}

unsigned read(const isomer::lab::Value& value) {
  unsigned sum = 0;
  if (value.is_tensor() && !value.tensor.empty()) {
    const auto* begin = static_cast<const std::byte*>(value.storage.get());
    const auto* first = static_cast<const std::byte*>(value.tensor.data);
    require(first == begin + value.storage_offset, "a tensor that does not begin at its offset");
    std::int64_t last = 0;
    for (int d = 0; d < value.tensor.rank; ++d) last += (value.tensor.size(d) - 1) * value.tensor.stride(d);
    const auto* end = first + (last + 1) * size_of(value.tensor.dtype);
    require(end <= begin + value.storage_bytes, "a tensor that reaches outside of its storage");
    sum += static_cast<unsigned>(*first) + static_cast<unsigned>(end[-1]);
  }
  for (const isomer::lab::Value& item : value.items) sum += read(item);
  return sum;
}

void use(const isomer::lab::Recording& recording) {
  unsigned sum = 0;
  for (const isomer::lab::RecordedCall& call : recording.calls) {
    require(call.keyword.size() == call.before.size(), "an argument that is neither by place nor by name");
    require(call.after.empty() || call.after.size() == call.before.size(), "other arguments after the call");
    for (const auto* values : {&call.before, &call.after, &call.returned})
      for (const isomer::lab::Value& value : *values) sum += read(value);
  }
  const isomer::lab::EditedReference& edited = recording.edited;
  std::size_t elements = 0;
  for (const isomer::lab::EditedReference::Call& call : edited.calls) {
    require(call.call < recording.calls.size(), "edits of a call that there is not");
    const isomer::lab::RecordedCall& recorded = recording.calls[call.call];
    for (const isomer::lab::EditedReference::Output& output : call.outputs) {
      const auto& values = output.returned ? recorded.returned : recorded.after;
      require(output.index < values.size(), "edits of a value that there is not");
      for (const std::int64_t at : output.at)
        require(at >= 0 && at < values[output.index].tensor.numel(), "edits of an element that there is not");
      elements += output.at.size();
    }
  }
  for (const isomer::lab::EditedReference::Edit& edit : edited.edits)
    require(edit.answers.size() == elements, "an edit with other answers than were asked for");
  static volatile unsigned keep;
  keep = sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    use(isomer::lab::recording_of(
        isomer::bundle::read_bundle("input", size,
                                    [&](std::uint64_t offset, void* to, std::size_t bytes) {
                                      require(offset <= size && bytes <= size - offset,
                                              "a read outside the file");
                                      std::memcpy(to, data + offset, bytes);
                                    }),
        "load: input"));
  } catch (const isomer::Error& error) {
    require(error.code() == isomer::ErrorCode::io || error.code() == isomer::ErrorCode::out_of_memory,
            "another code than io");
    require(std::strncmp(error.what(), "load: input: ", 13) == 0, "another subject than the file");
  }
  return 0;
}
