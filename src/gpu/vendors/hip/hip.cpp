#include "core/sentence.hpp"
#include "gpu/vendors.hpp"
namespace isomer::gpu {
namespace {
class HipVendor : public Vendor {
  [[noreturn]] void no() const { core::fail(ErrorCode::device, "hip: not here"); }

 public:
  std::string_view name() const override { return "hip"; }
  DeviceType device_type() const override { return DeviceType::hip; }
  std::string unavailable() override { return "there is no AMD driver (libamdhip64.so cannot be opened)"; }
  int devices() override { return 0; }
  const Facts& facts(int) override { no(); }
  std::string compiler_unavailable() override { return "no hipRTC"; }
  Image compile(const Translation&) override { no(); }
  Module load(int, const Image&) override { no(); }
  void unload(int, Module) noexcept override {}
  Function function(int, Module, const std::string&) override { no(); }
  void* allocate(int, std::size_t) override { no(); }
  void release(int, void*) noexcept override {}
  void copy(int, Stream, void*, const void*, std::size_t, Copy) override { no(); }
  void fill(int, Stream, void*, std::uint8_t, std::size_t) override { no(); }
  Stream make_stream(int) override { no(); }
  void release_stream(int, Stream) noexcept override {}
  void synchronize(int, Stream) override { no(); }
  bool capturing(int, Stream) override { no(); }
  Event make_event(int) override { no(); }
  void release_event(int, Event) noexcept override {}
  void record(int, Stream, Event) override { no(); }
  double seconds_between(int, Event, Event) override { no(); }
  void encode(const TensorMap&, void*) override { no(); }
  void launch(int, Stream, const Launch&) override { no(); }
};
}  // namespace
std::unique_ptr<Vendor> make_hip() { return std::make_unique<HipVendor>(); }
}  // namespace isomer::gpu
