// What callers mean by an op that has several originals, and when they mean another operation by its name.
#include <gtest/gtest.h>

#include "core/codec.hpp"
#include "lab/ask/reading.hpp"
#include "lab/ask/trial.hpp"
#include "lab/judge/diagnose.hpp"

namespace isomer::lab {
namespace {

const Port& port_of_attention(bool heads_first) {
  for (const Port& port : ports())
    if (port.op == "attention" && port.roles.back().returned &&
        !port.original->parameters[0].axes.empty() == heads_first && port.roles.back().name == "out")
      return port;
  throw std::logic_error("no such port");
}

/// A call of `attention`, with the op's answer or another.
Recording recorded(bool heads_first, const std::string& line, bool answered, double factor = 1) {
  const Port& port = port_of_attention(heads_first);
  const std::shared_ptr<Given> given = given_by_line(port, line);
  RecordedCall call;
  call.function = "attention";
  for (int i = 0; i < port.inputs(); ++i) call.before.push_back(given->values[static_cast<std::size_t>(i)]);
  call.keyword.assign(call.before.size(), false);
  if (answered) {
    call.after = call.before;
    Value out = deep_copy(given->values.back());
    const oracle::ExpectedTensor& want = given->plain.tensors.front();
    const Tensor laid = port.by_contract(port.roles.size() - 1, out.tensor);
    const std::int64_t count = laid.numel();
    for (std::int64_t flat = 0; flat < count; ++flat) {
      std::int64_t offset = 0, index = flat;
      for (int d = laid.rank - 1; d >= 0; --d) {
        offset += index % laid.size(d) * laid.stride(d);
        index /= laid.size(d);
      }
      core::encode(laid.dtype, factor * want.value[static_cast<std::size_t>(flat)],
                   static_cast<std::byte*>(laid.data) + offset * size_of(laid.dtype));
    }
    call.returned = {out};
  }
  Recording recording;
  recording.calls = {call};
  return recording;
}

bool is_heads_first(const Reading& reading) {
  EXPECT_FALSE(reading.ports.empty());
  for (const Port* port : reading.ports)
    EXPECT_EQ(port->original->parameters[0].axes.empty(),
              reading.ports.front()->original->parameters[0].axes.empty());
  return !reading.ports.front()->original->parameters[0].axes.empty();
}

TEST(AReading, IsTheContractsOrderWhereNobodySaysAnother) {
  EXPECT_FALSE(is_heads_first(reading_of("attention", nullptr, {})));
  const Recording square = recorded(false, "b=1 sq=4 sk=4 hq=4 hkv=4 d=16", false);
  EXPECT_FALSE(is_heads_first(reading_of("attention", &square, {"def attention(q, k, v): pass"})));
}

TEST(AReading, IsTheOrderThatTheCallsAllow) {
  // 5 queries and 7 keys: read the other way round 7 kv heads would have to divide 5 query heads.
  const Recording heads_first = recorded(true, "b=1 sq=5 sk=7 hq=4 hkv=2 d=16", false);
  EXPECT_TRUE(is_heads_first(reading_of("attention", &heads_first, {})));
  const Recording rows_first = recorded(false, "b=1 sq=5 sk=7 hq=4 hkv=2 d=16", false);
  EXPECT_FALSE(is_heads_first(reading_of("attention", &rows_first, {})));
}

TEST(AReading, IsTheOrderThatTheTextsName) {
  const Recording square = recorded(true, "b=1 sq=4 sk=4 hq=4 hkv=4 d=16", false);
  EXPECT_TRUE(is_heads_first(reading_of("attention", &square, {"    B, H, SQ, D = q.shape\n"})));
  EXPECT_TRUE(is_heads_first(reading_of("attention", &square, {"q: [batch, num_heads, seq_len, head_dim]"})));
  EXPECT_FALSE(
      is_heads_first(reading_of("attention", &square, {"q: [batch, seq_len, num_heads, head_dim]"})));
}

TEST(AReading, IsTheOrderThatTheAnswersHave) {
  const Recording heads_first = recorded(true, "b=1 sq=4 sk=4 hq=4 hkv=4 d=16", true);
  EXPECT_TRUE(is_heads_first(reading_of("attention", &heads_first, {"[batch, seq_len, heads, head_dim]"})));
  const Recording rows_first = recorded(false, "b=1 sq=4 sk=4 hq=4 hkv=4 d=16", true);
  EXPECT_FALSE(is_heads_first(reading_of("attention", &rows_first, {"[batch, heads, seq_len, head_dim]"})));
}

TEST(AReading, OfAnswersThatTheOpNeverGivesIsAnotherOperation) {
  const Recording the_op = recorded(true, "b=1 sq=5 sk=7 hq=4 hkv=2 d=16", true);
  EXPECT_EQ(reading_of("attention", &the_op, {}).another, "");
  const Recording twice = recorded(true, "b=1 sq=5 sk=7 hq=4 hkv=2 d=16", true, 2);
  EXPECT_NE(reading_of("attention", &twice, {}).another, "");
  // Without an answer nobody says so.
  const Recording unanswered = recorded(true, "b=1 sq=5 sk=7 hq=4 hkv=2 d=16", false, 2);
  EXPECT_EQ(reading_of("attention", &unanswered, {}).another, "");
}

TEST(AReading, OfArgumentsThatTheOriginalLacksIsAnotherOperation) {
  Recording masked = recorded(true, "b=1 sq=5 sk=7 hq=4 hkv=2 d=16", true);
  RecordedCall& call = masked.calls.front();
  call.before.insert(call.before.begin() + 3, tensor_value("bias", DType::f32, {5, 7}));
  call.before.push_back(real_value("dropout", 0.0));
  call.keyword.assign(call.before.size(), false);
  call.after = call.before;
  EXPECT_NE(reading_of("attention", &masked, {}).another, "");
}

TEST(AReading, OfCallersThatUseNoGroupsAsksForNone) {
  const Recording plain = recorded(true, "b=1 sq=6 sk=6 hq=4 hkv=4 d=16", true);
  const Reading narrow = reading_of("attention", &plain, {});
  for (const Port* port : narrow.ports)
    for (const std::string& line : port->original->probes) {
      const std::shared_ptr<Given> given = given_by_line(*port, line);
      // [batch, heads, rows, dim]
      EXPECT_EQ(given->values[0].tensor.size(1), given->values[1].tensor.size(1)) << line;
      EXPECT_EQ(given->values[0].tensor.size(2), given->values[1].tensor.size(2)) << line;
    }
  const Recording grouped = recorded(true, "b=1 sq=5 sk=7 hq=4 hkv=2 d=16", true);
  const Reading reading = reading_of("attention", &grouped, {});
  bool groups = false;
  for (const std::string& line : reading.ports.front()->original->probes)
    groups = groups || line.find("hkv=2") != std::string::npos;
  EXPECT_TRUE(groups);
}

/// A call of weight_dequant with its output in front of block_size, as in an engine that has no torch.empty.
Recording dequantised_into(const char* third, const char* fourth) {
  const Port* port = nullptr;
  for (const Port& each : ports())
    if (each.op == "weight_dequant" && !each.roles.back().returned) port = &each;
  const std::shared_ptr<Given> given = given_by_line(*port, "m=40 n=70 block=32");
  RecordedCall call;
  call.function = "weight_dequant";
  call.before = {given->values[0], given->values[1], given->values[3], given->values[2]};
  call.before[2].name = third;
  call.before[3].name = fourth;
  call.keyword.assign(4, false);
  Recording recording;
  recording.calls = {call};
  return recording;
}

TEST(AReading, HasTheOrderOfTheCallsWhereTheirNamesSayIt) {
  const Recording into = dequantised_into("y", "block_size");
  const Reading reading = reading_of("weight_dequant", &into, {});
  ASSERT_FALSE(reading.ports.empty());
  const Port& port = *reading.ports.front();
  ASSERT_EQ(port.roles.size(), 4u);
  EXPECT_EQ(port.roles[2].name, "y");
  EXPECT_EQ(port.roles[3].name, "block_size");
  const std::vector<Value> values = port.by_role(into.calls[0].before, into.calls[0].keyword);
  const std::shared_ptr<Given> given = given_by_values(port, "", values);
  EXPECT_EQ(given->problem->call().tensor(given->problem->call().contract->index_of("y")).describe(),
            values[2].tensor.describe());
  EXPECT_EQ(port.original->number(given->problem->call(), "block_size"), 32);
}

TEST(AReading, HasItsOwnOrderWhereNamesSayNothing) {
  const Recording unnamed = dequantised_into("destination", "count");
  const Reading reading = reading_of("weight_dequant", &unnamed, {});
  ASSERT_FALSE(reading.ports.empty());
  EXPECT_EQ(reading.ports.front()->roles[2].name, "block_size");
}

TEST(AReading, GivesAsManyTensorsAsTheAnswers) {
  Recording both = recorded(false, "b=1 sq=5 sk=7 hq=4 hkv=2 d=16", true);
  const Port* with_lse = nullptr;
  for (const Port& port : ports())
    if (with_lse == nullptr && port.op == "attention" && port.roles.back().name == "lse" &&
        port.roles.back().returned && port.original->parameters[0].axes.empty())
      with_lse = &port;
  const std::shared_ptr<Given> given = given_by_line(*with_lse, "lse b=1 sq=5 sk=7 hq=4 hkv=2 d=16");
  Value lse = deep_copy(given->values.back());
  const oracle::ExpectedTensor& want = given->plain.tensors.back();
  for (std::size_t i = 0; i < want.value.size(); ++i)
    static_cast<float*>(lse.tensor.data)[i] = static_cast<float>(want.value[i]);
  both.calls[0].returned.push_back(lse);
  EXPECT_EQ(reading_of("attention", &both, {}).ports.front()->roles.back().name, "lse");
  both.calls[0].returned.pop_back();
  EXPECT_EQ(reading_of("attention", &both, {}).ports.front()->roles.back().name, "out");
}

}  // namespace
}  // namespace isomer::lab
