// Recordings of calls: what is written comes back, and what is no recording is refused with one sentence.
#include "lab/record/recording_format.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;

class RecordedCalls : public testing::Test {
 protected:
  RecordedCalls() : folder(testing::TempDir() + "recorded_calls_" + std::to_string(getpid())) {
    fs::create_directories(folder);
  }
  ~RecordedCalls() override { fs::remove_all(folder); }
  std::string path() const { return folder / "r.safetensors"; }
  Recording again(const Recording& recording) const {
    save_recording(path(), recording);
    return load_recording(path());
  }
  fs::path folder;
};

/// A [rows, 3] f16 view of every second row of a buffer, from its second element on; the buffer counts up.
Value view(const std::string& name, std::int64_t rows) {
  Value value = tensor_value(name, DType::f16, {rows * 8 + 1});
  for (std::size_t i = 0; i < value.storage_bytes; ++i)
    static_cast<std::uint8_t*>(value.storage.get())[i] = static_cast<std::uint8_t>(i);
  value.storage_offset = 2;
  value.tensor =
      Tensor::strided(static_cast<std::byte*>(value.storage.get()) + 2, DType::f16, {rows, 3}, {8, 1});
  return value;
}

bool same_bytes(const Value& a, const Value& b) {
  return a.storage_bytes == b.storage_bytes &&
         (a.storage_bytes == 0 || std::memcmp(a.storage.get(), b.storage.get(), a.storage_bytes) == 0);
}

TEST_F(RecordedCalls, WhatTheRecorderAskedForComesBackApartFromTheCalls) {
  RecordedCall call{.function = "f", .before = {view("x", 4)}, .keyword = {false}};
  call.left_out = {real_value("eps", 1e-5), boolean_value("causal", true)};
  RecordedCall asked = call;
  asked.asked = "large";
  const Recording back = again({.calls = {call}, .asked = {asked, asked}});
  ASSERT_EQ(back.calls.size(), 1u);
  ASSERT_EQ(back.asked.size(), 2u);
  EXPECT_EQ(back.calls[0].asked, "");
  EXPECT_EQ(back.asked[1].asked, "large");
  EXPECT_TRUE(same_bytes(back.asked[1].before[0], call.before[0]));
  ASSERT_EQ(back.calls[0].left_out.size(), 2u);
  EXPECT_EQ(back.calls[0].left_out[0].name, "eps");
  EXPECT_EQ(back.calls[0].left_out[0].real, 1e-5);
  EXPECT_EQ(back.calls[0].left_out[1].kind, Value::Kind::boolean);
  EXPECT_TRUE(back.metadata.empty());
}

/// A call of one argument that it writes, and what two edits of its text answer.
Recording with_edits() {
  const RecordedCall call{
      .function = "f", .before = {view("x", 4)}, .keyword = {false}, .after = {view("x", 4)}};
  Recording recording{.calls = {call, call}};
  recording.edited.calls = {{1, {{false, 0, {0, 11}}}}};
  recording.edited.edits = {{3, "x * w", "x", "missing-scale", {1.5f, -2.0f}},
                            {4, "x < n", "x <= n", "off-by-one", {0.0f, 7.0f}}};
  return recording;
}

TEST_F(RecordedCalls, WhatEditsOfTheLabelAnswerComesBack) {
  const EditedReference edited = again(with_edits()).edited;
  ASSERT_EQ(edited.calls.size(), 1u);
  EXPECT_EQ(edited.calls[0].call, 1u);
  ASSERT_EQ(edited.calls[0].outputs.size(), 1u);
  EXPECT_FALSE(edited.calls[0].outputs[0].returned);
  EXPECT_EQ(edited.calls[0].outputs[0].at, (std::vector<std::int64_t>{0, 11}));
  ASSERT_EQ(edited.edits.size(), 2u);
  EXPECT_EQ(edited.edits[0].line, 3);
  EXPECT_EQ(edited.edits[0].was, "x * w");
  EXPECT_EQ(edited.edits[0].becomes, "x");
  EXPECT_EQ(edited.edits[0].code, "missing-scale");
  EXPECT_EQ(edited.edits[0].answers, (std::vector<float>{1.5f, -2.0f}));
  EXPECT_EQ(edited.edits[1].answers, (std::vector<float>{0.0f, 7.0f}));
}

