// A thread's own variables: an index outside of an array of its own, and reads of what nothing was written
// to.
#include <gtest/gtest.h>

#include <string>

#include "isomer/emulator/module.hpp"
#include "isomer/emulator/written.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

// Each kernel is right where n is 8 and the flag is set, and wrong where n is 9 or it is not.
const char* const kKernels = R"(
#include <cuda_runtime.h>
__global__ void writes(float* out, int n, int) {
  float own[8];
  for (int i = 0; i < n; ++i) own[i] = i;
  out[threadIdx.x] = own[0] + own[7];
}
__global__ void reads(float* out, int n, int) {
  const float table[] = {1, 2, 3, 4, 5, 6, 7, 8};
  out[threadIdx.x] = table[n - 1];
}
template <int Rows>
__device__ float sum(int n) {
  float tile[Rows][4];
  for (int i = 0; i < n; ++i) tile[i][i % 4] = i;
  return tile[7][3];
}
__global__ void rows(float* out, int n, int) { out[threadIdx.x] = sum<8>(n); }
__global__ void scalar(float* out, int n, int flag) {
  float total;
  if (flag) total = 0;
  for (int i = 0; i < n; ++i) total += i;
  out[threadIdx.x] = total;
}
__global__ void element(float* out, int n, int flag) {
  float own[16];
  for (int i = 0; i < 8; ++i) own[i] = i;
  out[threadIdx.x] = own[flag ? n - 1 : n] * 2;
}
__global__ void branch(float* out, int n, int flag) {
  int found;
  if (flag) found = 3;
  if (n > 8) return;
  if (found > 2) out[threadIdx.x] = 1;
}
// What the text does not show is left alone.
__device__ void give(float& x, float* y) { x = 1, *y = 2; }
__device__ float four(const float (&x)[4]) { return x[0] + x[3]; }
struct Pair { float x[2]; int y; };
__global__ void hidden(float* out, int n, int flag) {
  __shared__ float tile[2][16];
  float a, b, c, d, own[4], e[2][3], *p, q;
  give(a, &b);
  for (int i = 0; i < 4; ++i) own[i] = a;
  [&] { c = 3; }();
  if (flag) d = 1;
  const float kept = flag ? d : b;
  p = own;
  for (float* at = &own[0]; at < &own[4]; ++at) *at = 4;
  for (int i = 0; i < 6; ++i) e[0][i] = i;  // runs on into the next row
  tile[0][threadIdx.x % 32] = c;
  __syncthreads();
  Pair pair;
  pair.x[0] = pair.x[1] = 2;
  q = n;
  q = __shfl_sync(0xffffffffu, q, 0);
  float copy;
  float unused;
  if (flag > 5) unused = 2;
  copy = unused;
  switch (n) {
    case 1:
      float inner;
      inner = 2;
      a += inner;
      break;
    default: a += 1;
  }
  int i;
  for (i = 0; i < n; ++i) a += i;
  int at, next[8];
  for (at = 0; at < 8; ++at) next[at] = at;
  a += next[next[at - 1]] + int(next[at - 2]);
  asm("add.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  out[threadIdx.x] = a + b + c + kept + d + four(own) + e[1][2] + p[1] + tile[0][1] + pair.x[1] + q + i;
}
struct Box { int sizes[8]; float cells[2][4]; };
struct Open { int count; int items[1]; };
__global__ void member(float* out, int n, int) {
  Box box[2];
  for (int i = 0; i < n; ++i) box[1].sizes[i] = i;
  out[threadIdx.x] = box[1].sizes[7];
}
__device__ int chosen(const Box& box, int n) { return box.sizes[n - 1] + box.cells[1][n - 5]; }
__global__ void part(float* out, int n, int) {
  Box box = {{1, 2, 3, 4, 5, 6, 7, 8}, {{1, 2}}};
  out[threadIdx.x] = chosen(box, n);
}
__global__ void square(float* out, int n, int flag) {
  float own[3][4];
  for (int i = 0; i < 8; ++i) own[i / 4][i % 4] = i;
  out[threadIdx.x] = own[flag ? (n - 1) / 4 : 2][3] * 2 + own[0][0];
}
// In the buffer of 32 numbers: a member in the middle, and one at the end that stands for what is left.
struct Entry { int kind; float sizes[8]; float more[3]; };
struct Head { Entry in; float rest[2]; };
__global__ void pointed(float* out, int n, int) {
  Head* head = reinterpret_cast<Head*>(out);
  if (threadIdx.x > 0) return;
  for (int i = 0; i < n; ++i) head->in.sizes[i] = i;
  for (int i = 0; i < n; ++i) head->rest[i] = 1;
  out[n] = head->in.sizes[n - 1] + *(&head->in.sizes[8] - n);
}
__device__ float last(const Entry* entry, int n) { return entry->sizes[n - 1]; }
__global__ void pointed_read(float* out, int n, int) {
  Entry own = {1, {1, 2, 3, 4, 5, 6, 7, 8}, {1}};
  out[threadIdx.x] = last(&own, n);
}
__device__ void fill(float (&row)[4]) { row[3] = 2; }
__global__ void whole(float* out, int n, int flag) {
  __shared__ Box shared;
  float rows[2][4], cube[2][2][2];
  fill(rows[1]);
  for (int i = 0; i < n; ++i) cube[i / 4][i / 2 % 2][i % 2] = i;
  if (threadIdx.x < 8) shared.sizes[threadIdx.x] = n;
  __syncthreads();
  float storage[5];
  Open& open = *reinterpret_cast<Open*>(storage);
  open.items[flag] = 2;
  out[threadIdx.x] = rows[1][3] + cube[1][1][1] + shared.sizes[n - 8] + open.items[flag];
}
__device__ int nothing() {
  int value;
  return value;
}
__device__ int sometimes(int flag) {
  int value;
  if (flag) value = 1;
  return value;
}
__global__ void returned(float* out, int n, int flag) {
  int copy = sometimes(flag);
  if (n > 8) copy = nothing();
  if (flag || n > 8) out[threadIdx.x] = copy;
}
template <int Columns>
__device__ float last(int n, int flag) {
  float tile[2][Columns];
  for (int i = 0; i < n; ++i) tile[i / Columns][i % Columns] = i;
  return tile[flag ? 1 : 0][Columns - 1] * 2;
}
__global__ void dependent(float* out, int n, int flag) { out[threadIdx.x] = last<4>(flag ? n : 3, flag); }
)";

