// What `isomer trace --driver` preloads into a CUDA program: it stands between the program and the driver's
// launches, where another profiler holds CUPTI. The program finds the driver's calls by linking to them, with
// dlsym, or with cuGetProcAddress, which is itself found so; each way leads here, and from here to the
// driver.
#include "lab/launches/inject/cuda/functions.hpp"
#include "lab/launches/inject/driver/record.hpp"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <string_view>

#undef cuGetProcAddress

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED CUresult cuGetProcAddress(const char*, void**, int, cuuint64_t);
EXPORTED CUresult cuGetProcAddress_v2(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
EXPORTED CUresult cuLaunchKernel_ptsz(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                      unsigned, CUstream, void**, void**);
EXPORTED CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig*, CUfunction, void**, void**);
EXPORTED CUresult cuLaunchCooperativeKernel_ptsz(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                                 unsigned, unsigned, CUstream, void**);
EXPORTED CUresult cuGraphLaunch_ptsz(CUgraphExec, CUstream);

namespace isomer::inject {
namespace {

using Dlsym = void* (*)(void*, const char*);

/// The C library's own.
Dlsym real_dlsym() {
  static std::atomic<Dlsym> real{nullptr};
  if (const Dlsym known = real.load(std::memory_order_acquire); known != nullptr) return known;
  void* found = nullptr;
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"})
    if (found == nullptr) found = dlvsym(RTLD_NEXT, "dlsym", version);
  real.store(reinterpret_cast<Dlsym>(found), std::memory_order_release);
  return reinterpret_cast<Dlsym>(found);
}

struct Call {
  std::string_view name;
  void* ours;
};

template <class Function>
void* address(Function function) {
  return reinterpret_cast<void*>(function);
}

enum Slot {
  launch,
  launch_thread,
  ex,
  ex_thread,
  cooperative,
  cooperative_thread,
  graph,
  graph_thread,
  find,
  find_2,
  unload,
  unload_library,
  slots
};

const std::array<Call, slots>& hooked() {
  static const std::array<Call, slots> all = {
      {{"cuLaunchKernel", address(&::cuLaunchKernel)},
       {"cuLaunchKernel_ptsz", address(&::cuLaunchKernel_ptsz)},
       {"cuLaunchKernelEx", address(&::cuLaunchKernelEx)},
       {"cuLaunchKernelEx_ptsz", address(&::cuLaunchKernelEx_ptsz)},
       {"cuLaunchCooperativeKernel", address(&::cuLaunchCooperativeKernel)},
       {"cuLaunchCooperativeKernel_ptsz", address(&::cuLaunchCooperativeKernel_ptsz)},
       {"cuGraphLaunch", address(&::cuGraphLaunch)},
       {"cuGraphLaunch_ptsz", address(&::cuGraphLaunch_ptsz)},
       {"cuGetProcAddress", address(&::cuGetProcAddress)},
       {"cuGetProcAddress_v2", address(&::cuGetProcAddress_v2)},
       {"cuModuleUnload", address(&::cuModuleUnload)},
       {"cuLibraryUnload", address(&::cuLibraryUnload)}}};
  return all;
}

std::atomic<void*> drivers[slots];

int slot_of(std::string_view name) {
  for (int slot = 0; slot < slots; ++slot)
    if (hooked()[static_cast<std::size_t>(slot)].name == name) return slot;
  return -1;
}

void* driver_library(int flags) { return dlopen("libcuda.so.1", RTLD_NOW | flags); }

/// The driver's function behind a slot.
template <class Function>
Function driver(Slot slot) {
  void* found = drivers[slot].load(std::memory_order_acquire);
  if (found == nullptr) {
    if (void* library = driver_library(0)) found = real_dlsym()(library, hooked()[slot].name.data());
    drivers[slot].store(found, std::memory_order_release);
  }
  return reinterpret_cast<Function>(found);
}

/// What a look-up gives to the program in place of what it has found.
void* in_place_of(int slot, void* found) {
  if (slot < 0 || found == nullptr) return found;
  void* ours = hooked()[static_cast<std::size_t>(slot)].ours;
  if (found != ours) drivers[slot].store(found, std::memory_order_release);
  return ours;
}

void* look_up(void* handle, const char* name, int slot) {
  void* found = real_dlsym()(handle, name);
  // Among all libraries this one is found first, whether or not there is a driver behind it.
  if (found == hooked()[static_cast<std::size_t>(slot)].ours && driver_library(RTLD_NOLOAD) == nullptr)
    return nullptr;
  return in_place_of(slot, found);
}

int slot_of_query(const char* symbol, int version, cuuint64_t flags) {
  if (symbol == nullptr) return -1;
  const std::string_view name = symbol;
  if (name == "cuGetProcAddress") return version >= 12000 ? find_2 : find;
  const int slot = slot_of(name);
  const bool of_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  return of_thread && slot >= 0 && slot < find && slot % 2 == 0 ? slot + 1 : slot;
}

CUresult missing() { return CUDA_ERROR_NOT_INITIALIZED; }

template <Slot kSlot, class... Arguments>
CUresult launch_kernel(const Staged& staged, CUstream stream, Arguments... arguments) {
  const auto real = driver<CUresult (*)(Arguments...)>(kSlot);
  if (real == nullptr) return missing();
  const std::string said = before_launch(staged, stream, kSlot % 2 == 1);
  const CUresult result = real(arguments...);
  if (result == CUDA_SUCCESS) after_launch(said);
  return result;
}

Staged staged_of(CUfunction function, const unsigned (&grid)[3], const unsigned (&block)[3], unsigned shared,
                 void** parameters, void** extra) {
  Staged staged;
  staged.function = function;
  for (int i = 0; i < 3; ++i) staged.grid[i] = grid[i], staged.block[i] = block[i];
  staged.shared_bytes = shared;
  staged.parameters = parameters;
  staged.extra = extra;
  return staged;
}

template <Slot kSlot>
CUresult launch_by_config(const CUlaunchConfig* config, CUfunction function, void** parameters,
                          void** extra) {
  Staged staged;
  if (config != nullptr) {
    staged = Staged::of(*config);
    staged.take_attributes(*config);
  }
  staged.function = function;
  staged.parameters = parameters;
  staged.extra = extra;
  return launch_kernel<kSlot>(staged, config == nullptr ? nullptr : config->hStream, config, function,
                              parameters, extra);
}

template <Slot kSlot>
CUresult launch_graph(CUgraphExec executable, CUstream stream) {
  const auto real = driver<CUresult (*)(CUgraphExec, CUstream)>(kSlot);
  if (real == nullptr) return missing();
  const CUresult result = real(executable, stream);
  if (result == CUDA_SUCCESS) after_graph_launch();
  return result;
}

/// A module goes, and its handles may come back as others.
template <class Handle>
CUresult unload_module(Slot slot, Handle handle) {
  const auto real = driver<CUresult (*)(Handle)>(slot);
  if (real == nullptr) return missing();
  forget_functions();
  return real(handle);
}

}  // namespace
}  // namespace isomer::inject

