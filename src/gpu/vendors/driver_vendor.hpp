#pragma once

#include "core/sentence.hpp"
#include "gpu/vendor.hpp"
#include "gpu/vendors/failure.hpp"
#include "gpu/vendors/forks.hpp"
#include "gpu/vendors/switched.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <string>

namespace isomer::gpu {

/// What CUDA's driver and the HIP runtime have in common: devices that are opened at first use, something
/// that is current on a thread, and modules, streams and events whose functions differ in names alone.
///
/// Interface says which: `Library` with the functions, their types, what words their names have in sentences,
/// what a result means, and the members that count the devices and get and set what is current.
template <class Interface>
class DriverVendor : public Vendor {
 public:
  std::string_view name() const override { return Interface::kVendor; }

  std::string unavailable() override {
    if (!library().unavailable.empty()) return library().unavailable;
    if (forks() == library().forks) return {};
    return core::say("this process was forked after ", Interface::kRuntime, " had been initialised, which ",
                     Interface::kRuntime,
                     " does not survive; start a new process, or fork before the first GPU call");
  }

  int devices() override {
    int count = 0;
    if (unavailable().empty()) static_cast<void>((library().*Interface::kCount)(&count));
    return count;
  }

  const Facts& facts(int device) override { return place(device).facts; }

  Module load(int device, const Image& image) override {
    const OnThread here(*this, device);
    typename Interface::ModuleHandle module = nullptr;
    must("ModuleLoadData", library().module_load_data(&module, image.bytes.data()));
    return module;
  }

  void unload(int device, Module module) noexcept override {
    quietly(device,
            [&] { return library().module_unload(static_cast<typename Interface::ModuleHandle>(module)); });
  }

  Stream make_stream(int device) override {
    const OnThread here(*this, device);
    StreamHandle stream = nullptr;
    must(Interface::kStreamCreate, library().stream_create(&stream, Interface::kNonBlocking));
    return stream;
  }

  void release_stream(int device, Stream stream) noexcept override {
    quietly(device, [&] { return library().stream_destroy(static_cast<StreamHandle>(stream)); });
  }

  void synchronize(int device, Stream stream) override {
    const OnThread here(*this, device);
    must("StreamSynchronize", library().stream_synchronize(static_cast<StreamHandle>(stream)));
  }

  bool capturing(int device, Stream stream) override {
    const OnThread here(*this, device);
    typename Interface::CaptureStatus status{};
    // An invalidated capture may answer with an error: nothing may be loaded there either.
    return library().stream_is_capturing(static_cast<StreamHandle>(stream), &status) != Interface::kGood ||
           status != Interface::kNoCapture;
  }

  Event make_event(int device) override {
    const OnThread here(*this, device);
    EventHandle event = nullptr;
    must(Interface::kEventCreate, library().event_create(&event, Interface::kTimed));
    return event;
  }

  void release_event(int device, Event event) noexcept override {
    quietly(device, [&] { return library().event_destroy(static_cast<EventHandle>(event)); });
  }

  void record(int device, Stream stream, Event event) override {
    const OnThread here(*this, device);
    must("EventRecord",
         library().event_record(static_cast<EventHandle>(event), static_cast<StreamHandle>(stream)));
  }

  double seconds_between(int device, Event first, Event second) override {
    const OnThread here(*this, device);
    must("EventSynchronize", library().event_synchronize(static_cast<EventHandle>(second)));
    float milliseconds = 0;
    must("EventElapsedTime", library().event_elapsed_time(&milliseconds, static_cast<EventHandle>(first),
                                                          static_cast<EventHandle>(second)));
    return milliseconds * 1e-3;
  }

 protected:
  using Result = typename Interface::Result;
  using StreamHandle = typename Interface::StreamHandle;
  using EventHandle = typename Interface::EventHandle;

  /// A device that has been opened.
  struct Place {
    std::atomic<bool> opened{false};
    std::mutex opening;
    typename Interface::Current current{};
    Facts facts;
    int forks = 0;  ///< of the process before the library was initialised
  };

  /// What is current on this thread is the device's, and afterwards whatever was.
  class OnThread : Switched<typename Interface::Current, Result> {
   public:
    OnThread(DriverVendor& vendor, int device)
        : Switched<typename Interface::Current, Result>(
              vendor.library().*Interface::kGet, vendor.library().*Interface::kSet,
              vendor.place(device).current, [&](Result result, bool set) {
                vendor.must(set ? Interface::kSetWord : Interface::kGetWord, result);
              }) {}
  };

  /// Fills in a place.
  virtual void open(Place& place, int device) = 0;

  const typename Interface::Library& library() const { return Interface::Library::get(); }

  Place& place(int device) {
    // A place that was opened is lost to a fork alone; everything else is asked once.
    if (static_cast<unsigned>(device) < static_cast<unsigned>(kMostDevices)) {
      Place& known = places_[static_cast<std::size_t>(device)];
      if (known.opened.load(std::memory_order_acquire) && forks() == known.forks) return known;
    }
    return open_place(device);
  }

  /// `word` is a function's name without what all of them begin with.
  void must(const char* word, Result result) const {
    if (result != Interface::kGood)
      fail_call(name(), core::say(Interface::kPrefix, word), Interface::meaning(result),
                name_of(library(), result));
  }

  void must(const Launch& launch, Result result) const {
    if (result != Interface::kGood)
      fail_launch(name(), launch, Interface::meaning(result), name_of(library(), result));
  }

  /// For what gives something back: a device that is lost has nothing left to take.
  template <class Call>
  void quietly(int device, const Call& call) noexcept {
    try {
      const OnThread here(*this, device);
      static_cast<void>(call());
    } catch (const Error&) {
    }
  }

 private:
  static constexpr int kMostDevices = 64;

  Place& open_place(int device) {
    if (const std::string reason = unavailable(); !reason.empty())
      core::fail(ErrorCode::device, name(), ": ", reason);
    if (device < 0 || device >= kMostDevices)
      core::fail(ErrorCode::device, name(), ": at most ", kMostDevices, " devices are used, got ", name(),
                 ":", device);
    Place& found = places_[static_cast<std::size_t>(device)];
    // Not std::call_once: under the thread sanitizer a call that throws is never over.
    if (!found.opened.load(std::memory_order_acquire)) {
      const std::scoped_lock lock(found.opening);
      if (!found.opened.load(std::memory_order_relaxed)) {
        open(found, device);
        found.forks = library().forks;
        found.opened.store(true, std::memory_order_release);
      }
    }
    return found;
  }

  std::array<Place, kMostDevices> places_;
};

}  // namespace isomer::gpu
