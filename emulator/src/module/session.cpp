#include "isomer/emulator/session.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "child/session_wire.hpp"
#include "child/signals.hpp"
#include "contain/cgroup.hpp"
#include "contain/lasting_thread.hpp"
#include "contain/means.hpp"
#include "contain/room.hpp"
#include "isomer/emulator/containment.hpp"
#include "isomer_emulator/entries_abi.h"
#include "module/paths.hpp"
#include "module/session_ends.hpp"
#include "module/shared_memory.hpp"
#include "module/spawn.hpp"

namespace isomer::emulator {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kLoadSeconds = 60;
constexpr double kDeviceSeconds = 60;       // for a device to take a process in
constexpr double kSessionGraceSeconds = 5;  // between the process's own deadline and the end of our patience
constexpr int kProcesses = 512;             // and threads, of a contained session
constexpr double kCount = 0.02;             // seconds between two counts of them, where no cgroup counts
constexpr std::size_t kKeptOutput = std::size_t{1} << 20;

double seconds_until(Clock::time_point t) { return std::chrono::duration<double>(t - Clock::now()).count(); }
Clock::time_point in_seconds(double s) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
}

std::string too_many_processes(const std::string& who) {
  return fmt::format("{} starts more than {} processes and threads", who, kProcesses);
}

std::uint64_t file_bytes(int fd) {
  struct stat s {};
  return fstat(fd, &s) == 0 ? static_cast<std::uint64_t>(s.st_size) : 0;
}

Seal fresh_seal() {
  Seal seal;
  if (getrandom(seal.data(), seal.size(), 0) != static_cast<ssize_t>(seal.size()))
    throw MachineError("no random bytes for a session");
  return seal;
}

std::uint64_t fresh_word() {
  std::uint64_t word = 0;
  while (word == 0)
    if (getrandom(&word, sizeof word, 0) != sizeof word) throw MachineError("no random bytes for a session");
  return word;
}

// What the process says does not begin with the seal: the code under test has said it.
struct Forged : Error {
  Forged() : Error("an answer without its seal") {}
};

void check_extents(const std::vector<Extent>& extents, std::uint64_t bytes) {
  for (const Extent& e : extents) {
    if (e.offset > bytes || e.bytes > bytes - e.offset)
      throw Error("the answer of the session's process is not valid");
  }
}

void replace_storages(SessionValue& v, const WireValue& w, const std::vector<std::shared_ptr<void>>& fresh) {
  if (v.kind == ValueKind::tensor) v.storage = fresh[w.storage];
  for (std::size_t i = 0; i < v.items.size(); ++i) replace_storages(v.items[i], w.items[i], fresh);
}

// The code under test could have written anything over its process: a view has to lie in its storage.
void check_view(const WireValue& w, std::uint64_t storage_bytes) {
  bool valid =
      w.element > 0 && w.element < kCallElements && w.shape.size() <= 8 && w.shape.size() == w.strides.size();
  __int128 last = 0;
  bool empty = false;
  for (std::size_t i = 0; valid && i < w.shape.size(); ++i) {
    valid = w.shape[i] >= 0 && w.strides[i] >= 0;
    empty |= w.shape[i] == 0;
    last += static_cast<__int128>(w.shape[i] - 1) * w.strides[i];
  }
  if (valid && !empty) valid = w.storage_offset + (last + 1) * kCallElementBytes[w.element] <= storage_bytes;
  if (!valid || w.storage_offset > storage_bytes)
    throw Error("the answer of the session's process is not valid");
}

// The arguments as they travel: each storage once, whoever shares it.
class Luggage {
 public:
  SessionRequest request;
  std::vector<const std::byte*> storages;  // ours, beside those of the request

