// isomer_tensor beside the real DLTensor: same sizes, same offsets, same codes.
#include <isomer/tensor.hpp>

#include <dlpack/dlpack.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#define SAME_FIELD(ours, our_field, theirs, their_field)                     \
  static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field)); \
  static_assert(sizeof(ours::our_field) == sizeof(theirs::their_field));     \
  static_assert(std::is_signed_v<decltype(ours::our_field)> ==               \
                    std::is_signed_v<decltype(theirs::their_field)> ||       \
                !std::is_integral_v<decltype(theirs::their_field)>)

static_assert(DLPACK_MAJOR_VERSION == 1);
static_assert(sizeof(isomer_tensor) == sizeof(DLTensor) && alignof(isomer_tensor) == alignof(DLTensor));
static_assert(sizeof(isomer_device) == sizeof(DLDevice) && alignof(isomer_device) == alignof(DLDevice));
static_assert(sizeof(isomer_data_type) == sizeof(DLDataType) &&
              alignof(isomer_data_type) == alignof(DLDataType));
SAME_FIELD(isomer_tensor, data, DLTensor, data);
SAME_FIELD(isomer_tensor, device, DLTensor, device);
SAME_FIELD(isomer_tensor, ndim, DLTensor, ndim);
SAME_FIELD(isomer_tensor, dtype, DLTensor, dtype);
SAME_FIELD(isomer_tensor, shape, DLTensor, shape);
SAME_FIELD(isomer_tensor, strides, DLTensor, strides);
SAME_FIELD(isomer_tensor, byte_offset, DLTensor, byte_offset);
SAME_FIELD(isomer_device, device_type, DLDevice, device_type);
SAME_FIELD(isomer_device, device_id, DLDevice, device_id);
SAME_FIELD(isomer_data_type, code, DLDataType, code);
SAME_FIELD(isomer_data_type, bits, DLDataType, bits);
SAME_FIELD(isomer_data_type, lanes, DLDataType, lanes);

static_assert(int{ISOMER_CPU} == int{kDLCPU} && int{ISOMER_CUDA} == int{kDLCUDA} &&
              int{ISOMER_HIP} == int{kDLROCM});

namespace isomer {
namespace {

struct Code {
  DType type;
  isomer_data_type ours;
  DLDataType theirs;
};

const Code kCodes[] = {
    {DType::f64, ISOMER_F64, {kDLFloat, 64, 1}},
    {DType::f32, ISOMER_F32, {kDLFloat, 32, 1}},
    {DType::f16, ISOMER_F16, {kDLFloat, 16, 1}},
    {DType::bf16, ISOMER_BF16, {kDLBfloat, 16, 1}},
    {DType::e4m3fn, ISOMER_E4M3FN, {kDLFloat8_e4m3fn, 8, 1}},
    {DType::e5m2, ISOMER_E5M2, {kDLFloat8_e5m2, 8, 1}},
    {DType::e4m3fnuz, ISOMER_E4M3FNUZ, {kDLFloat8_e4m3fnuz, 8, 1}},
    {DType::e5m2fnuz, ISOMER_E5M2FNUZ, {kDLFloat8_e5m2fnuz, 8, 1}},
    {DType::i8, ISOMER_I8, {kDLInt, 8, 1}},
    {DType::i32, ISOMER_I32, {kDLInt, 32, 1}},
    {DType::i64, ISOMER_I64, {kDLInt, 64, 1}},
    {DType::u8, ISOMER_U8, {kDLUInt, 8, 1}},
    {DType::i16, ISOMER_I16, {kDLInt, 16, 1}},
};

/// A DLTensor as a producer hands it over, seen as ours.
class Given {
 public:
  Given(void* data, DLDataType dtype, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides = {})
      : shape_(std::move(shape)), strides_(std::move(strides)) {
    tensor.data = data;
    tensor.device = {kDLCPU, 0};
    tensor.ndim = static_cast<std::int32_t>(shape_.size());
    tensor.dtype = dtype;
    tensor.shape = shape_.data();
    tensor.strides = strides_.empty() ? nullptr : strides_.data();
    tensor.byte_offset = 0;
  }
  Tensor read() const { return Tensor::from_dlpack(reinterpret_cast<const isomer_tensor&>(tensor)); }
  std::string refusal() const {
    try {
      read();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_argument);
      return error.what();
    }
    return "accepted";
  }
  DLTensor tensor{};

