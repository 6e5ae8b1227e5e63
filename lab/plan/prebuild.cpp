#include "lab/plan/prebuild.hpp"

#include "core/sentence.hpp"
#include "gpu/binary_folder.hpp"
#include "gpu/vendors/hip/hipcc.hpp"
#include "lab/plan/parallel.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <mutex>

namespace isomer::lab {
namespace {

using core::fail;

void need_compilers(const std::vector<Wanted>& programs) {
  for (const Wanted& wanted : programs) {
    const std::string reason = wanted.backend.vendor->compiler_unavailable();
    if (reason.empty()) continue;
    const bool hip = wanted.backend.vendor->device_type() == DeviceType::hip;
    const std::string other = hip ? gpu::hip::Hipcc::get().unavailable() : reason;
    if (!other.empty())
      fail(ErrorCode::unsupported, "prebuild: nothing can be compiled for ",
           wanted.backend.facts->architecture, " here: ", other);
  }
}

void need_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(ErrorCode::io, "prebuild: cannot create the folder '", folder, "': ", error.message());
  if (::access(folder.c_str(), W_OK) != 0)
    fail(ErrorCode::io, "prebuild: cannot write into '", folder, "': ", std::strerror(errno));
}

}  // namespace

gpu::Binary compile_for(const PlanDevice& backend, const gpu::Program& program) {
  gpu::Vendor& vendor = *backend.vendor;
  const std::string& architecture = backend.facts->architecture;
  const bool hipcc = vendor.device_type() == DeviceType::hip && !vendor.compiler_unavailable().empty() &&
                     gpu::hip::Hipcc::get().unavailable().empty();
  if (!hipcc) return gpu::compile_binary(vendor, program, architecture);
  return gpu::compile_binary(vendor, program, architecture, [](const gpu::Translation& translation) {
    return gpu::hip::Hipcc::get().compile(translation);
  });
}

std::vector<Built> prebuild(const std::vector<Wanted>& programs, const std::string& folder, int jobs,
                            const BuildProgress& progress) {
  need_compilers(programs);
  need_folder(folder);
  const gpu::BinaryFolder bundle(folder);
  std::vector<Built> built(programs.size());
  std::mutex mutex;
  int done = 0;
  parallel(programs.size(), jobs, [&](std::size_t i) {
    const Wanted& wanted = programs[i];
    Built& entry = built[i];
    entry.wanted = wanted;
    try {
      const gpu::Binary binary = compile_for(wanted.backend, wanted.program);
      if (const std::string failure =
              bundle.store(binary, wanted.program, wanted.backend.facts->architecture);
          !failure.empty())
        fail(ErrorCode::io, "prebuild: ", failure);
      entry.resources = binary.image.resources;
      entry.image_bytes = binary.image.bytes.size();
      entry.compiler = binary.image.compiler;
      entry.hash = binary.hash;
      entry.seconds = binary.seconds;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::io) throw;
      entry.failure = error.what();
    }
    const std::lock_guard lock(mutex);
    ++done;
    if (progress) progress(done, static_cast<int>(programs.size()), wanted.program.text());
  });
  return built;
}

std::vector<oracle::Case> read_variants(const std::string& path) {
  std::ifstream file(path);
  if (!file) fail(ErrorCode::io, "prebuild: cannot read '", path, "'");
  std::vector<oracle::Case> cases;
  std::string text;
  for (int number = 1; std::getline(file, text); ++number) {
    if (const auto comment = text.find('#'); comment != std::string::npos) text.resize(comment);
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      cases.push_back(oracle::parse_case(text));
    } catch (const Error& error) {
      fail(ErrorCode::bad_argument, "prebuild: ", path, ":", number, ": ", error.what());
    }
  }
  if (cases.empty()) fail(ErrorCode::bad_argument, "prebuild: '", path, "' has no case line");
  return cases;
}

}  // namespace isomer::lab
