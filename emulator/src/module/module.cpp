#include "isomer/emulator/module.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <mutex>

#include <fmt/format.h>

#include "child/execute.hpp"
#include "child/signals.hpp"
#include "child/wire.hpp"
#include "memory/memory.hpp"
#include "module/cache.hpp"
#include "module/paths.hpp"
#include "module/process.hpp"
#include "runtime/kernels.hpp"
#include "runtime/settings.hpp"
#include "watch/shadow.hpp"

namespace isomer::emulator {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kOutputLimit = std::size_t{1} << 20;
constexpr double kGraceSeconds = 30;  // between the child's own deadline and the end of our patience

class SharedFile {
 public:
  explicit SharedFile(const char* name, std::size_t bytes = 0)
      : fd(memfd_create(name, MFD_CLOEXEC)), size(bytes) {
    if (fd < 0 || (bytes > 0 && ftruncate(fd, static_cast<off_t>(bytes)) != 0))
      throw MachineError("no memory to share with a child process");
    if (bytes > 0) {
      void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      if (p == MAP_FAILED) throw MachineError("no memory to share with a child process");
      data = static_cast<std::byte*>(p);
    }
  }
  ~SharedFile() {
    if (data) munmap(data, size);
    if (fd >= 0) close(fd);
  }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  int fd;
  std::size_t size;
  std::byte* data = nullptr;
};

std::string read_all(int fd) {
  struct stat s {};
  fstat(fd, &s);
  std::string bytes(static_cast<std::size_t>(s.st_size), '\0');
  if (pread(fd, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) bytes.clear();
  return bytes;
}

void add_parameters(Request& request, const std::vector<Argument>& arguments) {
  for (const Argument& a : arguments) {
    Request::Parameter p;
    p.role = a.role;
    p.name = a.name;
    p.bytes = a.bytes;
    p.bits.assign(reinterpret_cast<const char*>(a.bits.data()), a.bits.size());
    request.parameters.push_back(std::move(p));
  }
}

RunResult run_in_child(Request request, const std::vector<Argument>& arguments) {
  std::uint64_t at = sizeof at + pack(request).size();
  for (Request::Parameter& p : request.parameters) {
    at = (at + 63) / 64 * 64;
    p.offset = at;
    at += p.role == Argument::Role::value ? 0 : p.bytes;
  }
  SharedFile file("isomer-request", at + 64), response("isomer-response");
  const std::string header = pack(request);
  const std::uint64_t length = header.size();
  std::memcpy(file.data, &length, sizeof length);
  std::memcpy(file.data + sizeof length, header.data(), header.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Request::Parameter& p = request.parameters[i];
    if (p.role == Argument::Role::input || p.role == Argument::Role::in_out)
      std::memcpy(file.data + p.offset, arguments[i].data, p.bytes);
  }
  const Finished child = run_process(
      {runner_program().string(), std::to_string(file.fd), std::to_string(response.fd)},
      kPatience * request.options.timeout_seconds + kGraceSeconds, kOutputLimit, {file.fd, response.fd});
  if (!child.started) throw MachineError("the emulator's runner program could not be started");
  RunResult result;
  const std::string bytes = read_all(response.fd);
  if (!bytes.empty()) {
    result = unpack_result(bytes);
  } else if (child.timed_out) {
    result.not_finished =
        fmt::format("{} did not end within {:g} s", request.name, request.options.timeout_seconds);
  } else if (WIFSIGNALED(child.status)) {
    result.failure =
        fmt::format("{}: the process was ended by signal {}", request.name, WTERMSIG(child.status));
  } else {
    result.failure = fmt::format("{}: the code ended the process with exit status {}", request.name,
                                 WEXITSTATUS(child.status));
    result.exit_status = WEXITSTATUS(child.status);
  }
  result.output = child.output;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Request::Parameter& p = request.parameters[i];
    if (p.role == Argument::Role::output || p.role == Argument::Role::in_out)
      std::memcpy(arguments[i].data, file.data + p.offset, p.bytes);
  }
  return result;
}

}  // namespace

