#include "lab/bench/peers.hpp"

#include "core/sentence.hpp"
#include "lab/bench/measuring.hpp"
#include "lab/text/read_json.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>

namespace isomer::lab {
namespace {

using json = nlohmann::json;

constexpr double kStart = 180;  ///< seconds that importing PyTorch may take on a slow disk
constexpr double kSlack =
    300;  ///< beside the seconds that are asked for: the first calls compile and allocate

json tensor_of(const Tensor& tensor) {
  json shape = json::array(), strides = json::array();
  for (int dim = 0; dim < tensor.rank; ++dim) {
    shape.push_back(tensor.size(dim));
    strides.push_back(tensor.stride(dim));
  }
  return {{"dtype", name_of(tensor.dtype)}, {"shape", shape}, {"strides", strides}};
}

json options_of(const core::Call& call) {
  json options = json::object();
  for (const core::Option& option : call.contract->options) {
    if (option.kind == core::Option::Kind::f32) {
      float number = 0;
      std::memcpy(&number, static_cast<const std::byte*>(call.options_struct) + option.offset, sizeof number);
      options[option.name] = number;
    } else {
      options[option.name] = option.integer_in(call.options_struct);
    }
  }
  return options;
}

std::vector<PeerTime> peers_of(const json& answer) {
  std::vector<PeerTime> peers;
  for (const json& each : answer.at("peers")) {
    PeerTime peer;
    peer.name = each.value("name", "");
    peer.refused = each.value("refused", "");
    peer.rounds = each.value("rounds", 0);
    if (const json& times = each.value("seconds", json::array()); times.size() == 3)
      peer.seconds = {times[0], times[1], times[2]};
    else if (peer.refused.empty())
      peer.refused = "no time was told";
    peers.push_back(std::move(peer));
  }
  return peers;
}

/// A free descriptor above the standard three.
int above_standard(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 3); }

}  // namespace

Peers::Peers(const std::string& python, Device device) : device_(device) {
  if (device.type != DeviceType::cpu && device.type != DeviceType::cuda && device.type != DeviceType::hip)
    core::fail(ErrorCode::unsupported, "bench: PyTorch has no device ", to_string(device),
               ", so there are no peers on it");
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    core::fail(ErrorCode::io, "bench: cannot make a socket: ", std::strerror(errno));
  socket_ = above_standard(ends[0]);
  const int theirs = above_standard(ends[1]);
  close(ends[0]);
  close(ends[1]);
  const std::string text(embedded_peers()), index = std::to_string(device.index);
  // PyTorch calls the devices of either vendor cuda.
  const std::string name = device.type == DeviceType::cpu ? "cpu" : "cuda:" + index;
  const char* const words[] = {python.c_str(), "-c", text.c_str(), name.c_str(), nullptr};
  child_ = fork();
  if (child_ == 0) {
    dup2(theirs, 0);
    dup2(theirs, 1);
    const int none = open("/dev/null", O_WRONLY);
    dup2(none, 2);
    execvp(words[0], const_cast<char**>(words));
    _exit(127);
  }
  const int failed = errno;
  close(theirs);
  if (child_ < 0) core::fail(ErrorCode::io, "bench: cannot start a process: ", std::strerror(failed));
  json first;
  try {
    first = read_json(line(kStart));
    if (!first.is_object()) first = {{"error", "it answered nonsense"}};
  } catch (const Error&) {
    kill(child_, SIGKILL);  // where it is slow; one that has ended keeps its status
    int status = 0;
    waitpid(child_, &status, 0);
    const bool absent = WIFEXITED(status) && WEXITSTATUS(status) == 127;
    child_ = -1;
    first = {{"error", absent ? python + " cannot be run; expected a Python that has PyTorch"
                              : python + " ended before it told of its PyTorch"}};
  }
  if (first.contains("error")) {
    const std::string why = first.value("error", "");
    stop();
    core::fail(ErrorCode::unsupported, "bench: there are no peers: ", why);
  }
  about_ = first.value("torch", "PyTorch");
}

Peers::~Peers() { stop(); }

void Peers::stop() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  if (child_ > 0) {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  child_ = -1;
}

std::string Peers::line(double timeout_seconds) {
  const double end = clock_seconds() + timeout_seconds;
  for (;;) {
    if (const auto at = read_.find('\n'); at != std::string::npos) {
      std::string line = read_.substr(0, at);
      read_.erase(0, at + 1);
      return line;
    }
    const double left = end - clock_seconds();
    pollfd ready{socket_, POLLIN, 0};
    if (left <= 0 || (poll(&ready, 1, static_cast<int>(std::min(left, 1e6) * 1000) + 1) == 0))
      core::fail(ErrorCode::io, "bench: the peers gave no answer in ", timeout_seconds, " s");
    char bytes[65536];
    const ssize_t count = recv(socket_, bytes, sizeof bytes, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) core::fail(ErrorCode::io, "bench: the process of the peers ended");
    read_.append(bytes, static_cast<std::size_t>(count));
  }
}

std::vector<PeerTime> Peers::measure(const core::Call& call, double seconds) {
  json request = {
      {"op", call.contract->op},
      {"device", device_.type == DeviceType::cpu ? "cpu" : "cuda:" + std::to_string(device_.index)},
      {"seconds", seconds},
      {"tensors", json::object()},
      {"options", options_of(call)}};
  for (int i = 0; i < call.count; ++i)
    if (call.tensor(i).defined())
      request["tensors"][call.contract->args[static_cast<std::size_t>(i)].name] = tensor_of(call.tensor(i));
  const std::string text = request.dump() + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t count = send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) core::fail(ErrorCode::io, "bench: the process of the peers ended");
    sent += static_cast<std::size_t>(count);
  }
  const json answer = read_json(line(20 * seconds + kSlack));
  std::vector<PeerTime> peers;
  try {
    peers = peers_of(answer);
  } catch (const json::exception&) {  // of another shape
    core::fail(ErrorCode::io, "bench: the peers answered nonsense");
  }
  return peers;
}

}  // namespace isomer::lab