TEST_F(RecordedCalls, EditsOfALabelThatDoNotFitItsCallsAreRefused) {
  const auto refusal = [&](const auto& spoil) {
    Recording recording = with_edits();
    spoil(recording.edited);
    try {
      again(recording);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(refusal([](EditedReference&) {}), "none");
  EXPECT_NE(refusal([](EditedReference& e) {
              e.calls[0].call = 2;
            }).find("call is 2, expected a number from 0 to 1"),
            std::string::npos);
  EXPECT_NE(refusal([](EditedReference& e) { e.calls[0].outputs[0].returned = true; }).find("index is 0"),
            std::string::npos);
  EXPECT_NE(refusal([](EditedReference& e) { e.calls[0].outputs[0].at[0] = 12; }).find("at is 12"),
            std::string::npos);
  EXPECT_NE(
      refusal([](EditedReference& e) { e.edits[0].answers.pop_back(); }).find("has 3 elements, expected 4"),
      std::string::npos);
}

TEST_F(RecordedCalls, WhatTheLabelLeavesUnsetComesBackAndHasTheShapeOfTheAnswer) {
  Value unset = tensor_value("", DType::u8, {4, 3});
  unset.boolean = true;
  static_cast<std::uint8_t*>(unset.storage.get())[7] = 1;
  RecordedCall call{.function = "f", .before = {view("x", 4)}, .keyword = {false}};
  call.after = {deep_copy(call.before[0])};
  call.returned = {tensor_value("", DType::f32, {4, 3}), real_value("", 1)};
  call.unset = {unset, Value()};
  const Recording back = again({.calls = {call}});
  ASSERT_EQ(back.calls[0].unset.size(), 2u);
  EXPECT_TRUE(same_bytes(back.calls[0].unset[0], unset));
  EXPECT_FALSE(back.calls[0].unset[1].is_tensor());
  call.unset = {tensor_value("", DType::u8, {4, 2}), Value()};
  call.unset[0].boolean = true;
  save_recording(path(), {.calls = {call}});
  EXPECT_THROW(load_recording(path()), Error);
}

TEST_F(RecordedCalls, AViewComesBackInItsWholeStorage) {
  RecordedCall call{.function = "f", .before = {view("x", 4)}, .keyword = {true}, .group = "case 1"};
  call.after = {deep_copy(call.before[0])};
  static_cast<std::uint8_t*>(call.after[0].storage.get())[5] = 0xee;
  const Recording back = again({{call}, {{"answers", "torch"}}});
  ASSERT_EQ(back.calls.size(), 1u);
  const RecordedCall& got = back.calls[0];
  EXPECT_EQ(got.function, "f");
  EXPECT_EQ(got.group, "case 1");
  EXPECT_EQ(got.keyword, std::vector<bool>{true});
  ASSERT_EQ(got.before.size(), 1u);
  const Value& x = got.before[0];
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.tensor.describe(), "f16[4, 3] strides [8, 1]");
  EXPECT_EQ(x.storage_offset, 2u);
  EXPECT_EQ(static_cast<std::byte*>(x.tensor.data) - static_cast<std::byte*>(x.storage.get()), 2);
  EXPECT_TRUE(same_bytes(x, call.before[0]));
  ASSERT_EQ(got.after.size(), 1u);
  EXPECT_TRUE(same_bytes(got.after[0], call.after[0]));
  EXPECT_FALSE(same_bytes(got.after[0], x));
  EXPECT_EQ(back.metadata, (std::map<std::string, std::string>{{"answers", "torch"}}));
}

TEST_F(RecordedCalls, ScalarsOfEveryKindComeBack) {
  RecordedCall call{.function = "f"};
  call.before = {integer_value("n", INT64_MIN), real_value("s", 0.1), real_value("nan", NAN),
                 real_value("down", -INFINITY), boolean_value("causal", true)};
  Value text, dtype, nothing, list;
  text.kind = Value::Kind::text, text.text = "\"naïve\"\n";
  dtype.kind = Value::Kind::dtype, dtype.text = "bf16";
  list.kind = Value::Kind::list, list.items = {integer_value("", 3), nothing};
  call.before.insert(call.before.end(), {text, dtype, nothing, list});
  call.raised = "ValueError: no";
  const RecordedCall got = again({{call}, {}}).calls.at(0);
  ASSERT_EQ(got.before.size(), 9u);
  EXPECT_EQ(got.before[0].integer, INT64_MIN);
  EXPECT_EQ(got.before[1].real, 0.1);
  EXPECT_TRUE(std::isnan(got.before[2].real));
  EXPECT_EQ(got.before[3].real, -INFINITY);
  EXPECT_EQ(got.before[4].kind, Value::Kind::boolean);
  EXPECT_EQ(got.before[4].integer, 1);
  EXPECT_EQ(got.before[5].text, text.text);
  EXPECT_EQ(got.before[6].text, "bf16");
  EXPECT_EQ(got.before[7].kind, Value::Kind::none);
  ASSERT_EQ(got.before[8].items.size(), 2u);
  EXPECT_EQ(got.before[8].items[0].integer, 3);
  EXPECT_TRUE(got.after.empty());
  EXPECT_EQ(got.raised, "ValueError: no");
}

TEST_F(RecordedCalls, ArgumentsShareMemoryExactlyWhereTheyDid) {
  const Value k = view("k", 2);
  Value v = k;
  v.name = "v";
  const Value twin = deep_copy(k);
  const RecordedCall got = again({{{.function = "f", .before = {k, v, twin}}}, {}}).calls.at(0);
  EXPECT_EQ(got.before[0].storage.get(), got.before[1].storage.get());
  EXPECT_NE(got.before[0].storage.get(), got.before[2].storage.get());
  EXPECT_TRUE(same_bytes(got.before[0], got.before[2]));
}

TEST_F(RecordedCalls, EqualContentsOfTwoCallsAreWrittenOnce) {
  const RecordedCall call{.function = "f", .before = {tensor_value("x", DType::f32, {4096})}};
  Recording recording;
  for (int i = 0; i < 8; ++i) {
    RecordedCall each = call;
    each.before = {deep_copy(call.before[0])};
    each.after = {deep_copy(call.before[0])};
    recording.calls.push_back(each);
  }
  EXPECT_EQ(again(recording).calls.size(), 8u);
  EXPECT_LT(fs::file_size(path()), 2 * 4096 * 4u);
}

TEST_F(RecordedCalls, EmptyAndZeroDimensionalTensorsComeBack) {
  const Recording back =
      again({{{.function = "f",
               .before = {tensor_value("none", DType::f32, {0, 3}), tensor_value("scalar", DType::i64, {})}}},
             {}});
  EXPECT_EQ(back.calls[0].before[0].tensor.describe(), "f32[0, 3]");
  EXPECT_EQ(back.calls[0].before[1].tensor.rank, 0);
  EXPECT_NE(back.calls[0].before[1].tensor.data, nullptr);
}

TEST_F(RecordedCalls, WhatCannotBeWrittenIsRefused) {
  Value outside = tensor_value("x", DType::f32, {4});
  outside.tensor.shape[0] = 5;
  EXPECT_THROW(save_recording(path(), {{{.function = "f", .before = {outside}}}, {}}), Error);
  EXPECT_THROW(save_recording(path(), {{}, {{"calls", ""}}}), Error);
  EXPECT_THROW(save_recording(path(), {{{.function = "f",
                                         .before = {integer_value("a", 1)},
                                         .after = {integer_value("a", 1), integer_value("b", 1)}}},
                                       {}}),
               Error);
  EXPECT_FALSE(fs::exists(path()));
}

class BrokenRecordings : public RecordedCalls {
 protected:
  std::string refusal(const std::string& calls, const std::string& format = std::string(kRecordingFormat)) {
    const std::vector<float> eight(8);
    save(path(),
         {{"s", Tensor(eight.data(), DType::f32, {8})}, {"square", Tensor(eight.data(), DType::f32, {2, 4})}},
         {{"format", format}, {"calls", calls}});
    return refusal();
  }
  std::string refusal() {
    try {
      load_recording(path());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::io) << error.what();
      const std::string subject = "load: " + path() + ": ", text = error.what();
      EXPECT_TRUE(text.starts_with(subject)) << text;
      EXPECT_EQ(text.find('\n'), std::string::npos);
      return text.substr(std::min(subject.size(), text.size()));
    }
    return "accepted";
  }
  std::string tensor(const std::string& fields) {
    return refusal(R"([{"function":"f","before":[{"kind":"tensor","name":"x",)" + fields + "}]}]");
  }
};

