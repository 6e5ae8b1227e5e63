// What an H100's driver is asked for: tensor maps, clusters, and the shared memory that a kernel opts into.
#include "child.hpp"
#include "vendor_calls.hpp"

#include "core/sentence.hpp"

#include <gtest/gtest.h>

namespace isomer {
namespace {

const StandIn& cuda() { return kStandIns[0]; }

std::string on_capability(const char* capability, const std::function<std::string()>& body) {
  const Folder cache;
  return in_child({{"ISOMER_STAND_IN_CAPABILITY", capability},
                   {"ISOMER_STAND_IN_EXECUTE", "0"},
                   {"ISOMER_CACHE", cache.path()}},
                  body);
}

constexpr gpu::TensorMap kTile = {.element = DType::f16,
                                  .rank = 4,
                                  .size = {128, 1285, 16, 2},
                                  .stride_bytes = {0, 4096, 256, 5263360},
                                  .box = {64, 128, 1, 1},
                                  .swizzle_bytes = 128};

/// Type, rank, interleave, swizzle, promotion and fill as the stand-in was given them; 1e4 … hold NVIDIA's
/// enumerators.
std::string settings_of(gpu::TensorMap map) {
  return on_capability("90", [&] {
    device::TensorMap encoded;
    (*cuda()).facts(0);
    (*cuda()).encode(0, map, reinterpret_cast<const void*>(0x7f0000), encoded);
    std::string text;
    for (int byte = 0; byte < 6; ++byte)
      text += core::say(byte > 0 ? " " : "", encoded.words[1] >> 8 * byte & 0xff);
    return text;
  });
}

TEST(TensorMapsOfCuda, AreEncodedAsTheyAreDescribed) {
  EXPECT_EQ(on_capability("90",
                          [] {
                            device::TensorMap map;
                            (*cuda()).encode(0, kTile, reinterpret_cast<const void*>(0x7f0000), map);
                            std::string text;
                            for (int i = 2; i < 16; ++i) text += core::say(i > 2 ? " " : "", map.words[i]);
                            return core::say(map.words[0] == 0x7f0000 ? "there: " : "elsewhere: ", text);
                          }),
            "there: 128 1285 16 2 0 4096 256 5263360 0 64 128 1 1 0");
  gpu::TensorMap map = kTile;
  EXPECT_EQ(settings_of(map), "6 4 0 3 3 0");
  map.element = DType::bf16;
  map.promotion_bytes = 128;
  EXPECT_EQ(settings_of(map), "9 4 0 3 2 0");
  map.element = DType::e4m3fn;
  map.swizzle_bytes = 64;
  map.promotion_bytes = 64;
  EXPECT_EQ(settings_of(map), "0 4 0 2 1 0");
  map.element = DType::f32;
  map.box[0] = 8;
  map.swizzle_bytes = 32;
  map.promotion_bytes = 0;
  EXPECT_EQ(settings_of(map), "7 4 0 1 0 0");
  map.swizzle_bytes = 0;
  EXPECT_EQ(settings_of(map), "7 4 0 0 0 0");
}

TEST(TensorMapsOfCuda, AreRefusedInOneSentence) {
  EXPECT_EQ(on_capability("90",
                          [] {
                            device::TensorMap map;
                            (*cuda()).encode(0, kTile, reinterpret_cast<const void*>(0x7f0008), map);
                            return "encoded";
                          }),
            "unsupported: cuda: a tensor map needs an address that is a multiple of 16 bytes");
}

TEST(TensorMapsOfHip, AreNotThere) {
  EXPECT_EQ(said_by([] {
              device::TensorMap map;
              (*kStandIns[1]).encode(0, kTile, nullptr, map);
              return "encoded";
            }),
            "unsupported: hip: there are no tensor maps on AMD GPUs");
}

TEST(CudaDevices, SayWhatTheyCanDo) {
  const auto all = [](const char* capability) {
    return on_capability(capability, [] {
      const gpu::Facts& facts = (*cuda()).facts(0);
      return core::say(facts.architecture, " ", facts.shared_per_block, " ",
                       gpu::lacking({true, true, true, true, true, true}, facts.has));
    });
  };
  EXPECT_EQ(all("80"),
            "sm_80 166912 tensor cores for fragments of FP8, bulk tensor copies, wgmma, clusters and "
            "overlapping launches");
  EXPECT_EQ(all("90"), "sm_90a 232448 ");
  EXPECT_EQ(all("100"), "sm_100a 232448 wgmma");
}

/// sin's kernel, launched with that geometry.
std::string launched(const char* capability, std::uint32_t shared_bytes, gpu::Dim3 cluster) {
  return on_capability(capability, [&] {
    SinOnDevice call(cuda());
    call.prepare();
    gpu::Vendor& vendor = *cuda();
    const gpu::Image image = vendor.compile({.source = "ops/sin/kernels/sin.cu",
                                             .kernel = "isomer_sin",
                                             .definitions = {},
                                             .architecture = vendor.facts(0).architecture});
    const gpu::Function function = vendor.function(0, vendor.load(0, image), "isomer_sin");
    const char parameters[8] = {};
    vendor.launch(0, call.queue().stream(),
                  {.function = function,
                   .kernel = "isomer_sin",
                   .grid = {8, 1, 1},
                   .block = {128, 1, 1},
                   .cluster = cluster,
                   .shared_bytes = shared_bytes,
                   .parameters = parameters,
                   .parameter_bytes = sizeof parameters});
    return "launched";
  });
}

TEST(CudaLaunches, MayTakeAllTheSharedMemoryOfABlock) {
  EXPECT_EQ(launched("90", 227 << 10, {1, 1, 1}), "launched");
  EXPECT_NE(launched("90", 228 << 10, {1, 1, 1}), "launched");
  EXPECT_NE(launched("80", 227 << 10, {1, 1, 1}), "launched");
}

TEST(CudaLaunches, MayBeInClustersWhereTheDeviceHasThem) {
  EXPECT_EQ(launched("90", 0, {2, 1, 1}), "launched");
  EXPECT_NE(launched("90", 0, {3, 1, 1}), "launched") << "8 blocks are no multiple of 3";
  EXPECT_NE(launched("80", 0, {2, 1, 1}), "launched");
}

}  // namespace
}  // namespace isomer