std::string Module::lack_of_compiler(const BuildOptions& options) {
  try {
    find_compiler(options);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

Module Module::build(const BuildOptions& options) {
  if (options.sources.empty()) throw Error("no source file to build a module from");
  if (options.lanes != 32 && options.lanes != 64)
    throw Error(fmt::format("a warp of {} lanes: expected 32 or 64", options.lanes));
  for (const fs::path& source : options.sources) {
    std::error_code none;
    if (!fs::is_regular_file(source, none))
      throw Error(fmt::format("{}: no such source file", source.string()));
  }
  const fs::path compiler = find_compiler(options);
  const std::string key = cache_key(options, compiler);
  Module m;
  std::optional<CacheEntry> entry = find_cached(key);
  m.cached_ = entry.has_value();
  m.built_ = options;
  if (!entry) entry = build_cached(key, options, compiler);
  m.library_ = entry->library;
  for (const std::string& flag : options.link_flags) {
    if (flag.rfind("-L", 0) == 0) m.linked_.emplace_back(flag.substr(2));
    if (flag.rfind("-Wl,-rpath,", 0) == 0) m.linked_.emplace_back(flag.substr(11));
    if (flag.rfind('/', 0) == 0) m.linked_.emplace_back(flag);
  }
  // A PyTorch of pip has libraries in the folders beside its own.
  for (std::size_t i = 0, count = m.linked_.size(); i < count; ++i)
    if (const fs::path lib = m.linked_[i]; lib.filename() == "lib" && lib.parent_path().filename() == "torch")
      m.linked_.push_back(lib.parent_path().parent_path());
  m.kernels_ = entry->compiled.kernels;
  m.reaches_ = entry->compiled.reaches;
  m.has_main_ = entry->compiled.has_main;
  m.hip_ = entry->compiled.hip;
  m.watch_ = options.watch;
  m.lanes_ = options.lanes;
  m.target_ = options.target;
  return m;
}

namespace {
Request request_for(Job job, const fs::path& library, const std::string& name, int lanes, bool watch,
                    bool hip, const std::vector<Argument>& arguments, const RunOptions& options) {
  Request r;
  r.job = job;
  r.library = library.string();
  r.name = name;
  r.lanes = lanes;
  r.watch = watch;
  r.hip = hip;
  r.options = options;
  add_parameters(r, arguments);
  return r;
}
}  // namespace

RunResult Module::launch(const std::string& kernel, const Geometry& geometry,
                         const std::vector<Argument>& arguments, const RunOptions& options) const {
  Request r = request_for(Job::kernel, library_, kernel, lanes_, watch_, hip_, arguments, options);
  r.geometry = geometry;
  return run_in_child(std::move(r), arguments);
}

RunResult Module::call(const std::string& function, const std::vector<Argument>& arguments,
                       const RunOptions& options) const {
  return run_in_child(
      request_for(Job::function, library_, function, lanes_, watch_, hip_, arguments, options), arguments);
}

RunResult Module::run_main(const std::vector<std::string>& words, const RunOptions& options) const {
  Request r = request_for(Job::program, library_, "main", lanes_, watch_, hip_, {}, options);
  r.words = words;
  const auto absolute = [](const std::vector<std::string>& folders) {
    std::vector<std::string> all;
    for (const std::string& folder : folders) all.push_back(fs::absolute(folder).string());
    return all;
  };
  BuiltFrom& from = r.built_from;
  for (const fs::path& source : built_.sources)
    from.folders.push_back(fs::absolute(source).parent_path().string());
  from.include_directories = absolute(built_.include_directories);
  from.system_directories = absolute(built_.system_directories);
  from.definitions = built_.definitions;
  from.standard = built_.standard;
  from.compiler = built_.compiler;
  from.device_math = built_.device_math;
  return run_in_child(std::move(r), {});
}

RunResult Module::launch_here(const std::string& kernel, const Geometry& geometry,
                              const std::vector<Argument>& arguments, const RunOptions& options) const {
  static std::mutex one_at_a_time;  // the settings are the process's
  std::lock_guard lock(one_at_a_time);
  std::vector<Argument> values;
  for (const Argument& a : arguments) {
    values.push_back(a.role == Argument::Role::value ? a : Argument::value(a.data));
    if (Buffer* b = a.role == Argument::Role::value ? nullptr : Memory::instance().find(a.data))
      b->input = a.role == Argument::Role::input;
  }
  Request r = request_for(Job::kernel, library_, kernel, lanes_, watch_, hip_, values, options);
  r.geometry = geometry;
  RunResult result = execute(r, nullptr);
  for (const Argument& a : arguments) {
    if (Buffer* b = Memory::instance().find(a.data)) b->input = false;
  }
  return result;
}

std::vector<std::size_t> Module::parameter_bytes(const std::string& kernel) const {
  void* handle = dlopen(library_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) throw Error(fmt::format("the module cannot be loaded: {}", dlerror()));
  const KernelEntry* entry = find_kernel(kernel, handle);
  if (!entry || !entry->invoke) throw Error(fmt::format("the module has no kernel {}", kernel));
  return {entry->parameter_bytes, entry->parameter_bytes + entry->parameter_count};
}

void* device_allocate(std::size_t bytes, const std::string& name) {
  Buffer* b = Memory::instance().allocate(bytes, Space::global, name);
  if (!b) return nullptr;
  b->tensor = true;
  return b->begin;
}

void device_free(void* pointer) { Memory::instance().release(pointer); }

}  // namespace isomer::emulator
