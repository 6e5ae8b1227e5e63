#include "child/execute.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "isomer_emulator/abi.h"
#include "memory/memory.hpp"
#include "runtime/errors.hpp"
#include "runtime/kernels.hpp"
#include "runtime/limits.hpp"
#include "runtime/records.hpp"
#include "runtime/settings.hpp"
#include "watch/host_order.hpp"
#include "watch/reporter.hpp"
#include "watch/shadow.hpp"

namespace isomer::emulator {
namespace {

constexpr std::size_t kMaxWords = 12;

void* load(const Request& request) {
  void* handle = dlopen(request.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) throw Error(fmt::format("the module cannot be loaded: {}", dlerror()));
  return handle;
}

std::vector<Buffer*> place_buffers(const Request& request, const std::byte* shared) {
  std::vector<Buffer*> buffers;
  for (const Request::Parameter& p : request.parameters) {
    if (p.role == Argument::Role::value) {
      buffers.push_back(nullptr);
      continue;
    }
    Buffer* b = Memory::instance().allocate(p.bytes, Space::global, p.name);
    if (!b) throw Error(fmt::format("{} bytes for {} do not fit the device's memory", p.bytes, p.name));
    if (request.watch) watch::forget(*b);
    if (p.role != Argument::Role::output) {
      std::memcpy(b->begin, shared + p.offset, p.bytes);
      b->initialised = true;
    }
    b->input = p.role == Argument::Role::input;
    buffers.push_back(b);
  }
  return buffers;
}

void launch_kernel(const Request& request, const std::vector<Buffer*>& buffers, void* handle) {
  const KernelEntry* entry = find_kernel(request.name, handle);
  if (!entry) throw Error(fmt::format("the module has no kernel {}", request.name));
  if (!entry->invoke) {
    throw Error(
        fmt::format("{} is a template: name it with its arguments when the module is built", request.name));
  }
  if (entry->parameter_count != request.parameters.size()) {
    throw Error(fmt::format("{} takes {} arguments, got {}", request.name, entry->parameter_count,
                            request.parameters.size()));
  }
  // Values keep the alignment of tensor maps; the array of pointers and the values are what the kernel may
  // read.
  constexpr std::size_t kAlignment = 128;
  std::vector<std::byte> block(request.parameters.size() * sizeof(void*));
  std::vector<std::size_t> offsets;
  for (std::size_t i = 0; i < request.parameters.size(); ++i) {
    const Request::Parameter& p = request.parameters[i];
    const std::size_t bytes = buffers[i] ? sizeof(void*) : p.bits.size();
    if (bytes != entry->parameter_bytes[i]) {
      throw Error(fmt::format("{}: argument {} has {} bytes, expected {}", request.name, i, bytes,
                              entry->parameter_bytes[i]));
    }
    block.resize((block.size() + kAlignment - 1) / kAlignment * kAlignment);
    offsets.push_back(block.size());
    block.resize(block.size() + bytes);
    if (buffers[i]) {
      void* begin = buffers[i]->begin;
      std::memcpy(block.data() + offsets[i], &begin, sizeof begin);
    } else {
      std::memcpy(block.data() + offsets[i], p.bits.data(), bytes);
    }
  }
  std::vector<std::byte> aligned(block.size() + kAlignment);
  auto* base = aligned.data() +
               (kAlignment - reinterpret_cast<std::uintptr_t>(aligned.data()) % kAlignment) % kAlignment;
  std::memcpy(base, block.data(), block.size());
  auto** pointers = reinterpret_cast<void**>(base);
  for (std::size_t i = 0; i < offsets.size(); ++i) pointers[i] = base + offsets[i];

  LaunchRequest r{};
  r.kernel = entry->name;
  r.file = entry->file;
  r.line = entry->line;
  r.grid = dim3(request.geometry.grid[0], request.geometry.grid[1], request.geometry.grid[2]);
  r.block = dim3(request.geometry.block[0], request.geometry.block[1], request.geometry.block[2]);
  r.shared_bytes = request.geometry.shared_bytes;
  r.cooperative = request.geometry.cooperative;
  r.cluster = request.geometry.cluster;
  r.function = entry->function;
  // Whoever names the shared memory has asked for it: no opt-in is needed beside.
  if (r.shared_bytes > 0)
    set_max_dynamic_shared(r.function, std::min(r.shared_bytes, limits().shared_bytes_opt_in));
  r.invoke = entry->invoke;
  r.package = base;
  r.package_bytes = block.size();
  r.arguments = pointers;
  r.argument_bytes = entry->parameter_bytes;
  r.argument_count = entry->parameter_count;
  launch(r);
}

using Word = std::uint64_t;
using Function = Word (*)(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);

void call_function(const Request& request, const std::vector<Buffer*>& buffers, void* handle) {
  auto function = reinterpret_cast<Function>(dlsym(handle, request.name.c_str()));
  if (!function) throw Error(fmt::format("the module exports no function {} with C linkage", request.name));
  if (request.parameters.size() > kMaxWords) {
    throw Error(fmt::format("{}: {} arguments, at most {} can be passed", request.name,
                            request.parameters.size(), kMaxWords));
  }
  Word w[kMaxWords] = {};
  for (std::size_t i = 0; i < request.parameters.size(); ++i) {
    const std::string& bits = request.parameters[i].bits;
    if (buffers[i]) {
      w[i] = reinterpret_cast<Word>(buffers[i]->begin);
    } else if (bits.size() <= sizeof(Word)) {
      std::memcpy(&w[i], bits.data(), bits.size());
    } else {
      throw Error(
          fmt::format("{}: argument {} has {} bytes, at most 8 can be passed", request.name, i, bits.size()));
    }
  }
  function(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11]);
}

int run_program(const Request& request, void* handle) {
  auto entry = reinterpret_cast<int (*)(int, char**)>(dlsym(handle, "isomer_emulator_main"));
  if (!entry) throw Error("the module has no main");
  std::vector<std::string> words{request.name};
  words.insert(words.end(), request.words.begin(), request.words.end());
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  return entry(static_cast<int>(words.size()), argv.data());
}

}  // namespace

