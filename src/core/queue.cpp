#include "core/queue_state.hpp"
#include "core/registry.hpp"
#include "core/sentence.hpp"
#include "core/trace.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>

namespace isomer {
namespace {

class HostPool : public core::WorkspacePool {
 public:
  ~HostPool() override { release_all(); }

 private:
  void* allocate(std::size_t bytes) override { return std::aligned_alloc(4096, bytes); }
  void release(void* data) noexcept override { std::free(data); }
};

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

/// ISOMER_CHECKED: 1 or 0, and 0 where it is not set.
bool checked_everywhere() {
  const char* text = std::getenv("ISOMER_CHECKED");
  const std::string_view value = text == nullptr || *text == '\0' ? "0" : text;
  if (value != "0" && value != "1")
    core::fail(ErrorCode::bad_argument, "ISOMER_CHECKED expects 0 or 1, got '", value, "'");
  return value == "1";
}

/// Throws Error bad_argument for a name that no implementation of any op has.
void check_implementation(const std::string& name) {
  std::vector<std::string> known;
  for (const core::Registry::Op& op : core::Registry::builtin().ops())
    for (const auto& implementation : op.implementations) {
      if (implementation->name() == name) return;
      if (std::find(known.begin(), known.end(), implementation->name()) == known.end())
        known.push_back(implementation->name());
    }
  core::fail(ErrorCode::bad_argument, "queue: an implementation expected (", core::either(known), "), got '",
             name, "'");
}

}  // namespace

namespace core {

WorkspacePool::Block WorkspacePool::take(std::size_t bytes) {
  const bool in_capture = capturing();
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < free_.size(); ++i)
      if (free_[i].bytes >= bytes) {
        const Block block = free_[i];
        if (in_capture) captured_.insert(block.data);
        free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
        return block;
      }
    // A larger one takes the place of another.
    const auto spare = std::find_if(free_.rbegin(), free_.rend(),
                                    [&](const Block& block) { return !captured_.contains(block.data); });
    if (!in_capture && spare != free_.rend()) {
      release(spare->data);
      free_.erase(std::next(spare).base());
    }
  }
  const std::size_t rounded = (bytes + 4095) / 4096 * 4096;
  void* data = rounded < bytes ? nullptr : allocate(rounded);
  if (data == nullptr)
    fail(ErrorCode::out_of_memory, "queue: no memory for a workspace of ", bytes,
         " bytes; free some, or make the call smaller");
  return {data, rounded};
}

void WorkspacePool::give(Block block) {
  const std::lock_guard lock(mutex_);
  free_.push_back(block);
}

void WorkspacePool::release_all() noexcept {
  for (const Block& block : free_) release(block.data);
  free_.clear();
}

}  // namespace core

Queue::State::State(Device on, QueueOptions with) : id(next_id()), device(on), options(std::move(with)) {
  core::trace_where_asked();
  options.checked = checked_everywhere() || options.checked;
  if (!options.implementation.empty()) check_implementation(options.implementation);
  if (!options.executor) options.executor = Executor::standard();
  const int threads = options.executor->concurrency();
  if (threads < 1 || threads > Executor::kMaxConcurrency)
    core::fail(ErrorCode::bad_argument, "queue: executor has a concurrency of ", threads, ", expected 1 to ",
               Executor::kMaxConcurrency);
}

void Queue::State::fetch(void* host, const void* device, std::size_t bytes) const {
  std::memcpy(host, device, bytes);
}

Queue Queue::cpu(QueueOptions options) {
  auto state = std::make_shared<State>(Device{}, std::move(options));
  state->pool = std::make_shared<HostPool>();
  return Queue(std::move(state));
}

Queue Queue::preparing() const {
  Queue queue = *this;
  queue.preparing_ = true;
  return queue;
}

Device Queue::device() const { return state_->device; }
const QueueOptions& Queue::options() const { return state_->options; }
Executor& Queue::executor() const { return *state_->options.executor; }
void* Queue::stream() const { return state_->stream(); }
void Queue::synchronize() const { state_->synchronize(); }

Queue::Lease Queue::lease(std::size_t bytes) const {
  Lease lease;
  if (bytes == 0) return lease;
  const core::WorkspacePool::Block block = state_->pool->take(bytes);
  lease.state_ = state_->pool;
  lease.data_ = block.data;
  lease.bytes_ = block.bytes;
  return lease;
}

Queue::Lease::Lease(Lease&& other) noexcept
    : state_(std::move(other.state_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

Queue::Lease& Queue::Lease::operator=(Lease&& other) noexcept {
  std::swap(state_, other.state_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Queue::Lease::~Lease() {
  if (data_ != nullptr) static_cast<core::WorkspacePool*>(state_.get())->give({data_, bytes_});
}

}  // namespace isomer
