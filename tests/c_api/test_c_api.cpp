#include "calls.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace {

class CApi : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(isomer_queue_cpu(nullptr, &queue), ISOMER_OK); }
  void TearDown() override { isomer_queue_free(queue); }

  isomer_queue* queue = nullptr;
  std::vector<float> x = {0.0f, 0.5f, 1.0f, -2.0f, 100.0f};
  std::vector<float> y = std::vector<float>(5, -1.0f);
};

TEST_F(CApi, ComputesWhatCxxDoes) {
  ASSERT_EQ(sine_of_row(queue, x.data(), y.data(), 5), ISOMER_OK);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(y[i], std::sin(x[i]), 1e-6f);
  EXPECT_EQ(isomer_queue_synchronize(queue), ISOMER_OK);
}

TEST_F(CApi, ReportsAFailureAsStatusAndSentence) {
  EXPECT_EQ(sine_of_row(queue, nullptr, y.data(), 5), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "sin: x has null data, expected 5 elements");
  EXPECT_EQ(y, std::vector<float>(5, -1.0f));
}

TEST_F(CApi, KeepsTheSentenceOfEachThreadApart) {
  EXPECT_EQ(sine_of_row(queue, nullptr, y.data(), 5), ISOMER_BAD_ARGUMENT);
  const std::string here = isomer_last_error();
  std::thread([&] {
    EXPECT_STREQ(isomer_last_error(), "");
    EXPECT_EQ(sine_of_row(nullptr, x.data(), y.data(), 5), ISOMER_BAD_ARGUMENT);
    EXPECT_STREQ(isomer_last_error(), "sin: queue is null");
  }).join();
  EXPECT_EQ(isomer_last_error(), here);
}

TEST_F(CApi, KeepsTheSentenceThroughCallsThatSucceed) {
  EXPECT_EQ(sine_of_row(nullptr, x.data(), y.data(), 5), ISOMER_BAD_ARGUMENT);
  EXPECT_EQ(sine_of_row(queue, x.data(), y.data(), 5), ISOMER_OK);
  EXPECT_STREQ(isomer_last_error(), "sin: queue is null");
}

TEST_F(CApi, CutsASentenceTooLongForItsBufferBetweenCharacters) {
  std::string path = "/nowhere/";
  while (path.size() < 3000) path += "ä";
  isomer_bundle* bundle = nullptr;
  EXPECT_EQ(isomer_load(path.c_str(), &bundle), ISOMER_IO);
  const std::string sentence = isomer_last_error();
  EXPECT_GT(sentence.size(), 1000u);
  EXPECT_LT(sentence.size(), 1024u);
  EXPECT_EQ(sentence.substr(sentence.size() - 2), "ä");
}

TEST_F(CApi, NamesTheArgumentOfATensorThatItCannotHold) {
  isomer_int64 shape[1] = {5};
  isomer_tensor from = {x.data(), {ISOMER_CPU, 0}, 9, ISOMER_F32, shape, nullptr, 0};
  isomer_tensor to = {y.data(), {ISOMER_CPU, 0}, 1, ISOMER_F32, shape, nullptr, 0};
  isomer_sin_args args = ISOMER_SIN_ARGS_INIT;
  args.x = &from;
  args.y = &to;
  EXPECT_EQ(isomer_sin(queue, &args, nullptr), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "sin: x: at most 8 dimensions expected, got ndim 9");
  args.x = nullptr;
  EXPECT_EQ(isomer_sin(queue, &args, nullptr), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "sin: x is required, got no tensor");
  EXPECT_EQ(isomer_sin(queue, nullptr, nullptr), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "sin: args is null");
}

TEST_F(CApi, RefusesAStructWhoseSizeNoHeaderHad) {
  isomer_sin_args args = ISOMER_SIN_ARGS_INIT;
  args.size = 0;
  EXPECT_EQ(isomer_sin(queue, &args, nullptr), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(),
               "sin: args.size is 0, expected 24; begin the struct with its _INIT macro");
  args.size = sizeof args + 8;
  EXPECT_EQ(isomer_sin(queue, &args, nullptr), ISOMER_BAD_ARGUMENT);
  EXPECT_EQ(isomer_last_error(), std::string("sin: args.size is 32, but this library, version ") +
                                     isomer_version() +
                                     ", knows 24; it is older than the header of the program");
  isomer_sin_options options = ISOMER_SIN_OPTIONS_INIT;
  options.size = 4;
  args.size = sizeof args;
  EXPECT_EQ(isomer_sin(queue, &args, &options), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(),
               "sin: options.size is 4, expected 8; begin the struct with its _INIT macro");
}