void collect(RunResult& result) {
  if (settings().leaks) watch::report_leaks();
  for (Report& r : watch::take_reports())
    (r.kind == Kind::step_limit ? result.stopped : result.reports).push_back(std::move(r));
  if (!result.stopped.empty() && result.not_finished.empty())
    result.not_finished =
        result.stopped.front().kernel + (result.stopped.front().waits_for_left_out
                                             ? " waits for blocks that the run left out"
                                             : " was stopped at the limit of memory accesses");
  auto launches = take_records();
  result.launches.insert(result.launches.end(), launches.begin(), launches.end());
  auto refusals = take_refusals();
  result.refusals.insert(result.refusals.end(), refusals.begin(), refusals.end());
  for (const LaunchRecord& l : result.launches) {
    if (l.error != 0) result.error = l.error;
  }
}

RunResult execute(const Request& request, std::byte* shared) {
  RunResult result;
  Settings& s = settings();
  s.lanes = request.lanes;
  s.seed = request.options.seed;
  s.watch = request.watch;
  if (request.options.workers != 0) s.workers = request.options.workers;
  s.step_limit = request.options.step_limit;
  s.hip = request.hip;
  s.blocks = request.options.blocks;
  s.leaks = request.options.leaks;
  s.first_watched = request.options.first_watched;
  s.last_watched = request.options.last_watched;
  s.watched_kernel = request.options.watched_kernel;
  s.built_from = request.built_from;
  Memory::instance().set_poison(request.options.poison);
  Memory::instance().set_limit(request.options.memory_limit);
  std::vector<Buffer*> buffers;
  try {
    void* handle = load(request);
    buffers = place_buffers(request, shared);
    switch (request.job) {
      case Job::kernel:
        launch_kernel(request, buffers, handle);
        break;
      case Job::function:
        call_function(request, buffers, handle);
        break;
      case Job::program:
        // What libraries do on the host in a device's place is no access of the program's.
        if (dlsym(handle, "isomer_emulator_computes_on_the_host") == nullptr) watch::host_order::begin();
        result.exit_status = run_program(request, handle);
        break;
    }
  } catch (const std::exception& e) {
    result.failure = e.what();
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i] && !buffers[i]->input && buffers[i]->live) {
      std::memcpy(shared + request.parameters[i].offset, buffers[i]->begin, request.parameters[i].bytes);
    }
    if (buffers[i] && buffers[i]->live) Memory::instance().release(buffers[i]);
  }
  collect(result);
  return result;
}

}  // namespace isomer::emulator
