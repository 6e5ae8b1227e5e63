#include "lab/evidence/probes/watched.hpp"

#include "lab/ask/find_call.hpp"
#include "lab/ask/nearness.hpp"
#include "lab/evidence/probes/probes.hpp"

#include "lab/text/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

namespace isomer::lab {
namespace {

struct ReportKind {
  const char* kind;
  Code code;
  const char* fix;
};

/// The emulator's words and ours. A race on shared memory is a barrier that is missing. A cast of what no
/// integer holds is none of them: rows of zeros make such quotients in originals too, and the numbers say
/// where it matters.
constexpr ReportKind kKinds[] = {
    {"out-of-bounds-read", Code::out_of_bounds_read, "bound the index by the tensor's size"},
    {"out-of-bounds-write", Code::out_of_bounds_write, "bound the index by the tensor's size"},
    {"index-overflow", Code::index_overflow, "compute the offset in 64 bits"},
    {"use-after-free", Code::out_of_bounds_read, "keep the buffer until every launch that uses it has ended"},
    {"uninitialised-read", Code::uninitialised_read, "write the memory before it is read"},
    {"race", Code::race, "order the accesses, or let one thread own the address"},
    {"barrier-divergence", Code::missing_barrier, "let every thread of the block reach the same barrier"},
    {"warp-divergence", Code::warp_size, "let all lanes of the mask reach the warp operation"},
    {"warpgroup-divergence", Code::missing_barrier,
     "let all warps of the warpgroup call the same, in the same order"},
    {"in-flight", Code::missing_barrier,
     "wait for the copy or the product before what it reads or writes is touched"},
    {"early-reuse", Code::missing_barrier,
     "let every reader say that it is done before the memory is written again"},
    {"wrong-phase", Code::missing_barrier, "wait for the phase that the copy ends"},
    {"byte-count", Code::missing_barrier, "announce as many bytes as the copies bring"},
    {"barrier-misuse", Code::missing_barrier, "initialise the barrier for as many arrivals as come"},
    {"missing-fence", Code::missing_barrier, "put a wgmma.fence in front of the products"},
    {"missing-proxy-fence", Code::missing_barrier,
     "put a fence.proxy.async between the writes and the barrier behind them"},
    {"unseen-barrier", Code::suspicious, "put a fence.mbarrier_init behind the barrier's initialisation"},
    {"writes-input", Code::writes_input, "do not write to the input"},
    {"misaligned", Code::ignores_offset, "do not assume that a view is aligned for vector accesses"},
    {"integer-division", Code::suspicious, "divide only where the divisor is not zero"},
    {"stack-overflow", Code::resource_limit, "keep large arrays out of the thread's stack"},
    {"endless-wait", Code::timeout, "let a thread that still runs write what is waited for"},
    {"step-limit", Code::timeout, "make sure that the loop ends"},
    {"trap", Code::crash, "the kernel traps"},
    {"crash", Code::crash, "the kernel crashes"},
    {"host-call", Code::does_not_compile, "call only device functions in device code"},
    {"host-touch", Code::host_touches_device_memory,
     "copy it to the host first (cudaMemcpy), or compute it in a kernel"},
    {"stale-state", Code::stale_state, "return a new tensor from each call"},
    {"wrong-stream", Code::wrong_stream, "launch on the caller's stream, or order the two streams by events"},
};

/// Whether both accesses are one statement's that adds to memory which others add to as well: `counts[e] +=
/// 1`, and no step of a sum over the threads, as `sums[t] += sums[t + 16]`.
bool is_of_one_sum(const Seen& seen) {
  if (seen.place.line <= 0 || seen.place.line != seen.other.line || seen.place.file != seen.other.file)
    return false;
  std::ifstream in(seen.place.file);
  std::string line;
  for (int i = 0; i < seen.place.line && std::getline(in, line); ++i) {
  }
  if (!in) return false;
  static const Pattern adds("(\\w+)\\s*\\[[^;=]*\\]\\s*(?:[-+|^]=([^;]*)|(?:\\+\\+|--));");
  const std::optional<Match> match = adds.find(line);
  if (!match) return false;
  const std::string name = (*match)[1], rest = (*match)[2];
  return rest.find(name) == std::string::npos;
}

/// Whether two races are the two orders of one pair of lines: what is written here is read there.
bool one_pair(const Finding& a, const Finding& b) {
  const auto same = [](const SourcePlace& x, const SourcePlace& y) {
    return x.line > 0 && x.line == y.line && x.file == y.file;
  };
  return a.code == Code::missing_barrier && b.code == a.code && a.argument == b.argument &&
         same(a.location, b.other) && same(b.location, a.other);
}

}  // namespace

int calls_for_state(const Answer& first, const CallSettings& settings) {
  constexpr int kCalls = 11;
  return 2 * kCalls * first.worked_seconds < settings.timeout_seconds ? kCalls : 2;
}

std::string calls_before(const CallSettings& settings) {
  return settings.repeats == 2 ? "a call" : fmt::format("{} calls", settings.repeats - 1);
}

std::string without_folders(std::string text, const SourcePlace& place) {
  const std::size_t slash = place.file.rfind('/');
  if (slash == std::string::npos) return text;
  const std::string folder = place.file.substr(0, slash + 1);
  for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at))
    text.erase(at, folder.size());
  return text;
}