TEST_F(CApi, TakesAQueuesImplementationThreadsAndExecutor) {
  isomer_queue* other = nullptr;
  isomer_queue_options options = ISOMER_QUEUE_OPTIONS_INIT;
  options.implementation = "cpu/scalar";
  options.threads = 2;
  ASSERT_EQ(isomer_queue_cpu(&options, &other), ISOMER_OK);
  EXPECT_EQ(sine_of_row(other, x.data(), y.data(), 5), ISOMER_OK);
  isomer_queue_free(other);

  options.implementation = "cpu/abacus";
  EXPECT_EQ(isomer_queue_cpu(&options, &other), ISOMER_BAD_ARGUMENT);
  EXPECT_EQ(other, nullptr);
  EXPECT_TRUE(std::string(isomer_last_error()).ends_with("), got 'cpu/abacus'")) << isomer_last_error();

  static std::atomic<int> pieces{0};
  isomer_executor executor = ISOMER_EXECUTOR_INIT;
  executor.concurrency = [](void*) { return 1; };
  executor.parallel_for = [](void*, isomer_int64 count, isomer_task task, void* context) {
    for (isomer_int64 i = 0; i < count; ++i, ++pieces) task(context, i, 0);
  };
  options = ISOMER_QUEUE_OPTIONS_INIT;
  options.executor = &executor;
  ASSERT_EQ(isomer_queue_best(&options, &other), ISOMER_OK);
  EXPECT_EQ(sine_of_row(other, x.data(), y.data(), 5), ISOMER_OK);
  EXPECT_GT(pieces, 0);
  EXPECT_NEAR(y[1], std::sin(0.5f), 1e-6f);
  isomer_queue_free(other);
}

TEST_F(CApi, TakesAQueueOnADevice) {
  isomer_queue* other = nullptr;
  ASSERT_EQ(isomer_queue_on(isomer_device{ISOMER_CPU, 0}, nullptr, nullptr, &other), ISOMER_OK);
  EXPECT_EQ(sine_of_row(other, x.data(), y.data(), 5), ISOMER_OK);
  isomer_queue_free(other);
  EXPECT_EQ(isomer_queue_on(isomer_device{ISOMER_CPU, 0}, &other, nullptr, &other), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "queue: stream is given, and the CPU has none");
  EXPECT_EQ(isomer_queue_on(isomer_device{7, 0}, nullptr, nullptr, &other), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(),
               "queue_on: device: a cpu, cuda, hip or emulated device expected, got DLPack device type 7");
  EXPECT_EQ(isomer_queue_on(isomer_device{ISOMER_EMULATED, 0}, nullptr, nullptr, &other), ISOMER_DEVICE);
  EXPECT_STREQ(isomer_last_error(), "queue: emulated:0: this program does not link the emulator");
  EXPECT_EQ(isomer_queue_on(isomer_device{ISOMER_CUDA, -1}, nullptr, nullptr, &other), ISOMER_DEVICE);
  EXPECT_EQ(other, nullptr);
}

TEST_F(CApi, TellsTheDevicesOfTheMachine) {
  isomer_int64 count = 0;
  ASSERT_EQ(isomer_device_count(&count), ISOMER_OK);
  ASSERT_GE(count, 1);
  for (isomer_int64 i = 0; i < count; ++i) {
    isomer_device_info info = ISOMER_DEVICE_INFO_INIT;
    ASSERT_EQ(isomer_device_info_of(i, &info), ISOMER_OK) << isomer_last_error();
    EXPECT_EQ(info.device.device_type == ISOMER_CPU, i == 0);
    EXPECT_EQ(info.memory_bytes > 0, i > 0);
    EXPECT_STRNE(info.name, "");
    EXPECT_STRNE(info.architecture, "");
    isomer_queue* on = nullptr;
    EXPECT_EQ(isomer_queue_on(info.device, nullptr, nullptr, &on), ISOMER_OK) << isomer_last_error();
    isomer_queue_free(on);
  }
  isomer_device_info info = ISOMER_DEVICE_INFO_INIT;
  for (const isomer_int64 index : {isomer_int64{-1}, count}) {
    EXPECT_EQ(isomer_device_info_of(index, &info), ISOMER_BAD_ARGUMENT);
    EXPECT_EQ(isomer_last_error(), "device_info_of: index is " + std::to_string(index) + ", expected 0 to " +
                                       std::to_string(count - 1));
  }
  info.size = 8;
  EXPECT_EQ(isomer_device_info_of(0, &info), ISOMER_BAD_ARGUMENT);
  EXPECT_EQ(isomer_device_info_of(0, nullptr), ISOMER_BAD_ARGUMENT);
  EXPECT_EQ(isomer_device_count(nullptr), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "device_count: count is null");
}