  WireValue pack(const SessionValue& v) {
    WireValue w;
    w.kind = v.kind;
    w.integer = v.integer;
    w.real = v.real;
    w.text = v.text;
    w.element = v.element;
    for (const SessionValue& item : v.items) w.items.push_back(pack(item));
    if (v.kind != ValueKind::tensor) return w;
    if (v.shape.size() > 8 || v.shape.size() != v.strides.size())
      throw Error(fmt::format("{}: {} dimensions and {} strides, at most 8 of each", v.name, v.shape.size(),
                              v.strides.size()));
    w.shape = v.shape;
    w.strides = v.strides;
    w.storage_offset = v.storage_offset;
    const auto [it, fresh] = numbers_.try_emplace(v.storage.get(), request.storages.size());
    if (fresh) {
      request.storages.push_back(
          {v.storage_bytes, 0, v.name, touched_extents(v.storage.get(), v.storage_bytes)});
      storages.push_back(static_cast<const std::byte*>(v.storage.get()));
    }
    w.storage = it->second;
    return w;
  }

 private:
  std::map<const void*, std::uint64_t> numbers_;
};

}  // namespace

struct Session::State {
  SessionSetup setup;
  Descriptor socket, arena, answer, output;
  pid_t process = -1;
  std::vector<EntryInfo> entries;
  std::vector<std::filesystem::path> readable;
  Seal seal{};  // of what is said next
  std::uint64_t forks_with = 0;
  Cgroup group;
  bool counted = false;  // its processes and threads, by us, where no cgroup does

  ~State() { end(); }

  void end() {
    if (process < 0) return;
    socket = Descriptor();
    kill(-process, SIGKILL);
    waitpid(process, nullptr, 0);
    process = -1;
    group = Cgroup();
  }

  // A fresh process with the module loaded. Throws where that fails.
  void start() {
    int ends[2], pipe_ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw MachineError("no socket for a session");
    socket = Descriptor(ends[0]);
    const Descriptor theirs(ends[1]);
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) throw MachineError("no pipe for a session");
    output = Descriptor(pipe_ends[0]);
    const Descriptor their_output(pipe_ends[1]);
    fcntl(output.get(), F_SETFL, O_NONBLOCK);
    arena = shared_file("isomer-arguments");
    answer = shared_file("isomer-answer");
    setup.room = isolation() != Isolation::none && !setup.real_device && !bubblewrap().empty();
    setup.seal = seal = fresh_seal();
    const bool contained = isolation() != Isolation::none && !setup.real_device;
    if (contained && forks_with == 0) forks_with = fresh_word();
    setup.forks_with = forks_with;
    write_header(pack(setup));

