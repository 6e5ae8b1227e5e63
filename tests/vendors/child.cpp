#include "child.hpp"

#include <isomer/isomer.hpp>

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

namespace isomer {
namespace {

const char* word_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::bad_argument:
      return "bad_argument";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::device:
      return "device";
    case ErrorCode::io:
      return "io";
    case ErrorCode::internal:
      return "internal";
  }
  return "?";
}

bool computes_on_the_cpu() {
  const float x[3] = {0.0f, 1.0f, 2.0f};
  float y[3] = {7.0f, 7.0f, 7.0f};
  sin(Queue::cpu(), {.x = Tensor(x, DType::f32, {3}), .y = Tensor(y, DType::f32, {3})});
  return y[0] == 0.0f && std::abs(y[2] - std::sin(2.0f)) < 1e-6f;
}

}  // namespace

std::string said_by(const std::function<std::string()>& body) {
  try {
    return body();
  } catch (const Error& error) {
    return std::string(word_of(error.code())) + ": " + error.what();
  }
}

std::string in_child(const Environment& environment, const std::function<std::string()>& body) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
    std::string text;
    try {
      text = said_by(body);
      if (!computes_on_the_cpu()) text = "the CPU does not compute after: " + text;
    } catch (const std::exception& error) {
      text = std::string("not an Error: ") + error.what();
    }
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t count = ::write(ends[1], text.data() + done, text.size() - done);
      if (count <= 0) break;
      done += static_cast<std::size_t>(count);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  char chunk[4096];
  for (ssize_t count; (count = ::read(ends[0], chunk, sizeof chunk)) > 0;)
    text.append(chunk, static_cast<std::size_t>(count));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return "killed by signal " + std::to_string(WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return "ended with status " + std::to_string(WEXITSTATUS(status));
  return text;
}

Folder::Folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "isomer-gpu-XXXXXX").string();
  path_ = ::mkdtemp(pattern.data());
}

Folder::~Folder() {
  std::error_code none;
  std::filesystem::remove_all(path_, none);
}

}  // namespace isomer