std::string told(const std::string& kernel, int n, int flag) {
  static const WrittenSource source(kKernels);
  static const Module module = Module::build({.sources = {source.path()}, .watch = true});
  std::vector<WrittenArgument> written;
  std::vector<Argument> arguments;
  for (const std::string& text :
       {std::string("out=out:f32:32"), "n=i32:" + std::to_string(n), "flag=i32:" + std::to_string(flag)})
    written.push_back(parse_argument(text, 1));
  for (const WrittenArgument& w : written) arguments.push_back(w.argument);
  const RunResult result = module.launch(kernel, {{1, 1, 1}, {32, 1, 1}, 0, false}, arguments, {});
  EXPECT_EQ(result.failure, "");
  std::string all;
  // What nothing was written to lies in no buffer: no fill of memory decides what it holds.
  for (const Report& r : result.reports)
    EXPECT_EQ(r.where == Where::local, r.kind == Kind::uninitialised_read && r.buffer.empty()) << r.text;
  for (const Report& r : result.reports)
    all += std::string(name(r.kind)) + " " + std::to_string(r.place.line) + ": " + r.text + "\n";
  return all;
}

TEST(Locals, AnIndexOutsideOfAnArrayIsToldAndItsTwinIsNot) {
  EXPECT_NE(told("writes", 9, 1).find("out-of-bounds-write 5: "), std::string::npos) << told("writes", 9, 1);
  EXPECT_NE(told("writes", 9, 1).find("element 8 of the local array own, which has 8"), std::string::npos);
  EXPECT_NE(told("reads", 9, 1).find("out-of-bounds-read 10: "), std::string::npos) << told("reads", 9, 1);
  EXPECT_NE(told("reads", 0, 1).find("element -1 of the local array table"), std::string::npos);
  EXPECT_NE(told("rows", 9, 1).find("out-of-bounds-write 15: "), std::string::npos) << told("rows", 9, 1);
  for (const char* kernel : {"writes", "reads", "rows"}) EXPECT_EQ(told(kernel, 8, 1), "");
}