TEST_F(CApi, ExplainsAPlan) {
  isomer_int64 shape[1] = {5};
  const isomer_tensor from = {x.data(), {ISOMER_CPU, 0}, 1, ISOMER_F32, shape, nullptr, 0};
  const isomer_tensor to = {y.data(), {ISOMER_CPU, 0}, 1, ISOMER_F32, shape, nullptr, 0};
  isomer_sin_args args = ISOMER_SIN_ARGS_INIT;
  args.x = &from;
  args.y = &to;
  isomer_plan* plan = nullptr;
  ASSERT_EQ(isomer_plan_sin(queue, &args, nullptr, &plan), ISOMER_OK) << isomer_last_error();
  isomer_uint64 bytes = 0;
  ASSERT_EQ(isomer_plan_explain(plan, nullptr, 0, &bytes), ISOMER_OK) << isomer_last_error();
  ASSERT_GT(bytes, 100u);
  std::vector<char> text(bytes, 'x');
  EXPECT_EQ(isomer_plan_explain(plan, text.data(), bytes - 1, &bytes), ISOMER_BAD_ARGUMENT);
  EXPECT_EQ(isomer_last_error(), "plan_explain: capacity is " + std::to_string(bytes - 1) +
                                     " bytes, expected " + std::to_string(bytes));
  EXPECT_EQ(text, std::vector<char>(bytes, 'x'));
  ASSERT_EQ(isomer_plan_explain(plan, text.data(), bytes, &bytes), ISOMER_OK) << isomer_last_error();
  EXPECT_EQ(text.back(), '\0');
  const char* implementation = nullptr;
  ASSERT_EQ(isomer_plan_implementation(plan, &implementation), ISOMER_OK);
  const auto json = nlohmann::json::parse(text.data());
  EXPECT_EQ(json["op"], "sin");
  EXPECT_EQ(json["implementation"], implementation);
  EXPECT_EQ(json["launches"].size(), 1u);
  EXPECT_EQ(json["launches"][0]["grid"].size(), 3u);
  EXPECT_TRUE(json["launches"][0]["registers"].is_null());
  EXPECT_EQ(json["workspace_bytes"], 0);
  EXPECT_EQ(isomer_plan_explain(plan, text.data(), bytes, nullptr), ISOMER_BAD_ARGUMENT);
  EXPECT_EQ(isomer_plan_explain(nullptr, text.data(), bytes, &bytes), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "plan_explain: plan is null");
  isomer_plan_free(plan);
}

TEST_F(CApi, LeasesMemoryOfTheQueuesPool) {
  isomer_lease* lease = nullptr;
  void* data = nullptr;
  ASSERT_EQ(isomer_queue_lease(queue, 1000, &lease, &data), ISOMER_OK) << isomer_last_error();
  ASSERT_NE(data, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 64, 0u);
  std::memset(data, 1, 1000);
  isomer_lease_free(lease);
  EXPECT_EQ(isomer_queue_lease(queue, ~isomer_uint64{0}, &lease, &data), ISOMER_OUT_OF_MEMORY);
  EXPECT_EQ(lease, nullptr);
  EXPECT_EQ(data, nullptr);
  EXPECT_EQ(isomer_queue_lease(nullptr, 8, &lease, &data), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "queue_lease: queue is null");
  EXPECT_EQ(isomer_queue_lease(queue, 8, &lease, nullptr), ISOMER_BAD_ARGUMENT);
  EXPECT_EQ(isomer_queue_lease(queue, 8, nullptr, &data), ISOMER_BAD_ARGUMENT);
  isomer_lease_free(nullptr);
}

