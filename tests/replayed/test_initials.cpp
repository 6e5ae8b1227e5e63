// Sizes by the letters that a label or a test has for them; and sums that many threads add to.
#include <gtest/gtest.h>

#include "lab/ask/recorded/binding.hpp"
#include "lab/ask/recorded/label_sizes.hpp"
#include "recorded_call.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace isomer::lab {
namespace {

constexpr const char* kFile = "initials.cu";

enum class Names : std::uint8_t { none, label, test };

Recording mixed(const char* name, Names names) {
  Recording recording;
  struct Sizes {
    std::int64_t batch, mixtures, steps;
  };
  for (const Sizes& each : {Sizes{2, 5, 40}, Sizes{3, 4, 33}}) {
    const std::int64_t batch = each.batch, mixtures = each.mixtures, steps = each.steps;
    Value x = tensor_value("x", DType::f32, {batch, 2 * mixtures, steps});
    for (std::int64_t i = 0; i < x.tensor.numel(); ++i)
      f32(x)[i] = static_cast<float>(std::sin(1.3 * static_cast<double>(i)));
    record(recording, name, {x, tensor_value("y", DType::f32, {batch, steps})}, [=](std::vector<Value>& v) {
      for (std::int64_t b = 0; b < batch; ++b)
        for (std::int64_t t = 0; t < steps; ++t) {
          double sum = 0;
          for (std::int64_t m = 0; m < mixtures; ++m)
            sum += f32(v[0])[(b * 2 * mixtures + m) * steps + t] *
                   f32(v[0])[(b * 2 * mixtures + mixtures + m) * steps + t];
          f32(v[1])[b * steps + t] = static_cast<float>(sum);
        }
    });
    const std::vector<Value> letters = {integer_value("B", batch), integer_value("M", mixtures),
                                        integer_value("T", steps)};
    if (names == Names::label) recording.calls.back().computed = letters;
    if (names == Names::test) recording.calls.back().around = {letters[0], letters[2]};
  }
  return recording;
}

TEST(Initials, OfTheLabelsNumbersSayWhichSizesAFaultyPortIsGiven) {
  const Diagnosis right = judged(kFile, "mixed", mixed("mixed", Names::label));
  EXPECT_EQ(right.verdict(), "pass") << right.error;
  EXPECT_NE(right.called_with.find("batch=2, mixtures=5, steps=40"), std::string::npos) << right.called_with;
  const Diagnosis faulty = judged(kFile, "mixed_short", mixed("mixed_short", Names::label));
  EXPECT_EQ(faulty.verdict(), "fail") << faulty.error;
  EXPECT_NE(faulty.called_with.find("batch=2, mixtures=5, steps=40"), std::string::npos)
      << faulty.called_with;
  // The letters alone say it.
  const Diagnosis guessed = judged(kFile, "mixed_short", mixed("mixed_short", Names::none));
  EXPECT_EQ(guessed.called_with.find("mixtures=5"), std::string::npos) << guessed.called_with;
}

/// What each parameter of a function is passed, by letters alone.
std::vector<int> taken(const std::vector<std::string>& names, const std::vector<Value>& computed,
                       const std::vector<Value>& around, Form& form, Entry& entry) {
  static Recording recording;
  recording = {};
  const Value x = tensor_value("x", DType::f32, {6, 10, 7});
  record(recording, "f", {x, tensor_value("y", DType::f32, {6, 7})},
         [](std::vector<Value>& v) { f32(v[1])[0] = 1; });
  recording.calls.back().computed = computed;
  recording.calls.back().around = around;
  const std::vector<Replayed> calls = replayed_calls(recording, nullptr);
  std::vector<int> unsure;
  for (const std::string& name : names) {
    Parameter parameter;
    parameter.name = name;
    parameter.kind = Parameter::Kind::integer;
    unsure.push_back(static_cast<int>(entry.parameters.size()));
    entry.parameters.push_back(parameter);
  }
  form.entry = &entry;
  form.passings.resize(names.size());
  return take_initials(form, calls, unsure);
}

TEST(Initials, AreTakenWhereOneNameIsMeantAlone) {
  const std::vector<Value> letters = {integer_value("B", 6), integer_value("M", 5), integer_value("T", 7)};
  Form form;
  Entry entry;
  std::vector<int> all = taken({"batch", "mixtures", "n_frames"}, letters, {}, form, entry);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (std::vector<int>{0, 1, 2}));
  for (const Passing& each : form.passings) EXPECT_EQ(each.what, Passing::What::computed);
  // Two that begin with the letter.
  Form two;
  Entry of_two;
  EXPECT_TRUE(taken({"members", "mixtures"}, letters, {}, two, of_two).empty());
  // What the test made its tensors with is the dimension that has that number.
  Form test;
  Entry of_test;
  EXPECT_EQ(taken({"batch", "gain"}, {}, {integer_value("B", 6), integer_value("G", 99)}, test, of_test),
            (std::vector<int>{0}));
  EXPECT_EQ(test.passings[0].what, Passing::What::size);
  EXPECT_EQ(test.passings[0].dim, 0);
}

TEST(Initials, NamesThatAreUsualForOneSizeAreKnown) {
  EXPECT_TRUE(name_one_size("steps", "T"));
  EXPECT_TRUE(name_one_size("topk", "K"));
  EXPECT_FALSE(name_one_size("steps", "B"));
  EXPECT_TRUE(name_other_sizes("batch", "total_tokens"));
  EXPECT_FALSE(name_other_sizes("batch", "bs"));
  EXPECT_FALSE(name_other_sizes("batch", "flavour"));
}

Recording counted(const char* name) {
  Recording recording;
  for (const std::int64_t n : {200, 90}) {
    constexpr std::int64_t kBins = 7;
    Value ids = tensor_value("ids", DType::i32, {n});
    for (std::int64_t i = 0; i < n; ++i)
      static_cast<std::int32_t*>(ids.tensor.data)[i] = static_cast<std::int32_t>(i * i % kBins);
    record(recording, name, {ids, tensor_value("counts", DType::i32, {kBins})}, [=](std::vector<Value>& v) {
      const auto* id = static_cast<const std::int32_t*>(v[0].tensor.data);
      auto* count = static_cast<std::int32_t*>(v[1].tensor.data);
      for (std::int64_t b = 0; b < kBins; ++b) count[b] = 0;
      for (std::int64_t i = 0; i < n; ++i) ++count[id[i]];
    });
  }
  return recording;
}

TEST(Initials, ASumThatManyThreadsAddToLacksAnAtomicOperationAndNoBarrier) {
  expect_told(judged(kFile, "counted", counted("counted")), {}, "");
  expect_told(judged(kFile, "counted_plain", counted("counted_plain")), {Code::race}, "own");
  expect_told(judged(kFile, "counted_tree", counted("counted_tree")), {Code::missing_barrier}, "");
}

}  // namespace
}  // namespace isomer::lab