using namespace isomer::inject;  // NOLINT: the driver's names stand outside of any namespace

extern "C" {
__attribute__((visibility("hidden"))) void* isomer_look_up(void* handle, const char* name) {
  return look_up(handle, name, slot_of(name));
}

/// Where a look-up goes on.
__attribute__((visibility("hidden"))) void* isomer_dlsym_goes_to(void* handle, const char* name) {
  const bool ours = handle != RTLD_NEXT && name[0] == 'c' && name[1] == 'u' && slot_of(name) >= 0;
  return ours ? address(&isomer_look_up) : address(real_dlsym());
}
}

// The C library's dlsym asks where it was called from (RTLD_NEXT): it must find the program's return address,
// so that it is jumped to, never called.
#if defined(__x86_64__)
__asm__(
    ".text\n.globl dlsym\n.type dlsym, @function\ndlsym:\n"
    "  pushq %rdi\n  pushq %rsi\n  subq $8, %rsp\n"
    "  call isomer_dlsym_goes_to\n"
    "  addq $8, %rsp\n  popq %rsi\n  popq %rdi\n"
    "  jmp *%rax\n.size dlsym, .-dlsym\n");
#elif defined(__aarch64__)
__asm__(
    ".text\n.globl dlsym\n.type dlsym, %function\ndlsym:\n"
    "  stp x29, x30, [sp, #-32]!\n  stp x0, x1, [sp, #16]\n"
    "  bl isomer_dlsym_goes_to\n"
    "  mov x16, x0\n  ldp x0, x1, [sp, #16]\n  ldp x29, x30, [sp], #32\n"
    "  br x16\n.size dlsym, .-dlsym\n");