TEST_F(CApi, RefusesQueueOptionsThatContradictThemselves) {
  isomer_queue* other = queue;
  isomer_queue_options options = ISOMER_QUEUE_OPTIONS_INIT;
  options.threads = -1;
  EXPECT_EQ(isomer_queue_cpu(&options, &other), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "queue_cpu: threads is -1, expected 0 or more");
  EXPECT_EQ(other, nullptr);
  isomer_executor executor = ISOMER_EXECUTOR_INIT;
  options.executor = &executor;
  options.threads = 0;
  EXPECT_EQ(isomer_queue_best(&options, &other), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "queue_best: executor has no concurrency function");
  options.threads = 2;
  EXPECT_EQ(isomer_queue_best(&options, &other), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "queue_best: threads and executor are both given; one of them decides");
  options.threads = INT32_MIN;
  EXPECT_EQ(isomer_queue_cpu(&options, &other), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "queue_cpu: threads is -2147483648, expected 0 or more");
  options.threads = 4097;
  options.executor = nullptr;
  EXPECT_EQ(isomer_queue_cpu(&options, &other), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "executor: at most 4096 threads expected, got 4097");
  options.threads = 0;
  options.executor = &executor;
  executor.concurrency = [](void*) { return 0; };
  EXPECT_EQ(isomer_queue_cpu(&options, &other), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "queue_cpu: executor has no parallel_for function");
  executor.parallel_for = [](void*, isomer_int64, isomer_task, void*) {};
  EXPECT_EQ(isomer_queue_cpu(&options, &other), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "queue: executor has a concurrency of 0, expected 1 to 4096");
  for (const isomer_uint64 size : {isomer_uint64{0}, isomer_uint64{8}, UINT64_MAX}) {
    executor.size = size;
    EXPECT_EQ(isomer_queue_cpu(&options, &other), ISOMER_BAD_ARGUMENT);
    EXPECT_TRUE(std::string(isomer_last_error())
                    .starts_with("queue_cpu: executor.size is " + std::to_string(size) + ", "))
        << isomer_last_error();
    isomer_queue_options sized = ISOMER_QUEUE_OPTIONS_INIT;
    sized.size = size;
    EXPECT_EQ(isomer_queue_best(&sized, &other), ISOMER_BAD_ARGUMENT);
    EXPECT_TRUE(std::string(isomer_last_error())
                    .starts_with("queue_best: options.size is " + std::to_string(size) + ", "))
        << isomer_last_error();
  }
  EXPECT_EQ(other, nullptr);
  EXPECT_EQ(isomer_queue_cpu(nullptr, nullptr), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "queue_cpu: queue is null");
  EXPECT_EQ(isomer_queue_best(nullptr, nullptr), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "queue_best: queue is null");
  EXPECT_EQ(isomer_queue_synchronize(nullptr), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "queue_synchronize: queue is null");
  isomer_queue_free(nullptr);
}

TEST_F(CApi, SavesAndLoadsBundles) {
  const std::string path = testing::TempDir() + std::to_string(getpid()) + "c_api.safetensors";
  isomer_bundle* bundle = nullptr;
  ASSERT_EQ(save_and_load(path.c_str(), x.data(), 5, &bundle), ISOMER_OK) << isomer_last_error();
  ASSERT_EQ(isomer_bundle_size(bundle), 1u);
  EXPECT_STREQ(isomer_bundle_name(bundle, 0), "values");
  EXPECT_EQ(isomer_bundle_name(bundle, 1), nullptr);
  EXPECT_EQ(isomer_bundle_tensor(bundle, 1), nullptr);
  const isomer_tensor* values = isomer_bundle_find(bundle, "values");
  ASSERT_EQ(values, isomer_bundle_tensor(bundle, 0));
  EXPECT_EQ(values->shape[0], 5);
  EXPECT_EQ(std::memcmp(values->data, x.data(), 5 * sizeof(float)), 0);
  EXPECT_EQ(isomer_bundle_find(bundle, "other"), nullptr);
  EXPECT_STREQ(isomer_bundle_metadata(bundle, "made by"), "a C program");
  EXPECT_EQ(isomer_bundle_metadata(bundle, "made for"), nullptr);
  isomer_bundle_free(bundle);
  isomer_bundle_free(nullptr);
  std::filesystem::remove(path);
}

TEST_F(CApi, RefusesBundleArgumentsWithASentence) {
  isomer_bundle* bundle = nullptr;
  EXPECT_EQ(isomer_load(nullptr, &bundle), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "load: path is null");
  EXPECT_EQ(isomer_load("x", nullptr), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "load: bundle is null");
  EXPECT_EQ(isomer_save("x", nullptr, 1, nullptr, 0), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "save: tensors is null");
  EXPECT_EQ(isomer_save("x", nullptr, 0, nullptr, 1), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "save: metadata is null");
  isomer_named_tensor tensor = {nullptr, nullptr};
  EXPECT_EQ(isomer_save("x", &tensor, 1, nullptr, 0), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "save: a tensor's name is null");
  tensor.name = "t";
  EXPECT_EQ(isomer_save("x", &tensor, 1, nullptr, 0), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "save: tensor t is absent");
  isomer_text twice[2] = {{"key", "a"}, {"key", "b"}};
  EXPECT_EQ(isomer_save("x", nullptr, 0, twice, 2), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "save: metadata key is there twice");
  isomer_text halves[2] = {{nullptr, "a"}, {"key", nullptr}};
  EXPECT_EQ(isomer_save("x", nullptr, 0, halves, 1), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "save: a metadata key is null");
  EXPECT_EQ(isomer_save("x", nullptr, 0, halves + 1, 1), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "save: a metadata value is null");
  EXPECT_EQ(isomer_save(nullptr, nullptr, 0, nullptr, 0), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "save: path is null");
  EXPECT_EQ(isomer_save("", nullptr, 0, nullptr, 0), ISOMER_IO);
  EXPECT_EQ(bundle, nullptr);
  EXPECT_EQ(isomer_bundle_size(nullptr), 0u);
  EXPECT_EQ(isomer_bundle_name(nullptr, 0), nullptr);
  EXPECT_EQ(isomer_bundle_find(nullptr, "x"), nullptr);
  EXPECT_EQ(isomer_bundle_metadata(nullptr, "x"), nullptr);
}