void findings_of_device(const Answer& answer, const Given& given, std::vector<Finding>& list) {
  CallMade call{given.line, false, false, given.made};
  for (const Value& value : given.values)
    call.empty = call.empty || (value.is_tensor() && value.tensor.empty());
  for (const oracle::ExpectedTensor& tensor : given.plain.tensors)
    call.many_writers = call.many_writers || !tensor.others.empty();
  findings_of_device(answer, call, list);
}

void findings_of_device(const Answer& answer, const CallMade& call, std::vector<Finding>& list) {
  for (const Seen& seen : answer.seen) {
    // What launches no kernel is told as that, where it is made for a device.
    if (seen.kind == "host-touch" && answer.launches == 0) continue;
    // Several writers of one row were asked for.
    if (call.many_writers && seen.kind == "race") continue;
    const ReportKind* kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                          [&](const ReportKind& each) { return seen.kind == each.kind; });
    if (kind == std::end(kKinds)) continue;
    Finding finding;
    finding.code = kind->code;
    finding.fix = kind->fix;
    finding.same_store = seen.stores_twice;
    finding.shared = seen.shared;
    finding.nowhere = seen.nowhere;
    finding.absent_lane = seen.kind == "warp-divergence" && !seen.unnamed_lane &&
                          seen.text.find("does not take part in the shuffle") != std::string::npos;
    finding.made = call.made;
    finding.other = seen.other;
    if (seen.harmless) {
      if (std::any_of(list.begin(), list.end(), [](const Finding& each) { return each.harmless; })) continue;
      finding.code = Code::suspicious;
      finding.harmless = true;
    }
    if (seen.unnamed_lane) {
      // Said once, however many such operations there are: hardware runs them with the lanes that are there.
      if (std::any_of(list.begin(), list.end(),
                      [](const Finding& each) { return each.code == Code::suspicious; }))
        continue;
      finding.code = Code::suspicious;
      finding.fix = "name the caller's own lanes in the mask, or all of the warp's";
    }
    if (seen.kind == "race" && is_of_one_sum(seen)) {
      finding.fix = "add to it by atomicAdd, as many threads do";
    } else if (seen.kind == "race" && seen.shared) {
      finding.code = Code::missing_barrier;
      finding.fix = "put a __syncthreads() between the write and the read";
    }
    finding.argument = seen.buffer;
    finding.role = seen.role;
    finding.evidence =
        fmt::format("{} ({} times in '{}')", without_folders(seen.text, seen.place), seen.count, call.line);
    finding.location = seen.place;
    if (std::none_of(list.begin(), list.end(), [&](const Finding& each) { return one_pair(each, finding); }))
      add_once(list, std::move(finding));
  }
  if (answer.refused_launches.empty()) return;
  Finding finding;
  finding.code = call.empty ? Code::empty_input : Code::launch_failed;
  finding.refused = answer.refused_launches.front();
  finding.evidence = fmt::format("in '{}': {}", call.line, finding.refused.text);
  finding.fix =
      call.empty ? "return before the launch if there is nothing to do" : "launch within the device's limits";
  finding.no_blocks = answer.no_blocks;
  add_once(list, std::move(finding));
}

