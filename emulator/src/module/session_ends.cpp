#include "module/session_ends.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "child/signals.hpp"
#include "text/last_line.hpp"

namespace isomer::emulator {
namespace {

/// Whether the C or C++ library gave up: for memory that somebody has written over, or what nobody caught.
bool is_of_the_library(const std::string& printed) {
  const std::string line = last_line(printed);
  for (const char* word :
       {"free()", "malloc", "corrupted", "munmap_chunk", "smashing", "terminate", "what()"})
    if (line.find(word) != std::string::npos) return true;
  return false;
}

/// The system kills where memory runs out; other signals are the program's own.
const char* signal_name(int number) {
  return number == SIGKILL ? "a kill (out of memory)" : signal_word(number);
}

}  // namespace

int end_of_process(pid_t process) {
  int status = 0;
  for (int i = 0; waitpid(process, &status, WNOHANG) == 0; ++i) {
    if (i == 2000) kill(process, SIGKILL);
    usleep(500);
  }
  return status;
}

pid_t parent_of(pid_t process) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string word; status >> word;)
    if (pid_t parent = 0; word == "PPid:" && status >> parent) return parent;
  return 0;
}

CallResult silent_end(int status, const std::string& name) {
  using End = CallResult::End;
  CallResult r;
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    r.end = number == SIGALRM ? End::timed_out : number == SIGXFSZ ? End::over_limit : End::crashed;
    r.message = number == SIGXFSZ ? "it wrote a file larger than the limit"
                                  : fmt::format("{} was stopped by {}", name, signal_name(number));
  } else {
    r.end = End::exited;
    r.message = fmt::format("{} ended the process with exit status {}", name, WEXITSTATUS(status));
  }
  return r;
}

std::string with_last_line(std::string sentence, const std::string& printed) {
  const std::string line = last_line(printed);
  return line.empty() ? sentence : fmt::format("{}; the last that it printed: {}", sentence, line);
}

void tell_last_words(CallResult& result, const std::string& printed) {
  using End = CallResult::End;
  if (result.end != End::crashed && result.end != End::exited) return;
  // As the C library says it: file:line: function: Assertion `n % 64 == 0' failed.
  const std::size_t begin = printed.rfind("Assertion `");
  const std::size_t end = begin == std::string::npos ? begin : printed.find("' failed.", begin);
  if (end != std::string::npos && result.message.rfind("host code stopped with an abort", 0) == 0) {
    const std::size_t first = begin + std::strlen("Assertion `");
    result.end = End::refused;
    const std::string asserted = last_line(printed.substr(first, end - first));
    result.message = "it asserts " + (asserted.empty() ? "what does not hold" : asserted);
    return;
  }
  // Host code that gives up by abort(), as where no branch of its own is for a size. Who throws, or has
  // memory in pieces, does not give up.
  if (result.message.rfind("host code stopped with an abort", 0) == 0)
    result.end = is_of_the_library(printed) ? End::exited : End::refused;
  result.message = with_last_line(std::move(result.message), printed);
}

CallResult forged_end(const std::string& name) {
  CallResult r;
  r.end = CallResult::End::exited;
  r.message = fmt::format("{} writes an answer of its own in place of the checker's", name);
  return r;
}

}  // namespace isomer::emulator
