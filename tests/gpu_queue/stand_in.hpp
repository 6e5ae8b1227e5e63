#pragma once

#include "gpu/vendors.hpp"
#include "vendor/vendor.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace isomer::gpu {

/// The emulator in the place of any vendor. Counts what it is asked for, and says what it is told to say.
class StandIn : public Vendor {
 public:
  struct Told {
    DeviceType type = DeviceType::emulated;
    std::string missing;     ///< why there is no device
    bool capturing = false;  ///< a graph is being captured from every stream
    /// Sees launches in the place of the emulator.
    std::function<void(const Launch&)> watch;
    std::function<void()> ending;  ///< is called before a stream has been waited for
    int compiled = 0, loaded = 0, allocated = 0, encoded = 0, launched = 0;
  };

  /// Registers one. What it returns stays valid until the process ends.
  static Told& put(DeviceType type) {
    static Vendor* const emulator = [] {
      emulator::register_vendor();
      return find_vendor(DeviceType::emulated);
    }();
    auto stand_in = std::unique_ptr<StandIn>(new StandIn(*emulator));
    stand_in->told_.type = type;
    Told& told = stand_in->told_;
    register_vendor(std::move(stand_in));
    return told;
  }

  std::string_view name() const override {
    return told_.type == DeviceType::cuda ? "cuda" : told_.type == DeviceType::hip ? "hip" : "emulated";
  }
  DeviceType device_type() const override { return told_.type; }
  std::string unavailable() override { return told_.missing; }
  int devices() override { return inner_.devices(); }
  const Facts& facts(int device) override { return inner_.facts(device); }
  std::string compiler_unavailable() override { return {}; }
  Image compile(const Translation& translation) override {
    ++told_.compiled;
    return inner_.compile(translation);
  }
  bool cacheable() const override { return false; }
  Module load(int device, const Image& image) override {
    ++told_.loaded;
    return inner_.load(device, image);
  }
  void unload(int device, Module module) noexcept override { inner_.unload(device, module); }
  Function function(int device, Module module, const std::string& kernel) override {
    return inner_.function(device, module, kernel);
  }
  void* allocate(int device, std::size_t bytes) override {
    ++told_.allocated;
    return inner_.allocate(device, bytes);
  }
  void release(int device, void* data) noexcept override { inner_.release(device, data); }
  void copy(int device, Stream stream, void* to, const void* from, std::size_t bytes, Copy kind) override {
    inner_.copy(device, stream, to, from, bytes, kind);
  }
  void fill(int device, Stream stream, void* to, std::uint8_t value, std::size_t bytes) override {
    inner_.fill(device, stream, to, value, bytes);
  }
  Stream make_stream(int device) override { return inner_.make_stream(device); }
  void release_stream(int device, Stream stream) noexcept override { inner_.release_stream(device, stream); }
  void synchronize(int device, Stream stream) override {
    if (told_.ending) told_.ending();
    inner_.synchronize(device, stream);
  }
  bool capturing(int, Stream) override { return told_.capturing; }
  Event make_event(int device) override { return inner_.make_event(device); }
  void release_event(int device, Event event) noexcept override { inner_.release_event(device, event); }
  void record(int device, Stream stream, Event event) override { inner_.record(device, stream, event); }
  double seconds_between(int device, Event first, Event second) override {
    return inner_.seconds_between(device, first, second);
  }
  void encode(int device, const TensorMap& map, const void* address, device::TensorMap& into) override {
    ++told_.encoded;
    inner_.encode(device, map, address, into);
  }
  void launch(int device, Stream stream, const Launch& launch) override {
    ++told_.launched;
    if (told_.watch) return told_.watch(launch);
    inner_.launch(device, stream, launch);
  }

 private:
  explicit StandIn(Vendor& inner) : inner_(inner) {}
  Vendor& inner_;
  Told told_;
};

}  // namespace isomer::gpu