TEST_F(CApi, SavesNoTensorThatItCannotHold) {
  const std::string path = testing::TempDir() + std::to_string(getpid()) + "c_api_refused.safetensors";
  isomer_int64 shape[2] = {2, 2}, strides[2] = {2, 1};
  const isomer_tensor good = {x.data(), {ISOMER_CPU, 0}, 2, ISOMER_F32, shape, strides, 0};
  isomer_tensor tensor = good;
  const isomer_named_tensor named = {"t", &tensor};
  const auto refused = [&](const char* sentence) {
    EXPECT_EQ(isomer_save(path.c_str(), &named, 1, nullptr, 0), ISOMER_BAD_ARGUMENT);
    EXPECT_STREQ(isomer_last_error(), sentence);
    EXPECT_FALSE(std::filesystem::exists(path));
    tensor = good;
    shape[0] = 2, strides[0] = 2;
  };
  tensor.ndim = INT32_MIN;
  refused("save: t: at most 8 dimensions expected, got ndim -2147483648");
  tensor.ndim = 9;
  refused("save: t: at most 8 dimensions expected, got ndim 9");
  tensor.shape = nullptr;
  refused("save: t: shape expected, got null");
  tensor.dtype.bits = 5;
  refused("save: t: a dtype of isomer expected, got DLPack code 2, 5 bits, 1 lanes");
  tensor.device.device_type = 7;
  refused("save: t: a cpu, cuda, hip or emulated device expected, got DLPack device type 7");
  tensor.device.device_type = ISOMER_HIP;
  refused("save: tensor t is on hip:0, expected cpu; copy it to the host first");
  tensor.data = nullptr;
  refused("save: tensor t has no data");
  shape[0] = -1;
  refused("save: tensor t has size -1 in dimension 0, expected 0 or more");
  shape[0] = INT64_MAX;
  refused("save: tensor t spans more bytes than an address has");
  strides[0] = INT64_MIN;
  refused("save: tensor t has stride -9223372036854775808 in dimension 0, expected 0 or more");
  strides[0] = INT64_MAX;
  refused("save: tensor t spans more bytes than an address has");
  EXPECT_EQ(isomer_save(path.c_str(), &named, 1, nullptr, 0), ISOMER_OK) << isomer_last_error();
  std::filesystem::remove(path);
}

TEST_F(CApi, SavesATensorAtAnyAddress) {
  const std::string path = testing::TempDir() + std::to_string(getpid()) + "c_api_unaligned.safetensors";
  std::vector<unsigned char> bytes(1 + 2 * sizeof(float));
  std::memcpy(bytes.data() + 1, x.data() + 1, 2 * sizeof(float));
  isomer_int64 shape[1] = {2};
  const isomer_tensor tensor = {bytes.data(), {ISOMER_CPU, 0}, 1, ISOMER_F32, shape, nullptr, 1};
  const isomer_named_tensor named = {"t", &tensor};
  ASSERT_EQ(isomer_save(path.c_str(), &named, 1, nullptr, 0), ISOMER_OK) << isomer_last_error();
  isomer_bundle* bundle = nullptr;
  ASSERT_EQ(isomer_load(path.c_str(), &bundle), ISOMER_OK) << isomer_last_error();
  EXPECT_EQ(std::memcmp(isomer_bundle_find(bundle, "t")->data, x.data() + 1, 2 * sizeof(float)), 0);
  isomer_bundle_free(bundle);
  std::filesystem::remove(path);
}

TEST(CHeader, WorksInC) {
  EXPECT_EQ(start_values_are_accepted(), 1);
  EXPECT_EQ(type_of(4).code, 10);
  EXPECT_STREQ(isomer_version(), ISOMER_VERSION);
}

}  // namespace
