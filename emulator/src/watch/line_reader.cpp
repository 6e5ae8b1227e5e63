#include "watch/line_reader.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

#include <fmt/format.h>

namespace isomer::emulator::watch {
namespace {

constexpr int kSecondsMost = 20;  // of PyTorch extensions it reads hundreds of megabytes first

std::string library_read;
pid_t reader = 0;
int questions = -1, answers = -1;

void stop() {
  close(questions), close(answers);
  questions = answers = -1;
}

bool ask(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    pollfd p{questions, POLLOUT, 0};
    if (poll(&p, 1, kSecondsMost * 1000) != 1) return false;
    const ssize_t sent = ::write(questions, text.data() + at, text.size() - at);
    if (sent <= 0) return false;
    at += static_cast<std::size_t>(sent);
  }
  return true;
}

/// One line without its end; false where none comes.
bool take_line(std::string& line) {
  line.clear();
  for (char c = 0; c != '\n';) {
    pollfd p{answers, POLLIN, 0};
    if (poll(&p, 1, kSecondsMost * 1000) != 1 || ::read(answers, &c, 1) != 1) return false;
    if (c != '\n') line += c;
  }
  return true;
}

}  // namespace

void start_line_reader(const std::string& library) {
  int to[2], from[2];
  if (pipe2(to, O_CLOEXEC) != 0) return;
  if (pipe2(from, O_CLOEXEC) != 0) {
    close(to[0]), close(to[1]);
    return;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string name = library;
  char program[] = "addr2line", each[] = "-a", inlined[] = "-i", of[] = "-e";
  char* words[] = {program, each, inlined, of, name.data(), nullptr};
  const bool started = posix_spawnp(&reader, program, &actions, nullptr, words, environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(to[0]), close(from[1]);
  questions = to[1], answers = from[0];
  if (started)
    library_read = library;
  else
    stop();
}

pid_t line_reader() { return questions < 0 ? 0 : reader; }

std::vector<std::string> read_lines(const std::string& library,
                                    const std::vector<std::uintptr_t>& addresses) {
  if (questions < 0 || library != library_read) return {};
  std::vector<std::string> lines;
  // An address of nothing before them, which no question had before, says where the answers begin: a process
  // that was stopped may have left some. One behind each says where its answer ends.
  const auto taken_until = [&](std::uintptr_t nothing, std::vector<std::string>* kept) {
    for (std::string line; take_line(line);) {
      if (line.rfind("0x", 0) == 0 && std::strtoull(line.c_str(), nullptr, 16) == nothing)
        return take_line(line);
      if (kept != nullptr) kept->push_back(line);
    }
    return false;
  };
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto begin = (std::uintptr_t{1} << 62) + static_cast<std::uintptr_t>(now.tv_sec) * 1000000000 +
                     static_cast<std::uintptr_t>(now.tv_nsec);
  if (!ask(fmt::format("{:#x}\n", begin)) || !taken_until(begin, nullptr)) return stop(), lines;
  for (const std::uintptr_t address : addresses)
    if (!ask(fmt::format("{:#x}\n{:#x}\n", address, begin)) || !taken_until(begin, &lines))
      return stop(), lines;
  return lines;
}

}  // namespace isomer::emulator::watch
