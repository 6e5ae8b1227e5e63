#include <isomer/queue.hpp>

#include "core/sentence.hpp"

#include <cstdlib>
#include <mutex>
#include <new>
#include <string_view>
#include <vector>

namespace isomer {
namespace {

/// Blocks of one queue that no call holds at the moment. Kept until the queue goes.
struct Pool {
  struct Block {
    void* data;
    std::size_t bytes;
  };
  std::mutex mutex;
  std::vector<Block> free;

  ~Pool() {
    for (const Block& block : free) std::free(block.data);
  }

  Block take(std::size_t bytes) {
    {
      const std::lock_guard lock(mutex);
      for (std::size_t i = 0; i < free.size(); ++i)
        if (free[i].bytes >= bytes) {
          const Block block = free[i];
          free.erase(free.begin() + static_cast<std::ptrdiff_t>(i));
          return block;
        }
      // A larger one takes the place of the smallest.
      if (!free.empty()) {
        std::free(free.back().data);
        free.pop_back();
      }
    }
    const std::size_t rounded = (bytes + 4095) / 4096 * 4096;
    void* data = rounded < bytes ? nullptr : std::aligned_alloc(4096, rounded);
    if (data == nullptr)
      core::fail(ErrorCode::out_of_memory, "queue: no memory for a workspace of ", bytes, " bytes");
    return {data, rounded};
  }

  void give(Block block) {
    const std::lock_guard lock(mutex);
    free.push_back(block);
  }
};

bool environment_says(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace

struct Queue::State {
  Device device;
  QueueOptions options;
  std::shared_ptr<Pool> pool = std::make_shared<Pool>();
};

Queue Queue::cpu(QueueOptions options) {
  auto state = std::make_shared<State>();
  state->options = std::move(options);
  state->options.checked = state->options.checked || environment_says("ISOMER_CHECKED");
  if (!state->options.executor) state->options.executor = Executor::standard();
  const int threads = state->options.executor->concurrency();
  if (threads < 1 || threads > Executor::kMaxConcurrency)
    core::fail(ErrorCode::bad_argument, "queue: executor has a concurrency of ", threads, ", expected 1 to ",
               Executor::kMaxConcurrency);
  return Queue(std::move(state));
}

Queue Queue::best(QueueOptions options) { return cpu(std::move(options)); }

Device Queue::device() const { return state_->device; }
const QueueOptions& Queue::options() const { return state_->options; }
Executor& Queue::executor() const { return *state_->options.executor; }
void Queue::synchronize() const {}

Queue::Lease Queue::lease(std::size_t bytes) const {
  Lease lease;
  if (bytes == 0) return lease;
  const Pool::Block block = state_->pool->take(bytes);
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
  if (data_ != nullptr) static_cast<Pool*>(state_.get())->give({data_, bytes_});
}

}  // namespace isomer