    // First out of the way of the numbers that the process expects.
    std::vector<Descriptor> high;
    for (int fd : {theirs.get(), arena.get(), answer.get(), their_output.get()})
      high.emplace_back(fcntl(fd, F_DUPFD_CLOEXEC, 16));
    Room room;
    room.readable = readable;
    room.processes = kProcesses;
    std::vector<std::string> words = {runner_program().string(), "session"};
    if (contained) {
      group = Cgroup(kProcesses);
      counted = !group.limits();
      words = group.in_group(in_room(room, std::move(words)));
    }
    const Spawn runner{std::move(words),
                       {{high[3].get(), 1},
                        {high[3].get(), 2},
                        {high[0].get(), kSessionSocket},
                        {high[1].get(), kSessionArena},
                        {high[2].get(), kSessionAnswer}}};
    // It ends with the thread that starts it.
    process = on_lasting_thread([&] { return spawn(runner); });
    if (process < 0) throw MachineError("the emulator's runner program could not be started");
  }

  void load() {
    start();
    std::string printed;
    SessionEvent event;
    // Until it has begun, nothing of the module's has run.
    if (!wait_for('s', event, in_seconds(kLoadSeconds), ~std::uint64_t{0}, printed).empty()) {
      drain(printed);
      end();
      throw MachineError(with_last_line("no process could be started for the module", printed));
    }
    const std::string trouble = wait_for('a', event, in_seconds(kLoadSeconds), ~std::uint64_t{0}, printed);
    if (!trouble.empty()) {
      drain(printed);
      end();
      // What runs before any call is what its static objects do.
      throw Error("the module cannot be loaded: " +
                  (trouble == "time"
                       ? fmt::format("a static constructor does not end within {} s", kLoadSeconds)
                   : trouble == "processes" ? too_many_processes("a static constructor")
                   : trouble == "forged"    ? "a static constructor writes into the checker's channel"
                   : trouble == "it ended"
                       ? with_last_line("a static constructor crashes, or ends the process", printed)
                       : trouble));
    }
    std::string bytes;
    try {
      bytes = read_answer();
    } catch (const Forged&) {
      bytes = "-the module cannot be loaded: a static constructor writes an answer of its own";
    }
    if (bytes.empty() || bytes[0] != '+') {
      end();
      throw Error(bytes.empty() ? "the module cannot be loaded" : bytes.substr(1));
    }
    entries = unpack_entries(bytes.substr(1));
  }

  void write_header(const std::string& bytes) const {
    const std::uint64_t length = bytes.size();
    if (pwrite(arena.get(), &length, sizeof length, 0) != sizeof length ||
        pwrite(arena.get(), bytes.data(), length, sizeof length) != static_cast<ssize_t>(length))
      throw MachineError("no memory to share with the session's process");
  }

  std::string read_answer() const {
    std::uint64_t length = 0;
    if (pread(answer.get(), &length, sizeof length, 0) != sizeof length || length > (std::uint64_t{1} << 30))
      return {};
    std::string bytes(length, '\0');
    if (pread(answer.get(), bytes.data(), length, sizeof length) != static_cast<ssize_t>(length)) return {};
    if (length < seal.size() || std::memcmp(bytes.data(), seal.data(), seal.size()) != 0) throw Forged();
    return bytes.substr(seal.size());
  }

  // Reads what has been printed; returns the number of bytes.
  std::uint64_t drain(std::string& printed) const {
    char chunk[65536];
    std::uint64_t total = 0;
    for (ssize_t n = 0; (n = read(output.get(), chunk, sizeof chunk)) > 0;) {
      total += static_cast<std::uint64_t>(n);
      const std::size_t room = kKeptOutput - std::min(kKeptOutput, printed.size());
      printed.append(chunk, std::min(static_cast<std::size_t>(n), room));
      if (total > (std::uint64_t{16} << 20)) break;
    }
    return total;
  }

  // The next event, which has to be `what`. A word where it does not come: "" none, else why.
  std::string wait_for(char what, SessionEvent& event, Clock::time_point deadline, std::uint64_t output_limit,
                       std::string& printed) const {
    std::uint64_t total = 0;
    std::size_t have = 0;
    Clock::time_point next_count = in_seconds(kCount);
    auto* bytes = reinterpret_cast<char*>(&event);
    while (have < sizeof event) {
      const double left = seconds_until(deadline);
      if (left <= 0) return "time";
      pollfd fds[2] = {{socket.get(), POLLIN, 0}, {output.get(), POLLIN, 0}};
      poll(fds, 2, static_cast<int>(std::min(left * 1000 + 1, counted ? kCount * 1000 : 1000.0)));
      if (counted && seconds_until(next_count) <= 0) {
        if (tasks_of(process, kProcesses) > kProcesses) return "processes";
        next_count = in_seconds(kCount);
      }
      if (fds[1].revents & POLLIN) total += drain(printed);
      if (total > output_limit) return "output";
      if (fds[1].revents & POLLHUP && !(fds[0].revents & POLLIN)) return "it ended";
      if (!(fds[0].revents & (POLLIN | POLLHUP))) continue;
      const ssize_t n = read(socket.get(), bytes + have, sizeof event - have);
      if (n <= 0) return "it ended";
      have += static_cast<std::size_t>(n);
    }
    drain(printed);
    if (event.seal != seal) return "forged";
    if (event.what == 'f') return "machine";
    return event.what == what ? "" : "it ended";
  }

  void send(Luggage& luggage) {
    luggage.request.seal = seal = fresh_seal();
    luggage.request.forks_with = forks_with;
    std::uint64_t at = sizeof(std::uint64_t) + pack(luggage.request).size();
    for (WireStorage& s : luggage.request.storages) {
      at = (at + kWirePage - 1) / kWirePage * kWirePage;
      s.offset = at;
      at += s.bytes;
    }
    if (ftruncate(arena.get(), 0) != 0 || ftruncate(arena.get(), static_cast<off_t>(at + kWirePage)) != 0 ||
        ftruncate(answer.get(), 0) != 0)
      throw MachineError(fmt::format("no memory for arguments of {} bytes", at));
    write_header(pack(luggage.request));
    for (std::size_t i = 0; i < luggage.storages.size(); ++i) {
      const WireStorage& s = luggage.request.storages[i];
      const Mapping m(arena.get(), s.offset, s.bytes, PROT_READ | PROT_WRITE);
      if (s.bytes > 0) copy_extents(m.data(), luggage.storages[i], s.extents);
    }
    if (write(socket.get(), "c", 1) != 1) throw Error("the session's process has gone");
  }

  // The arguments as the call left them, in storages of their own.
  std::vector<SessionValue> bring_back(const Luggage& luggage, const std::vector<std::vector<Extent>>& after,
                                       const std::vector<SessionValue>& arguments) const {
    std::vector<std::shared_ptr<void>> fresh;
    for (std::size_t i = 0; i < luggage.storages.size(); ++i) {
      const WireStorage& s = luggage.request.storages[i];
      fresh.push_back(fresh_storage(s.bytes));
      const Mapping m(arena.get(), s.offset, s.bytes, PROT_READ);
      check_extents(after[i], s.bytes);
      if (s.bytes > 0) copy_extents(static_cast<std::byte*>(fresh.back().get()), m.data(), after[i]);
    }
    std::vector<SessionValue> back = arguments;
    for (std::size_t i = 0; i < back.size(); ++i) replace_storages(back[i], luggage.request.values[i], fresh);
    return back;
  }

  SessionValue unpack(const WireValue& w, const std::vector<std::shared_ptr<void>>& storages,
                      const std::vector<WireStorage>& wires) const {
    if (w.kind > ValueKind::omitted) throw Error("the answer of the session's process is not valid");
    SessionValue v;
    v.kind = w.kind;
    v.integer = w.integer;
    v.real = w.real;
    v.text = w.text;
    v.element = w.element;
    for (const WireValue& item : w.items) v.items.push_back(unpack(item, storages, wires));
    if (w.kind != ValueKind::tensor) return v;
    if (w.storage >= storages.size()) throw Error("the answer of the session's process is not valid");
    check_view(w, wires[w.storage].bytes);
    v.shape = w.shape;
    v.strides = w.strides;
    v.storage = storages[w.storage];
    v.storage_bytes = wires[w.storage].bytes;
    v.storage_offset = w.storage_offset;
    return v;
  }

  CallResult read_result(const Luggage& luggage, const std::vector<SessionValue>& arguments) const {
    const std::string bytes = read_answer();
    if (bytes.empty()) throw Error("no answer");
    SessionAnswer a = unpack_session_answer(bytes);
    bool known = a.result.end <= CallResult::End::too_large;
    for (const Report& r : a.result.reports) known &= r.kind <= Kind::host_race;  // the last one
    if (!known) throw Error("the answer of the session's process is not valid");
    const std::uint64_t available = file_bytes(answer.get());
    std::vector<std::shared_ptr<void>> storages;
    for (const WireStorage& s : a.storages) {
      if (s.bytes > 0 && (s.offset > available || s.bytes > available - s.offset))
        throw Error("the answer of the session's process is not valid");
      const std::shared_ptr<void> own = fresh_storage(s.bytes);
      const Mapping m(answer.get(), s.offset, s.bytes, PROT_READ);
      check_extents(s.extents, s.bytes);
      if (s.bytes > 0) copy_extents(static_cast<std::byte*>(own.get()), m.data(), s.extents);
      storages.push_back(own);
    }
    for (const WireValue& w : a.returned) a.result.returned.push_back(unpack(w, storages, a.storages));
    if (a.after.size() == luggage.storages.size())
      a.result.arguments = bring_back(luggage, a.after, arguments);
    return std::move(a.result);
  }
};

