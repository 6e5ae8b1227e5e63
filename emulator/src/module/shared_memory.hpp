// Memory that a session shares with its process, and storages that results are given in.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "isomer/emulator/error.hpp"

namespace isomer::emulator {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

class Mapping {
 public:
  Mapping(int fd, std::uint64_t offset, std::uint64_t bytes, int protection) : bytes_(bytes) {
    if (bytes == 0) return;
    void* p = mmap(nullptr, bytes, protection, MAP_SHARED, fd, static_cast<off_t>(offset));
    if (p == MAP_FAILED) throw MachineError("no memory to share with the session's process");
    data_ = static_cast<std::byte*>(p);
  }
  ~Mapping() {
    if (data_) munmap(data_, bytes_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

inline Descriptor shared_file(const char* name) {
  Descriptor fd(memfd_create(name, MFD_CLOEXEC));
  if (fd.get() < 0) throw MachineError("no memory to share with the session's process");
  return fd;
}

/// Zeros; a large one takes memory only where it is written.
std::shared_ptr<void> fresh_storage(std::uint64_t bytes);

}  // namespace isomer::emulator
