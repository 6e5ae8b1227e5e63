#include "gpu/kernels.hpp"

#include "core/sentence.hpp"

#include <chrono>
#include <map>

namespace isomer::gpu {

const Kernel* Kernels::find(const Program& program) {
  const std::string text = program.text();
  const std::lock_guard lock(mutex_);
  const auto at = loaded_.find(text);
  return at == loaded_.end() ? nullptr : at->second.get();
}

const Kernel& Kernels::get(const Program& program, Stream stream) {
  if (const Kernel* kernel = find(program)) return *kernel;
  if (vendor_.capturing(device_, stream))
    core::fail(ErrorCode::device, vendor_.name(), ": ", program.text(),
               " is not loaded yet, and nothing can be loaded while a graph is being captured; prepare "
               "the call before the capture");
  const auto begin = std::chrono::steady_clock::now();
  const std::string& architecture = vendor_.facts(device_).architecture;
  Binary binary = find_binary(vendor_, program, architecture);
  std::unique_ptr<Kernel> kernel;
  try {
    kernel = load(program, binary);
  } catch (const Error& error) {
    // A whole entry that the driver does not take, made by another compiler: it would be found for ever.
    if (error.code() != ErrorCode::unsupported || binary.source == "compiled") throw;
    binary = remake_binary(vendor_, program, architecture);
    kernel = load(program, binary);
  }
  kernel->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const std::lock_guard lock(mutex_);
  // Another thread may have loaded it meanwhile; its work may already be running.
  const auto [at, mine] = loaded_.try_emplace(program.text(), std::move(kernel));
  if (!mine) vendor_.unload(device_, kernel->module);
  return *at->second;
}

std::unique_ptr<Kernel> Kernels::load(const Program& program, const Binary& binary) {
  auto kernel = std::make_unique<Kernel>();
  kernel->module = vendor_.load(device_, binary.image);
  try {
    kernel->function = vendor_.function(device_, kernel->module, program.kernel);
  } catch (...) {
    vendor_.unload(device_, kernel->module);
    throw;
  }
  kernel->resources = binary.image.resources;
  kernel->binary_source = binary.source;
  kernel->hash = binary.hash;
  kernel->not_kept = binary.not_kept;
  return kernel;
}

Kernels& Kernels::of(Vendor& vendor, int device) {
  static std::mutex mutex;
  static auto* const all = new std::map<std::pair<Vendor*, int>, std::unique_ptr<Kernels>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<Kernels>& entry = (*all)[{&vendor, device}];
  if (!entry) entry = std::make_unique<Kernels>(vendor, device);
  return *entry;
}

}  // namespace isomer::gpu
