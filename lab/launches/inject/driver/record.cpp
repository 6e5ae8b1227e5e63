#include "lab/launches/inject/driver/record.hpp"

#include "lab/launches/inject/output.hpp"
#include "lab/launches/inject/recording.hpp"

#include <atomic>
#include <cstdlib>

namespace isomer::inject {
namespace {

std::atomic<std::uint64_t> launches{0}, recorded{0}, captured{0};

void at_exit() {
  if (captured > 0)
    note(std::to_string(captured) + " launches went into graphs, whose runs the driver does not report");
  write_end({recorded, 0, 0});
}

bool begin() {
  if (!open_part("cuda")) return false;
  const std::string failure = calls().open_driver(false);
  int driver = 0;
  if (calls().driver_version != nullptr) calls().driver_version(&driver);
  write_header("isomer, through the driver's calls",
               {{"driver", std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10)}});
  note("recorded through the driver's calls: times, machine code and kernels inside graphs are not known");
  if (!failure.empty()) note(failure);
  std::atexit(at_exit);
  return failure.empty();
}

bool recording() {
  static const bool begun = begin();
  return begun;
}

bool capturing(CUstream stream, bool of_thread) {
  const auto ask = of_thread ? calls().is_capturing_of_thread : calls().is_capturing;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return ask != nullptr && ask(stream, &status) == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

}  // namespace

std::string before_launch(const Staged& staged, CUstream stream, bool of_thread) {
  // A fault of ours must not be the program's.
  try {
    if (!recording()) return {};
    if (capturing(stream, of_thread)) {
      ++captured;
      return {};
    }
    return staged.json(nullptr);
  } catch (...) {
    return {};
  }
}

void after_launch(const std::string& said) {
  if (said.empty()) return;
  try {
    Line("launch", ++launches).number("thread", thread_id()).raw(said).write();
    ++recorded;
  } catch (...) {
  }
}

void after_graph_launch() {
  try {
    if (recording()) Line("graph", ++launches).write();
  } catch (...) {
  }
}

}  // namespace isomer::inject