 private:
  std::vector<std::int64_t> shape_, strides_;
};

constexpr DLDataType kF32 = {kDLFloat, 32, 1};

TEST(Dlpack, EveryTypeHasDlpacksCodeInBothDirections) {
  float memory[8] = {};
  ASSERT_EQ(std::size(kCodes), std::size_t{kDTypeCount - 1});
  for (const Code& code : kCodes) {
    EXPECT_EQ(code.ours.code, code.theirs.code) << name_of(code.type);
    EXPECT_EQ(code.ours.bits, code.theirs.bits) << name_of(code.type);
    EXPECT_EQ(code.ours.lanes, 1);
    EXPECT_EQ(Given(memory, code.theirs, {2}).read().dtype, code.type);
    const isomer_tensor out = Tensor(memory, code.type, {2}).dlpack();
    EXPECT_EQ(out.dtype.code, code.theirs.code) << name_of(code.type);
    EXPECT_EQ(out.dtype.bits, code.theirs.bits) << name_of(code.type);
    EXPECT_EQ(out.dtype.lanes, 1);
  }
}

TEST(Dlpack, NullStridesMeanCompactRowMajor) {
  float memory[24] = {};
  const Tensor tensor = Given(memory, kF32, {2, 3, 4}).read();
  EXPECT_EQ(tensor.stride(0), 12);
  EXPECT_EQ(tensor.stride(1), 4);
  EXPECT_EQ(tensor.stride(2), 1);
  EXPECT_TRUE(tensor.is_contiguous());
}

TEST(Dlpack, StridesAreTakenAsTheyAre) {
  float memory[24] = {};
  const Tensor tensor = Given(memory, kF32, {2, 3}, {1, 8}).read();
  EXPECT_EQ(tensor.stride(0), 1);
  EXPECT_EQ(tensor.stride(1), 8);
  EXPECT_EQ(tensor.at<float>(1, 2), memory + 17);
}

TEST(Dlpack, TheByteOffsetMovesTheData) {
  float memory[8] = {};
  Given given(memory, kF32, {4});
  given.tensor.byte_offset = 12;
  EXPECT_EQ(given.read().data, memory + 3);
}

TEST(Dlpack, ANullPointerStaysNullWhateverTheByteOffset) {
  Given given(nullptr, kF32, {0});
  given.tensor.byte_offset = 12;
  EXPECT_EQ(given.read().data, nullptr);
}

TEST(Dlpack, AScalarHasNoShape) {
  float memory = 0;
  Given given(&memory, kF32, {});
  given.tensor.shape = nullptr;
  EXPECT_EQ(given.read().rank, 0);
  EXPECT_EQ(given.read().numel(), 1);
}

TEST(Dlpack, HostMemoryOfADeviceIsTheCpu) {
  float memory = 0;
  Given given(&memory, kF32, {1});
  for (const DLDeviceType type : {kDLCPU, kDLCUDAHost, kDLROCMHost}) {
    given.tensor.device = {type, 0};
    EXPECT_EQ(given.read().device, Device{}) << type;
  }
  given.tensor.device = {kDLCUDA, 3};
  EXPECT_EQ(given.read().device, (Device{DeviceType::cuda, 3}));
  given.tensor.device = {kDLCUDAManaged, 1};
  EXPECT_EQ(given.read().device, (Device{DeviceType::cuda, 1}));
  given.tensor.device = {kDLROCM, 2};
  EXPECT_EQ(given.read().device, (Device{DeviceType::hip, 2}));
  given.tensor.device = {kDLExtDev, 1};
  EXPECT_EQ(given.read().device, (Device{DeviceType::emulated, 1}));
}

TEST(Dlpack, WhatATensorCannotHoldIsRefusedWithASentence) {
  float memory[16] = {};
  const auto refusal = [&](auto change) {
    Given given(memory, kF32, {2, 2});
    change(given.tensor);
    return given.refusal();
  };
  EXPECT_EQ(refusal([](DLTensor& t) { t.dtype.lanes = 4; }),
            "tensor: a dtype of isomer expected, got DLPack code 2, 32 bits, 4 lanes");
  EXPECT_EQ(refusal([](DLTensor& t) {
              t.dtype = {99, 8, 1};
            }),
            "tensor: a dtype of isomer expected, got DLPack code 99, 8 bits, 1 lanes");
  for (const DLDataType unknown : std::vector<DLDataType>{{kDLBool, 8, 1},
                                                          {kDLComplex, 64, 1},
                                                          {kDLUInt, 16, 1},
                                                          {kDLUInt, 32, 1},
                                                          {kDLFloat, 8, 1},
                                                          {kDLFloat8_e3m4, 8, 1},
                                                          {kDLFloat8_e4m3, 8, 1},
                                                          {kDLFloat8_e4m3b11fnuz, 8, 1},
                                                          {kDLFloat8_e8m0fnu, 8, 1}})
    EXPECT_NE(refusal([&](DLTensor& t) { t.dtype = unknown; }).find("a dtype of isomer expected"),
              std::string::npos)
        << int{unknown.code};
  EXPECT_EQ(refusal([](DLTensor& t) { t.ndim = -1; }), "tensor: at most 8 dimensions expected, got ndim -1");
  EXPECT_EQ(refusal([](DLTensor& t) { t.ndim = 9; }), "tensor: at most 8 dimensions expected, got ndim 9");
  EXPECT_EQ(refusal([](DLTensor& t) { t.shape = nullptr; }), "tensor: shape expected, got null");
  EXPECT_EQ(refusal([](DLTensor& t) { t.device.device_type = kDLVulkan; }),
            "tensor: a cpu, cuda, hip or emulated device expected, got DLPack device type 7");
}

TEST(Dlpack, ATensorComesBackFromItsDlpackForm) {
  float memory[64] = {};
  const Tensor tensor = Tensor::strided(memory + 1, DType::f32, {2, 1, 3}, {0, 5, 7}, {DeviceType::cuda, 1});
  const Tensor again = Tensor::from_dlpack(tensor.dlpack());
  EXPECT_EQ(again.data, tensor.data);
  EXPECT_EQ(again.dtype, tensor.dtype);
  EXPECT_EQ(again.device, tensor.device);
  EXPECT_EQ(again.rank, tensor.rank);
  EXPECT_EQ(again.shape, tensor.shape);
  EXPECT_EQ(again.strides, tensor.strides);
}

}  // namespace
}  // namespace isomer