TEST(Locals, AReadOfWhatNothingWasWrittenToIsToldAndItsTwinIsNot) {
  EXPECT_NE(told("scalar", 8, 0).find("uninitialised-read 22: "), std::string::npos) << told("scalar", 8, 0);
  EXPECT_NE(told("scalar", 8, 0).find("its variable total"), std::string::npos);
  EXPECT_NE(told("element", 8, 0).find("element 8 of its array own"), std::string::npos)
      << told("element", 8, 0);
  EXPECT_NE(told("branch", 8, 0).find("uninitialised-read 34: "), std::string::npos) << told("branch", 8, 0);
  for (const char* kernel : {"scalar", "element", "branch"}) EXPECT_EQ(told(kernel, 8, 1), "");
}

TEST(Locals, WhatNothingWritesIsReadWhereItIsReturned) {
  EXPECT_NE(told("returned", 9, 1).find("its variable value"), std::string::npos) << told("returned", 9, 1);
  for (const int flag : {0, 1}) EXPECT_EQ(told("returned", 8, flag), "");
}

TEST(Locals, AnIndexOutsideOfAMembersArrayIsToldAndItsTwinIsNot) {
  EXPECT_NE(told("member", 9, 1).find("writes element 8 of the array box[1].sizes, which has 8"),
            std::string::npos)
      << told("member", 9, 1);
  EXPECT_NE(told("part", 9, 1).find("reads element 8 of the array box.sizes, which has 8"), std::string::npos)
      << told("part", 9, 1);
  for (const char* kernel : {"member", "part"}) EXPECT_EQ(told(kernel, 8, 1), "");
}

TEST(Locals, AnIndexOutsideOfAMembersArrayBehindAPointerIsToldAndItsTwinIsNot) {
  EXPECT_NE(
      told("pointed", 9, 1).find("writes element 8 of the array head->in.sizes, which has 8: another member"),
      std::string::npos)
      << told("pointed", 9, 1);
  EXPECT_NE(told("pointed_read", 9, 1).find("reads element 8 of the array entry->sizes, which has 8"),
            std::string::npos)
      << told("pointed_read", 9, 1);
  EXPECT_NE(told("pointed_read", 0, 1).find("reads element -1"), std::string::npos);
  for (const char* kernel : {"pointed", "pointed_read"}) EXPECT_EQ(told(kernel, 8, 1), "");
}

TEST(Locals, AnUnwrittenElementOfSeveralSubscriptsIsToldAndItsTwinIsNot) {
  EXPECT_NE(told("square", 8, 0).find("reads own[2][3], to which nothing has been written"),
            std::string::npos)
      << told("square", 8, 0);
  EXPECT_EQ(told("square", 8, 1), "");
  // Of an array whose size a template says.
  EXPECT_NE(told("dependent", 8, 0).find("reads tile[0][3], to which nothing has been written"),
            std::string::npos)
      << told("dependent", 8, 0);
  EXPECT_EQ(told("dependent", 8, 1), "");
}

TEST(Locals, WhatTheTextDoesNotShowIsNotJudged) {
  EXPECT_EQ(told("hidden", 8, 1), "");
  EXPECT_EQ(told("whole", 8, 1), "");
}

}  // namespace
}  // namespace isomer::emulator::tests
