// Every fault of a driver, a compiler or a device is one sentence that says what to do; the process goes on.
#include "child.hpp"
#include "vendor_calls.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace isomer {
namespace {

class Fault : public testing::TestWithParam<StandIn> {
 protected:
  bool cuda() const { return GetParam().device == DeviceType::cuda; }
  std::string vendor() const { return GetParam().vendor; }
  std::string on_device(const std::string& reason) const {
    return "device: queue: " + vendor() + ":0: " + reason;
  }
  Environment with(const std::string& fault) const {
    return {
        {"ISOMER_STAND_IN_EXECUTE", "0"}, {"ISOMER_CACHE", cache_.path()}, {"ISOMER_STAND_IN_FAULT", fault}};
  }
  std::string sin_with(const std::string& fault) const {
    return in_child(with(fault), [&] { return SinOnDevice(GetParam()).run(); });
  }
  std::string program() const {
    return vendor() + ": isomer_sin element=f32 vector=4 unroll=4 ragged=0 dims=1 index=u32 threads=128";
  }
  Folder cache_;
};

// Faults that only one vendor's driver can have.
class CudaFault : public Fault {};
class HipFault : public Fault {};

std::vector<StandIn> stand_ins_of(DeviceType device) {
  std::vector<StandIn> found;
  for (const StandIn& stand_in : kStandIns)
    if (stand_in.device == device) found.push_back(stand_in);
  return found;
}

std::string vendor_of(const testing::TestParamInfo<StandIn>& info) { return info.param.vendor; }

INSTANTIATE_TEST_SUITE_P(Of, Fault, testing::ValuesIn(kStandIns), vendor_of);
INSTANTIATE_TEST_SUITE_P(Of, CudaFault, testing::ValuesIn(stand_ins_of(DeviceType::cuda)), vendor_of);
INSTANTIATE_TEST_SUITE_P(Of, HipFault, testing::ValuesIn(stand_ins_of(DeviceType::hip)), vendor_of);

TEST_P(Fault, WithoutOneTheStandInsServe) { EXPECT_EQ(sin_with(""), "done from compiled"); }

TEST_P(Fault, NoDeviceIsSaidAndTheBestQueueIsTheCpu) {
  EXPECT_EQ(
      sin_with("no-device"),
      on_device(cuda() ? "the NVIDIA driver sees no GPU; see nvidia-smi and CUDA_VISIBLE_DEVICES"
                       : "the HIP runtime sees no GPU; see rocminfo, HIP_VISIBLE_DEVICES and the rights "
                         "on /dev/kfd"));
  EXPECT_EQ(in_child(with("no-device"), [] { return to_string(Queue::best().device()); }), "cpu");
}

TEST_P(Fault, ADriverThatDoesNotStartIsSaid) {
  EXPECT_EQ(sin_with("init-failed"),
            on_device(cuda() ? "the NVIDIA driver cannot be initialised: CUDA_ERROR_UNKNOWN: as planted; see "
                               "nvidia-smi and dmesg"
                             : "the HIP runtime cannot be initialised: hipErrorUnknown: as planted; see "
                               "rocminfo and dmesg"));
}

TEST_P(Fault, AnOldDriverIsNamedWithTheOneThatIsNeeded) {
  EXPECT_EQ(
      sin_with("old-driver"),
      on_device(cuda() ? "the NVIDIA driver offers CUDA 11.4, and 12.0 or later is needed; update the driver"
                       : "the HIP runtime is version 4.3, and 5.0 or later is needed; update ROCm"));
}

// HIP's functions are the library's own symbols, which it has or has not.
TEST_P(CudaFault, ADriverThatLacksAFunctionIsSaid) {
  EXPECT_EQ(sin_with("no-function:cuLaunchKernelEx"),
            on_device("the NVIDIA driver has no cuLaunchKernelEx; update the driver"));
}

// CUDA tells its architectures by numbers.
TEST_P(HipFault, AnArchitectureWithoutANameIsSaid) {
  EXPECT_EQ(
      sin_with("nameless-architecture"),
      "device: hip: hipGetDevicePropertiesR0600 does not name the architecture of hip:0 (stand-in for an "
      "AMD GPU) where it is expected; take another release of ROCm");
}

TEST_P(Fault, ADeviceThatIsNotThereIsSaidAndTheSecondServes) {
  const auto on = [&](int index) {
    return in_child(with(""), [&] { return SinOnDevice(GetParam(), index).run(); });
  };
  EXPECT_EQ(on(1), "done from compiled");
  EXPECT_EQ(on(2), "device: queue: a device from " + vendor() + ":0 to " + vendor() + ":1 expected, got " +
                       vendor() + ":2");
}

TEST_P(Fault, NoCompilerIsSaidWithWhatToDo) {
  Environment environment = with("");
  environment.emplace_back(GetParam().compiler_variable, "/nowhere/lib.so");
  EXPECT_EQ(in_child(environment, [&] { return SinOnDevice(GetParam()).run(); }),
            "unsupported: " + program() + " is not compiled for " + GetParam().architecture +
                " and cannot be here: " + GetParam().compiler_variable +
                " names '/nowhere/lib.so', which cannot be opened; name " + (cuda() ? "NVRTC" : "hipRTC") +
                "'s file, or unset it");
}

TEST_P(Fault, ALibraryThatIsNoCompilerIsSaid) {
  Environment environment = with("");
  environment.emplace_back(GetParam().compiler_variable, GetParam().driver);
  EXPECT_EQ(in_child(environment, [&] { return SinOnDevice(GetParam()).run(); }),
            "unsupported: " + program() + " is not compiled for " + GetParam().architecture +
                " and cannot be here: '" + GetParam().driver + "' has no " + (cuda() ? "nvrtc" : "hiprtc") +
                "Version: a newer one is needed; update it");
}

// hipRTC's version says nothing of its release.
TEST_P(CudaFault, AnOldCompilerIsNamedWithTheOneThatIsNeeded) {
  EXPECT_EQ(sin_with("old-compiler"),
            "unsupported: " + program() +
                " is not compiled for sm_80 and cannot be here: 'libnvrtc.so.13' is "
                "NVRTC 11.0, and 12.0 or later is needed; update it");
}

TEST_P(Fault, AKernelThatDoesNotCompileIsSaidOnceAndLeavesNothing) {
  const std::string said = sin_with("compile-error");
  EXPECT_EQ(said, "internal: " + vendor() + ": compiling ops/sin/kernels/sin.cu for " +
                      GetParam().architecture +
                      " with ISOMER_ELEMENT=f32 ISOMER_VECTOR=4 ISOMER_UNROLL=4 ISOMER_RAGGED=0 "
                      "ISOMER_DIMS=1 ISOMER_INDEX=u32 ISOMER_THREADS=128 by " +
                      (cuda() ? "NVRTC 13.0" : "hipRTC of libhiprtc.so") +
                      ": ops/sin/kernels/sin.cu(7): error: identifier \"planted\" is undefined");
  EXPECT_EQ(sin_with(""), "done from compiled") << "no entry was left";
  EXPECT_EQ(sin_with("compile-error"), "done from cache") << "nothing is compiled where an entry serves";
}

TEST_P(Fault, ACompilerThatDoesNotKnowTheArchitectureIsSaid) {
  const std::string said = sin_with("refused-architecture");
  EXPECT_NE(said.find("error: invalid value for --"), said.npos) << said;
  EXPECT_EQ(said.find("internal: "), 0u) << said;
}

// HIP makes its contexts unasked.
TEST_P(CudaFault, NoMemoryForAContextIsSaidAndLaterThereIsSome) {
  EXPECT_EQ(in_child(with("context-out-of-memory"),
                     [&] {
                       const auto call = [&] { return SinOnDevice(GetParam()).run(); };
                       const std::string said = said_by(call);
                       ::setenv("ISOMER_STAND_IN_FAULT", "", 1);
                       return said + " | " + call();
                     }),
            "out_of_memory: cuda: cuDevicePrimaryCtxRetain failed: CUDA_ERROR_OUT_OF_MEMORY: as planted; the "
            "device's memory is exhausted: free some of it, or use another device | done from compiled");
}

TEST_P(Fault, NoMemoryForAWorkspaceIsSaidAndLaterThereIsSome) {
  EXPECT_EQ(in_child(with("out-of-memory:1"),
                     [&] {
                       const Queue queue = Queue::on({GetParam().device, 0});
                       const std::string said = said_by([&] {
                         queue.lease(1 << 20);
                         return "leased";
                       });
                       ::setenv("ISOMER_STAND_IN_FAULT", "", 1);
                       return said + " | " + std::to_string(queue.lease(1 << 20).bytes());
                     }),
            "out_of_memory: queue: no memory for a workspace of 1048576 bytes; free some, or make the call "
            "smaller | 1048576");
}

TEST_P(Fault, NoMemoryForTensorsIsNullAndNoMore) {
  EXPECT_EQ(in_child(with("out-of-memory:2"), [&] { return SinOnDevice(GetParam()).run(); }),
            "out_of_memory: the test's own tensors");
}

TEST_P(Fault, NoMemoryForAModuleIsSaidAndLaterItLoads) {
  EXPECT_EQ(
      in_child(with("module-out-of-memory"),
               [&] {
                 SinOnDevice call(GetParam());
                 const std::string said = said_by([&] { return call.run(); });
                 ::setenv("ISOMER_STAND_IN_FAULT", "", 1);
                 return said + " | " + call.run();
               }),
      "out_of_memory: " + vendor() +
          (cuda() ? ": cuModuleLoadData failed: CUDA_ERROR_OUT_OF_MEMORY"
                  : ": hipModuleLoadData failed: hipErrorOutOfMemory") +
          ": as planted; the device's memory is exhausted: free some of it, or use another device | done "
          "from cache");
}

TEST_P(Fault, AWholeEntryThatTheDriverRefusesIsMadeAnew) {
  EXPECT_EQ(sin_with(""), "done from compiled");
  EXPECT_EQ(sin_with("refused-image:1"), "done from compiled");
  EXPECT_EQ(sin_with(""), "done from cache");
  const std::string said = sin_with("refused-image:9");
  EXPECT_EQ(said.find("unsupported: " + vendor() + ": "), 0u) << said;
  EXPECT_NE(said.find("the compiled kernel is not for this device and driver: update the driver"), said.npos)
      << said;
}

TEST_P(Fault, ALostDeviceIsSaidByEveryCallAndTakesNothingElseWithIt) {
  const std::string said = in_child(with("lost-device:2"), [&] {
    SinOnDevice call(GetParam());
    std::string all = call.run();
    all += "\n" + said_by([&] { return call.run(); });
    all += "\n" + said_by([&] { return SinOnDevice(GetParam()).run(); });
    all += "\n" + said_by([&] {
             call.queue().synchronize();
             return "synchronised";
           });
    return all;
  });
  const std::string lost =
      (cuda() ? std::string("CUDA_ERROR_LAUNCH_FAILED") : std::string("hipErrorLaunchFailure")) +
      ": as planted; the device is lost to this process: start a new one, and if that fails too reset the "
      "device";
  const std::string api = cuda() ? "cu" : "hip";
  EXPECT_EQ(said, "done from compiled\ndevice: " + vendor() +
                      ": launching isomer_sin with grid (1, 1, 1), block (128, 1, 1) and 0 bytes of shared "
                      "memory failed: " +
                      lost + "\ndevice: " + vendor() + ": " + api +
                      (cuda() ? "StreamCreate" : "StreamCreateWithFlags") + " failed: " + lost +
                      "\ndevice: " + vendor() + ": " + api + "StreamSynchronize failed: " + lost);
}

TEST_P(Fault, AForkAfterTheFirstCallIsSaidInTheChildAndDoesNotHurtTheParent) {
  const std::string said = in_child(with(""), [&] {
    SinOnDevice call(GetParam());
    std::string all = call.run();
    all += "\n" + in_child({}, [&] { return call.run(); });
    all += "\n" + in_child({}, [&] { return SinOnDevice(GetParam()).run(); });
    // The other vendor, which this process has not touched, is kept out of it.
    all += "\n" + in_child({{"ISOMER_STAND_IN_FAULT", "no-device"}},
                           [] { return to_string(Queue::best().device()); });
    return all + "\n" + call.run();
  });
  const std::string forked = "this process was forked after " + std::string(cuda() ? "CUDA" : "HIP") +
                             " had been initialised, which " + (cuda() ? "CUDA" : "HIP") +
                             " does not survive; start a new process, or fork before the first GPU call";
  EXPECT_EQ(said, "done from compiled\ndevice: " + vendor() + ": " + forked + "\n" + on_device(forked) +
                      "\ncpu\ndone from compiled");
}

TEST_P(Fault, AForkAfterAMereLookAtTheDriverIsSaidToo) {
  EXPECT_EQ(in_child(with(""),
                     [&] {
                       if (!(*GetParam()).unavailable().empty()) return std::string("unavailable");
                       return in_child({}, [&] { return SinOnDevice(GetParam()).run(); });
                     })
                .find(on_device("this process was forked after ")),
            0u);
}

TEST_P(Fault, AForkBeforeTheFirstCallHarmsNobody) {
  EXPECT_EQ(in_child(with(""),
                     [&] {
                       const std::string first = in_child({}, [&] { return SinOnDevice(GetParam()).run(); });
                       return first + " " + SinOnDevice(GetParam()).run();
                     }),
            "done from compiled done from cache");
}

TEST_P(Fault, JitNeverIsSaidWithTheWayToABundleAndABadWordToo) {
  Environment environment = with("");
  environment.emplace_back("ISOMER_JIT", "never");
  EXPECT_EQ(in_child(environment, [&] { return SinOnDevice(GetParam()).run(); }),
            "unsupported: " + program() + " is not compiled for " + GetParam().architecture +
                ", and ISOMER_JIT=never forbids compiling it; add it to a bundle with `isomer prebuild`");
  environment.back().second = "sometimes";
  EXPECT_EQ(in_child(environment, [&] { return SinOnDevice(GetParam()).run(); }),
            "bad_argument: ISOMER_JIT expects auto, never or always, got 'sometimes'");
}

#ifdef ISOMER_HAS_EMULATOR
TEST_P(Fault, WithoutOneTheKernelsCompute) {
  EXPECT_EQ(in_child({}, [&] { return SinOnDevice(GetParam(), 1, 5000).run(); }).find("done from "), 0u);
}
#endif

}  // namespace
}  // namespace isomer
