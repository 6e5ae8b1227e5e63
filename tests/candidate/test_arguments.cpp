// What a call is given and what comes back: whole storages, strides and offsets, guards, scalars of every
// kind.
#include "written.hpp"

#include <cstring>

namespace isomer::lab::tests {
namespace {

TEST(CandidateArguments, AViewArrivesWithItsOffsetAndItsWholeStorageComesBack) {
  const auto c = built("candidate.cu", R"(
__global__ void paint(float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = 5; }
void run(float* y, int n) { paint<<<1, 32>>>(y, n); }
)");
  Value whole = tensor_value("y", DType::f32, {10});
  auto* data = static_cast<float*>(whole.storage.get());
  for (int i = 0; i < 10; ++i) data[i] = -1;
  Value view = whole;
  view.tensor = whole.tensor.slice(0, 3, 7);
  view.storage_offset = 3 * sizeof(float);
  // One element more than the view has: a write into the guard behind it, inside of the storage.
  const Answer a = c->call(c->entries().at(0), {view, integer_value("n", 5)}, {});
  ASSERT_TRUE(a.ok()) << a.message;
  const auto* back = static_cast<const float*>(a.arguments[0].storage.get());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(back[i], i >= 3 && i < 8 ? 5 : -1) << i;
  EXPECT_EQ(a.arguments[0].tensor.data, back + 3);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(data[i], -1) << "the caller's own values were written";
}

TEST(CandidateArguments, ViewsOfOneStorageStayViewsOfOneStorage) {
  const auto c = built("candidate.cpp", "void run(int* a, int* b) { a[0] = 7; b[1] = a == b ? 1 : 2; }\n");
  const Value shared = tensor_value("a", DType::i32, {2});
  const Answer a = c->call(c->entries().at(0), {shared, shared}, {});
  ASSERT_TRUE(a.ok()) << a.message;
  EXPECT_EQ(data_of<int>(a.arguments[1])[0], 7);
  EXPECT_EQ(data_of<int>(a.arguments[0])[1], 1);
}

TEST(CandidateArguments, AccessOutsideOfTheStorageIsSeenWithItsPlaceAndBuffer) {
  const auto c = built("candidate.cu", R"(
__global__ void shift(const float* x, float* y, int n) {
  int i = threadIdx.x;
  if (i < n) y[i] = x[i + 1];
}
)");
  CallSettings settings;
  settings.grid[0] = 1, settings.block[0] = 32;
  const Answer a =
      c->call(c->entries().at(0),
              {ramp("x", {32}), tensor_value("y", DType::f32, {32}), integer_value("n", 32)}, settings);
  ASSERT_EQ(a.seen.size(), 1u) << a.message;
  EXPECT_EQ(a.seen[0].kind, "out-of-bounds-read");
  EXPECT_EQ(a.seen[0].buffer, "x");
  EXPECT_EQ(a.seen[0].kernel, "shift");
  EXPECT_EQ(a.seen[0].place.line, 4);
}

TEST(CandidateArguments, HostCodeThatWritesBehindItsBufferIsSeen) {
  const auto c =
      built("candidate.cpp", "void run(char* y, int n) { for (int i = 0; i < n; ++i) y[i] = 1; }\n");
  const Answer a =
      c->call(c->entries().at(0), {tensor_value("y", DType::i8, {100}), integer_value("n", 103)}, {});
  ASSERT_EQ(a.seen.size(), 1u) << a.message;
  EXPECT_EQ(a.seen[0].kind, "out-of-bounds-write");
  EXPECT_EQ(a.seen[0].text,
            "out-of-bounds-write: something behind buffer y of 100 bytes was written, first at offset 100");
}

TEST(CandidateArguments, EveryScalarKindArrives) {
  const auto c = built("candidate.cpp", R"(#include <cstdint>
#include <string>
#include <vector>
void run(double* out, bool flag, int8_t a, uint16_t b, int c, long d, uint64_t e, float f, double g, std::string h,
         std::vector<int> list, const char* name, const long* sizes) {
  double all[] = {flag ? 1.0 : 0.0, double(a), double(b), double(c), double(d), double(e), f, g, double(h.size()),
                  double(list.size() * 100 + list[1]), double(name[0]), double(sizes[0] * 10 + sizes[1])};
  for (int i = 0; i < 12; ++i) out[i] = all[i];
}
)");
  const auto text = [](const char* words) {
    Value v;
    v.kind = Value::Kind::text;
    v.text = words;
    return v;
  };
  Value list, sizes;
  list.kind = sizes.kind = Value::Kind::list;
  list.items = {integer_value("", 3), integer_value("", 4)};
  sizes.items = {integer_value("", 6), integer_value("", 7)};
  const Entry& e = c->entries().at(0);
  using Kind = Parameter::Kind;
  const std::vector<Kind> kinds = {Kind::pointer, Kind::boolean, Kind::integer, Kind::integer, Kind::integer,
                                   Kind::integer, Kind::integer, Kind::real,    Kind::real,    Kind::text,
                                   Kind::list,    Kind::pointer, Kind::pointer};
  ASSERT_EQ(e.parameters.size(), kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i)
    EXPECT_EQ(e.parameters[i].kind, kinds[i]) << i << " " << e.parameters[i].type;
  const Answer a = c->call(e,
                           {tensor_value("out", DType::f64, {12}), boolean_value("", true),
                            integer_value("", -5), integer_value("", 60000), integer_value("", -70000),
                            integer_value("", -5000000000), integer_value("", 6000000000),
                            real_value("", 0.5), integer_value("", 9), text("four"), list, text("A"), sizes},
                           {});
  ASSERT_TRUE(a.ok()) << a.message;
  const double want[] = {1, -5, 60000, -70000, -5e9, 6e9, 0.5, 9, 4, 204, 65, 67};
  for (int i = 0; i < 12; ++i) EXPECT_EQ(data_of<double>(a.arguments[0])[i], want[i]) << i;
}

TEST(CandidateArguments, WhatDoesNotFitIsNotCallableAndSaysWhy) {
  const auto c = built("candidate.cpp", R"(
struct Shape { int a[3]; };
void run(float* y, int n) { y[0] = n; }
void odd(float* y, Shape shape) { y[0] = shape.a[0]; }
)");
  const Entry& run = entry_named(*c, "run");
  const Value y = tensor_value("y", DType::f32, {4});
  const std::vector<std::pair<std::vector<Value>, std::string>> calls = {
      {{y}, "run takes 2 arguments, got 1: n is missing"},
      {{y, integer_value("n", 1), y}, "run takes 2 arguments, got 3"},
      {{integer_value("n", 1), y}, "run: argument 1: expected a tensor for a pointer, got an integer"},
      {{y, y}, "run: argument 2: expected an integer, got a tensor"},
      {{y, real_value("n", 1.5)}, "run: argument 2: expected an integer, got a real number"}};
  for (const auto& [arguments, sentence] : calls) {
    const Answer a = c->call(run, arguments, {});
    EXPECT_EQ(a.end, Answer::End::not_callable);
    EXPECT_EQ(a.message, sentence);
  }
  EXPECT_EQ(c->call(entry_named(*c, "odd"), {y, integer_value("", 1)}, {}).message,
            "odd has parameters of types that cannot be passed");
  Entry unknown;
  unknown.name = "walk";
  EXPECT_EQ(c->call(unknown, {y}, {}).message, "the candidate offers no walk");
  EXPECT_TRUE(c->call(run, {y, real_value("n", 2)}, {}).ok());
}

TEST(CandidateArguments, EmptyTensorsHaveNoAddressAsInPyTorch) {
  const auto c = built("candidate.cu", R"(
__global__ void copy(const float* x, int* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x]; }
void run(const float* x, int* y, int n) { y[0] = x == nullptr; copy<<<(n + 31) / 32, 32>>>(x, y, n); }
)");
  const Answer a = c->call(
      c->entries().at(0),
      {tensor_value("x", DType::f32, {0}), tensor_value("y", DType::i32, {1}), integer_value("n", 0)}, {});
  ASSERT_TRUE(a.ok()) << a.message;
  EXPECT_EQ(data_of<int>(a.arguments[1])[0], 1);
  ASSERT_EQ(a.refused_launches.size(), 1u);
  EXPECT_EQ(a.refused_launches[0].text, "copy: launched with grid (0,1,1), expected at least one block");
}

TEST(CandidateArguments, AStorageOfGigabytesOfNothingTravelsFast) {
  const auto c = built("candidate.cpp", "void run(signed char* x, long at) { x[at] = x[0] + 1; }\n");
  Value x = tensor_value("x", DType::i8, {1});
  const std::size_t bytes = (std::size_t{5} << 30) + 17;
  x.storage = std::shared_ptr<void>(std::calloc(bytes, 1), std::free);
  x.storage_bytes = bytes;
  x.tensor.data = x.storage.get();
  static_cast<signed char*>(x.storage.get())[0] = 41;
  const Answer a = c->call(c->entries().at(0), {x, integer_value("at", std::int64_t{5} << 30)}, {});
  ASSERT_TRUE(a.ok()) << a.message;
  EXPECT_EQ(static_cast<const signed char*>(a.arguments[0].storage.get())[std::size_t{5} << 30], 42);
}

}  // namespace
}  // namespace isomer::lab::tests