TEST_F(BrokenRecordings, AreRefusedWithOneSentence) {
  EXPECT_EQ(refusal("[]", "isomer-recording 1"),
            "it holds tensors, but no recorded calls: metadata format is 'isomer-recording 1', expected "
            "'isomer-calls 1', which isomer record writes");
  const std::string before = R"([{"function":"f","before":)";
  const struct {
    std::string calls, why;
  } table[] = {
      {"", "metadata calls is not a JSON list"},
      {"{}", "metadata calls is not a JSON list"},
      {"[{]", "metadata calls is not a JSON list"},
      {"[1]", "call 0: it is not a JSON object"},
      {"[{}]", "call 0: function is not a text"},
      {R"([{"function":"f"}])", "call 0 (f): before is not a list"},
      {before + "[3]}]", "call 0 (f): before: 0: it is not a JSON object"},
      {before + R"([{"kind":"matrix"}]}])", "call 0 (f): before: 0: kind 'matrix' is not a kind of value"},
      {before + R"([{"kind":"integer","name":"n","value":1.5}]}])",
       "call 0 (f): before: 0: n: value is not a whole number"},
      {before + R"([{"kind":"integer","value":18446744073709551615}]}])",
       "call 0 (f): before: 0: value has 18446744073709551615, more than 64 bits count"},
      {before + R"([{"kind":"integer"}]}])", "call 0 (f): before: 0: value is absent"},
      {before + R"([{"kind":"real","value":"big"}]}])", "call 0 (f): before: 0: value is not a number"},
      {before + R"([{"kind":"boolean","value":1}]}])", "call 0 (f): before: 0: value is not true or false"},
      {before + R"([{"kind":"none","keyword":1}]}])", "call 0 (f): keyword is not true or false"},
      {before + R"([{"kind":"none"}],"after":[{"kind":"none"},{"kind":"none"}]}])",
       "call 0 (f): it has 1 arguments before the call and 2 after it"},
  };
  for (const auto& [calls, why] : table) EXPECT_EQ(refusal(calls), why) << calls;
}