void tell_no_kernel(const Candidate& candidate, const Entry& entry, const std::vector<Answer>& answers,
                    const std::function<bool()>& idle, std::vector<Finding>& list) {
  if (candidate.backend() != Backend::emulated || candidate.path().extension() == ".so" || answers.empty() ||
      entry.form == Entry::Form::kernel)
    return;
  if (std::any_of(answers.begin(), answers.end(),
                  [](const Answer& each) { return !each.refused_launches.empty(); }))
    return;
  const bool launches =
      std::any_of(answers.begin(), answers.end(), [](const Answer& each) { return each.launches > 0; });
  if (launches && !idle()) return;
  std::ifstream in(candidate.path(), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto includes = [&](const char* header) { return text.find(header) != std::string::npos; };
  const bool torch = includes("torch/") || includes("ATen/");
  const bool library = torch || includes("thrust/") || includes("cub/") || includes("hipcub/") ||
                       includes("cublas") || includes("hipblas") || includes("rocblas");
  if (!library && !includes("cuda_") && !includes("hip/")) return;
  Finding finding;
  finding.code = library ? Code::library_call : Code::no_kernel;
  finding.evidence = launches ? fmt::format(
                                    "{} gives the same answer where no thread of the kernels that it "
                                    "launches runs: they have no part in it",
                                    entry.name)
                              : fmt::format(
                                    "{} was called {} times, and launched no kernel in any of these "
                                    "calls",
                                    entry.name, answers.size());
  finding.fix = torch     ? "compute the op by a kernel of its own, not by PyTorch's operators"
                : library ? "compute the op by a kernel of its own, not by a library's functions"
                          : "compute the op by a kernel on the device, not by the host";
  finding.location = entry.place;
  add_once(list, std::move(finding));
}

bool is_same_without_kernels(const Candidate& candidate, const Called& called, CallSettings settings) {
  constexpr double kSeconds = 3;
  const Trial base = try_call(candidate, called.form, *called.port, *called.given, settings);
  settings.kernels_idle = true;
  settings.timeout_seconds = std::min(settings.timeout_seconds, kSeconds);
  const Trial idle = try_call(candidate, called.form, *called.port, *called.given, settings);
  if (!base.ok() || !idle.ok() || leaves_out(*called.given, idle) ||
      different(*called.given, base.outputs, idle.outputs) > 0)
    return false;
  // What is one number everywhere may be there already.
  return std::any_of(base.outputs.begin(), base.outputs.end(), [](const std::vector<double>& output) {
    return std::any_of(output.begin(), output.end(), [&](double each) { return each != output.front(); });
  });
}

bool is_same_in_every_order(const Candidate& candidate, const Called& called, CallSettings settings) {
  const auto answer = [&] { return try_call(candidate, called.form, *called.port, *called.given, settings); };
  Trial base = answer();
  const auto says_nothing = [&] {
    return std::any_of(base.outputs.begin(), base.outputs.end(), [](const std::vector<double>& output) {
      return std::any_of(output.begin(), output.end(), [](double each) { return !std::isfinite(each); });
    });
  };
  // NaN is one answer to many questions: it may come of memory that nobody has written.
  if (base.ok() && says_nothing()) {
    settings.poison = kNegativePoison;
    base = answer();
    if (base.ok() && says_nothing()) return false;
  }
  for (const std::uint64_t seed : {7u, 1234u, 99u}) {
    settings.schedule_seed = seed;
    const Trial trial = answer();
    if (!base.ok() || !trial.ok() || different(*called.given, base.outputs, trial.outputs) > 0) return false;
  }
  return true;
}

void results_of_device(const Answer& answer, const std::string& line, std::vector<Finding>& list) {
  Answer results;
  std::copy_if(answer.seen.begin(), answer.seen.end(), std::back_inserter(results.seen),
               [](const Seen& seen) { return seen.kind == "stale-state"; });
  findings_of_device(results, {.line = line}, list);
}

void streams_of_device(const Answer& answer, const std::string& line, bool demanded, Probed& found) {
  for (const Seen& seen : answer.seen) {
    if (seen.kind != "default-stream") continue;
    const std::string text = without_folders(seen.text, seen.place);
    if (demanded) {
      Finding finding;
      finding.code = Code::wrong_stream;
      finding.argument = seen.buffer;
      finding.evidence =
          fmt::format("the instruction demands the current stream, but in '{}' {}", line, text);
      finding.location = seen.place;
      finding.fix = "launch on PyTorch's current stream";
      add_once(found.findings, std::move(finding));
    } else {
      std::string note = fmt::format("{}: correct only while callers do not change PyTorch's current stream",
                                     text.substr(0, text.find(',')));
      if (std::find(found.notes.begin(), found.notes.end(), note) == found.notes.end())
        found.notes.push_back(std::move(note));
    }
  }
}

Finding finding_of_end(const Answer& answer, const std::string& line) {
  Finding finding;
  finding.location = answer.place;
  finding.no_blocks = answer.no_blocks;
  finding.said = without_folders(answer.message, answer.place);
  finding.evidence = fmt::format("'{}': {}", line, finding.said);
  switch (answer.end) {
    case Answer::End::timed_out:
      finding.code = Code::timeout;
      finding.fix = "make sure that every loop and every wait ends";
      break;
    case Answer::End::too_large:  // what is asked of it is small
      finding.code = Code::timeout;
      finding.fix = "launch no more blocks, and launch no more often, than the answer needs";
      break;
    case Answer::End::over_limit:
      finding.code = Code::resource_limit;
      finding.fix = "use no more memory, files, output and processes than the answer needs";
      break;
    case Answer::End::refused:
    case Answer::End::not_callable:
      finding.code = Code::shape_refused;
      finding.fix = "accept the sizes that the original accepts";
      break;
    default:
      finding.code = Code::crash;
      finding.fix = "make sure that the call returns";
  }
  if (answer.asserted && answer.end == Answer::End::crashed) {
    finding.code = Code::assertion;
    finding.fix = "mend what the assertion says of the kernel, or the assertion";
  }
  return finding;
}

}  // namespace isomer::lab
