// Any bytes as a capture or another tool's trace, the first byte says which: launches that can be written,
// read again, grouped and compared, or one sentence.
#include "lab/capture/capture_file.hpp"
#include "lab/capture/readers.hpp"
#include "lab/diff/diff_captures.hpp"

#include <isomer/error.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

namespace {

using isomer::lab::Capture;
using isomer::lab::Launch;
using isomer::lab::LaunchSink;

void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz_capture: %s\n", what.c_str());
  std::abort();
}

/// A database is a file.
Capture read_database(std::string_view bytes, const LaunchSink& sink) {
  const int file = memfd_create("database", 0);
  require(file >= 0 && write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
          "no memory file");
  struct Close {
    int file;
    ~Close() { close(file); }
  } const close_it{file};
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  return isomer::lab::is_rocpd(path) ? isomer::lab::read_rocpd(path, sink)
                                     : isomer::lab::read_nsys_sqlite(path, sink);
}

Capture read_as(char kind, std::string_view bytes, const LaunchSink& sink) {
  std::istringstream in{std::string(bytes)};
  switch (kind) {
    case 'n':
      return read_database(bytes, sink);
    case 'k':
      return isomer::lab::read_kineto(in, "input", sink);
    case 'r':
      return isomer::lab::read_rocprof_json(in, "input", sink);
    case 'v':
      return isomer::lab::read_rocprof_csv(in, "input", sink);
    case 'c':
      return isomer::lab::read_ncu_csv(in, "input", sink);
    case 'e':
      return isomer::lab::read_explain(in, "input", sink);
    default:
      return isomer::lab::read_capture_file(in, "input", sink);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  isomer::lab::Grouping grouping;
  std::uint64_t launches = 0;
  try {
    Capture about = read_as(static_cast<char>(data[0]), {reinterpret_cast<const char*>(data) + 1, size - 1},
                            [&](Launch&& launch) {
                              ++launches;
                              grouping.add(std::move(launch));
                            });
    require(about.complete == about.incomplete.empty(),
            "incomplete, and it does not say why: " + about.incomplete);
    const isomer::lab::GroupedCapture capture = grouping.finish(std::move(about));
    require(capture.launches == launches, "launches are lost in groups");
    const isomer::lab::DiffResult result = isomer::lab::diff_captures(capture, capture, {});
    require(result.same(), "a capture differs from itself: " + result.verdict.at(0));
  } catch (const isomer::Error& error) {
    require(error.code() == isomer::ErrorCode::io, std::string("another code: ") + error.what());
  }
  return 0;
}