TEST_F(BrokenRecordings, OfTensorsThatDoNotLieInTheirStorage) {
  const std::string at = "call 0 (f): before: 0: x: ";
  const struct {
    std::string fields, why;
  } table[] = {
      {R"("dtype":"f32","shape":[8],"strides":[1],"offset":0,"storage":"s")", "accepted"},
      {R"("dtype":"f31","shape":[8],"strides":[1],"offset":0,"storage":"s")",
       at + "dtype 'f31' is not one of Isomer's"},
      {R"("dtype":"f32","shape":[-8],"strides":[1],"offset":0,"storage":"s")",
       at + "shape has -8, expected 0 or more"},
      {R"("dtype":"f32","shape":[8],"strides":[-1],"offset":0,"storage":"s")",
       at + "strides has -1, expected 0 or more"},
      {R"("dtype":"f32","shape":[8],"strides":[],"offset":0,"storage":"s")",
       at + "it has 1 dimensions but 0 strides"},
      {R"("dtype":"f32","shape":[1,1,1,1,1,1,1,1,1],"strides":[1,1,1,1,1,1,1,1,1],"offset":0,"storage":"s")",
       at + "it has 9 dimensions, Isomer's tensors at most 8"},
      {R"("dtype":"f32","shape":[1099511627776,1099511627776],"strides":[0,0],"offset":0,"storage":"s")",
       at + "its shape has more elements than 64 bits count"},
      {R"("dtype":"f32","shape":[9],"strides":[1],"offset":0,"storage":"s")",
       at + "its elements reach outside of its storage s of 32 bytes"},
      {R"("dtype":"f32","shape":[8],"strides":[1],"offset":4,"storage":"s")",
       at + "its elements reach outside of its storage s of 32 bytes"},
      {R"("dtype":"f32","shape":[2],"strides":[9223372036854775807],"offset":0,"storage":"s")",
       at + "its elements reach outside of its storage s of 32 bytes"},
      {R"("dtype":"f32","shape":[0],"strides":[1],"offset":36,"storage":"s")",
       at + "its elements reach outside of its storage s of 32 bytes"},
      {R"("dtype":"f32","shape":[1],"strides":[1],"offset":-4,"storage":"s")",
       at + "offset is -4, expected a multiple of 4 bytes"},
      {R"("dtype":"f32","shape":[1],"strides":[1],"offset":2,"storage":"s")",
       at + "offset is 2, expected a multiple of 4 bytes"},
      {R"("dtype":"f32","shape":[1],"strides":[1],"storage":"s")", at + "offset is absent"},
      {R"("dtype":"f32","shape":[1],"strides":[1],"offset":0,"storage":"t")",
       at + "its storage t is not in the file"},
      {R"("dtype":"f32","shape":[1],"strides":[1],"offset":0,"storage":"square")",
       at + "its storage square is not a plain list"},
  };
  for (const auto& [fields, why] : table) EXPECT_EQ(tensor(fields), why) << fields;
}

TEST_F(BrokenRecordings, CutAnywhere) {
  save_recording(path(), {{{.function = "f", .before = {view("x", 2), integer_value("n", 2)}}}, {}});
  std::ifstream file(path(), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  for (std::size_t length = 0; length < whole.size(); length += 7) {
    std::ofstream(path(), std::ios::binary) << whole.substr(0, length);
    EXPECT_NE(refusal(), "accepted") << length;
  }
}

TEST_F(BrokenRecordings, WithListsThatNeverEnd) {
  std::string list = R"({"kind":"none"})";
  for (int i = 0; i < 40; ++i) list = R"({"kind":"list","items":[)" + list + "]}";
  const std::string text = refusal(R"([{"function":"f","before":[)" + list + "]}]");
  EXPECT_TRUE(text.ends_with("lists lie more than 16 deep")) << text;
}

}  // namespace
}  // namespace isomer::lab