#else
#error "the jump to the C library's dlsym is written for x86-64 and AArch64"
#endif

EXPORTED CUresult cuGetProcAddress(const char* symbol, void** found, int version, cuuint64_t flags) {
  const auto real = driver<CUresult (*)(const char*, void**, int, cuuint64_t)>(find);
  if (real == nullptr) return missing();
  const CUresult result = real(symbol, found, version, flags);
  if (result == CUDA_SUCCESS && found != nullptr)
    *found = in_place_of(slot_of_query(symbol, version, flags), *found);
  return result;
}

EXPORTED CUresult cuGetProcAddress_v2(const char* symbol, void** found, int version, cuuint64_t flags,
                                      CUdriverProcAddressQueryResult* status) {
  const auto real =
      driver<CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*)>(find_2);
  if (real == nullptr) return missing();
  const CUresult result = real(symbol, found, version, flags, status);
  if (result == CUDA_SUCCESS && found != nullptr)
    *found = in_place_of(slot_of_query(symbol, version, flags), *found);
  return result;
}

EXPORTED CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                 unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                 void** parameters, void** extra) {
  return launch_kernel<launch>(staged_of(f, {gx, gy, gz}, {bx, by, bz}, shared, parameters, extra), stream, f,
                               gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
}

EXPORTED CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                      unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                      void** parameters, void** extra) {
  return launch_kernel<launch_thread>(staged_of(f, {gx, gy, gz}, {bx, by, bz}, shared, parameters, extra),
                                      stream, f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
}

EXPORTED CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** parameters,
                                   void** extra) {
  return launch_by_config<ex>(config, f, parameters, extra);
}

EXPORTED CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction f, void** parameters,
                                        void** extra) {
  return launch_by_config<ex_thread>(config, f, parameters, extra);
}

EXPORTED CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                            unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                            void** parameters) {
  Staged staged = staged_of(f, {gx, gy, gz}, {bx, by, bz}, shared, parameters, nullptr);
  staged.cooperative = true;
  return launch_kernel<cooperative>(staged, stream, f, gx, gy, gz, bx, by, bz, shared, stream, parameters);
}

EXPORTED CUresult cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz,
                                                 unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                                 CUstream stream, void** parameters) {
  Staged staged = staged_of(f, {gx, gy, gz}, {bx, by, bz}, shared, parameters, nullptr);
  staged.cooperative = true;
  return launch_kernel<cooperative_thread>(staged, stream, f, gx, gy, gz, bx, by, bz, shared, stream,
                                           parameters);
}

EXPORTED CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  return launch_graph<graph>(executable, stream);
}

EXPORTED CUresult cuGraphLaunch_ptsz(CUgraphExec executable, CUstream stream) {
  return launch_graph<graph_thread>(executable, stream);
}

EXPORTED CUresult cuModuleUnload(CUmodule module) { return unload_module(unload, module); }

EXPORTED CUresult cuLibraryUnload(CUlibrary library) { return unload_module(unload_library, library); }
