#include "c_api/entry.hpp"
#include "core/sentence.hpp"

namespace isomer::c {
namespace {

/// An executor of the caller's.
class GivenExecutor : public Executor {
 public:
  explicit GivenExecutor(const isomer_executor& given) : given_(given) {}
  int concurrency() const override { return given_.concurrency(given_.context); }
  void parallel_for(std::int64_t count, Task task, void* context) override {
    given_.parallel_for(given_.context, count, task, context);
  }

 private:
  isomer_executor given_;
};

std::shared_ptr<Executor> executor_of(std::string_view entry, const isomer_queue_options& options) {
  if (options.threads < 0)
    core::fail(ErrorCode::bad_argument, entry, ": threads is ", options.threads, ", expected 0 or more");
  if (options.executor == nullptr)
    return options.threads == 0 ? nullptr : Executor::with_threads(options.threads);
  if (options.threads != 0)
    core::fail(ErrorCode::bad_argument, entry, ": threads and executor are both given; one of them decides");
  constexpr isomer_executor kNone = ISOMER_EXECUTOR_INIT;
  const isomer_executor given = read(entry, "executor", options.executor, kNone);
  if (given.concurrency == nullptr || given.parallel_for == nullptr)
    core::fail(ErrorCode::bad_argument, entry, ": executor has no ",
               given.concurrency == nullptr ? "concurrency" : "parallel_for", " function");
  return std::make_shared<GivenExecutor>(given);
}

template <class On>
isomer_status make(std::string_view entry, On on, const isomer_queue_options* options, isomer_queue** queue) {
  return guarded([&] {
    check_given(entry, "queue", queue);
    *queue = nullptr;
    constexpr isomer_queue_options kDefaults = ISOMER_QUEUE_OPTIONS_INIT;
    const isomer_queue_options given =
        options == nullptr ? kDefaults : read(entry, "options", options, kDefaults);
    *queue =
        new isomer_queue{on({.checked = given.checked != 0,
                             .implementation = given.implementation == nullptr ? "" : given.implementation,
                             .executor = executor_of(entry, given)})};
  });
}

}  // namespace
}  // namespace isomer::c

isomer_status isomer_queue_best(const isomer_queue_options* options, isomer_queue** queue) {
  return isomer::c::make("queue_best", isomer::Queue::best, options, queue);
}

isomer_status isomer_queue_cpu(const isomer_queue_options* options, isomer_queue** queue) {
  return isomer::c::make("queue_cpu", isomer::Queue::cpu, options, queue);
}

isomer_status isomer_queue_on(isomer_device device, void* stream, const isomer_queue_options* options,
                              isomer_queue** queue) {
  const auto on = [&](isomer::QueueOptions given) {
    // The tensor's own reading of a device, so that both know the same ones.
    isomer_tensor tensor{};
    tensor.device = device;
    tensor.dtype = ISOMER_F32;
    return isomer::Queue::on(isomer::c::tensor_of("queue_on", "device", &tensor).device, std::move(given),
                             stream);
  };
  return isomer::c::make("queue_on", on, options, queue);
}

isomer_status isomer_queue_preparing(const isomer_queue* queue, isomer_queue** preparing) {
  return isomer::c::guarded([&] {
    isomer::c::check_given("queue_preparing", "preparing", preparing);
    *preparing = nullptr;
    const isomer::Queue& made_ready = isomer::c::queue_of("queue_preparing", queue);
    *preparing = new isomer_queue{made_ready.preparing()};
  });
}

isomer_status isomer_queue_device(const isomer_queue* queue, isomer_device* device) {
  return isomer::c::guarded([&] {
    isomer::c::check_given("queue_device", "device", device);
    const isomer::Queue& asked = isomer::c::queue_of("queue_device", queue);
    *device = isomer::Tensor(nullptr, isomer::DType::f32, {0}, asked.device()).dlpack().device;
  });
}

isomer_status isomer_queue_stream(const isomer_queue* queue, void** stream) {
  return isomer::c::guarded([&] {
    isomer::c::check_given("queue_stream", "stream", stream);
    *stream = isomer::c::queue_of("queue_stream", queue).stream();
  });
}

isomer_status isomer_queue_synchronize(isomer_queue* queue) {
  return isomer::c::guarded([&] { isomer::c::queue_of("queue_synchronize", queue).synchronize(); });
}

void isomer_queue_free(isomer_queue* queue) { delete queue; }

struct isomer_lease {
  isomer::Queue::Lease lease;
};

isomer_status isomer_queue_lease(const isomer_queue* queue, isomer_uint64 bytes, isomer_lease** lease,
                                 void** data) {
  return isomer::c::guarded([&] {
    isomer::c::check_given("queue_lease", "lease", lease);
    *lease = nullptr;
    isomer::c::check_given("queue_lease", "data", data);
    *data = nullptr;
    const isomer::Queue& of = isomer::c::queue_of("queue_lease", queue);
    auto made = std::make_unique<isomer_lease>(isomer_lease{of.lease(static_cast<std::size_t>(bytes))});
    *data = made->lease.data();
    *lease = made.release();
  });
}

void isomer_lease_free(isomer_lease* lease) { delete lease; }