Session::Session(const Module& module) : state_(std::make_unique<State>()) {
  state_->setup = {module.library().string(),
                   module.lanes(),
                   module.watched(),
                   module.hip(),
                   module.target() != Target::emulated,
                   false,
                   {}};
  if (isolation() == Isolation::strict && state_->setup.real_device)
    throw Error("strict isolation cannot be had on a real device");
  state_->readable = module.linked_;
  for (const std::filesystem::path& file : {module.library(), own_library(), runner_program()})
    state_->readable.push_back(file.parent_path());
  for (std::filesystem::path& folder : folders_of_libraries()) state_->readable.push_back(std::move(folder));
  state_->load();
}
Session::~Session() = default;

const std::vector<EntryInfo>& Session::entries() const { return state_->entries; }

CallResult Session::call(std::size_t entry, const std::vector<SessionValue>& arguments,
                         const CallOptions& options) {
  State& s = *state_;
  if (entry >= s.entries.size())
    throw Error(fmt::format("the module has {} entries, not {}", s.entries.size(), entry + 1));
  const std::string name = s.entries[entry].name;
  Luggage luggage;
  luggage.request.entry = entry;
  luggage.request.options = options;
  for (const SessionValue& v : arguments) luggage.request.values.push_back(luggage.pack(v));
  if (s.process < 0) s.load();
  s.send(luggage);

  CallResult result;
  std::string printed;
  SessionEvent event;
  const auto deadline = in_seconds(kPatience * options.timeout_seconds + kSessionGraceSeconds +
                                   (s.setup.real_device ? kDeviceSeconds : 0));
  std::string trouble = s.wait_for('b', event, deadline, options.output_limit, printed);
  const pid_t worker = event.pid;
  if (trouble.empty()) trouble = s.wait_for('e', event, deadline, options.output_limit, printed);
  if (trouble == "time" || trouble == "output" || trouble == "processes") {
    result.end = trouble == "time" ? CallResult::End::timed_out : CallResult::End::over_limit;
    result.message =
        trouble == "time" ? fmt::format("{} did not end within {:g} s", name, options.timeout_seconds)
        : trouble == "processes"
            ? too_many_processes(name)
            : fmt::format("{} prints without end: {} MiB and more", name, options.output_limit >> 20);
    // In a room its number is another's outside, and everything ends with the room. Elsewhere the number is
    // its word, which is looked into: what it names has to be its child.
    if (worker > 1 && parent_of(worker) == s.process) kill(-worker, SIGKILL);
    // What it does not read stays in the pipe; a fresh process gets a fresh one.
    s.end();
  } else if (trouble == "machine") {
    s.end();
    throw MachineError("no process could be started for a call");
  } else if (trouble == "forged") {
    s.end();
    result = forged_end(name);
  } else if (!trouble.empty()) {
    const int status = end_of_process(s.process);
    s.process = -1;
    result = silent_end(s.setup.real_device ? status : status_in_room(status), name);
  } else {
    try {
      result = s.read_result(luggage, arguments);
    } catch (const Forged&) {
      result = forged_end(name);
    } catch (const Error&) {
      result = silent_end(event.status, name);
    }
  }
  tell_last_words(result, printed);
  if (result.arguments.size() != arguments.size()) result.arguments = arguments;
  result.output = std::move(printed);
  return result;
}

}  // namespace isomer::emulator
