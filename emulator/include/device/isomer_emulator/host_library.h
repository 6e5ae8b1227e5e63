// For headers of libraries whose work the host does in a device's place.
#pragma once

#include <cstddef>

// Its memory stays open to host code of a file that has this.
extern "C" {
__attribute__((visibility("default"), weak, used)) int isomer_emulator_computes_on_the_host = 1;
}

namespace isomer::emulator {

constexpr int kLittleRoom = 256;
inline void note_room(std::size_t* bytes, int*&) { *bytes = kLittleRoom; }
inline void note_room(int* size, int*& last) { last = size; }
template <class Other>
void note_room(Other, int*&) {}
/// Says how much room a function wants beside: to each pointer to std::size_t, and to the last one to int.
template <class... A>
void want_little_room(A... arguments) {
  int* last = nullptr;
  (note_room(arguments, last), ...);
  if (last != nullptr) *last = kLittleRoom;
}

}  // namespace isomer::emulator

/// What a library makes and destroys by a pointer to it, and nothing else. A status of zero is success.
#define ISOMER_EMULATOR_MADE(STATUS, CREATE, DESTROY, HANDLE, TYPE) \
  static inline STATUS CREATE(HANDLE* made) {                       \
    *made = new TYPE;                                               \
    return STATUS{};                                                \
  }                                                                 \
  static inline STATUS DESTROY(HANDLE made) {                       \
    delete made;                                                    \
    return STATUS{};                                                \
  }
/// How much room a function wants.
#define ISOMER_EMULATOR_LITTLE_ROOM(STATUS, HANDLE, NAME) \
  template <class... A>                                   \
  static inline STATUS NAME(HANDLE, A... arguments) {     \
    isomer::emulator::want_little_room(arguments...);     \
    return STATUS{};                                      \
  }
/// What is found out beforehand, where nothing is: the work asks for it itself.
#define ISOMER_EMULATOR_BEFOREHAND(STATUS, HANDLE, NAME) \
  template <class... A>                                  \
  static inline STATUS NAME(HANDLE, A...) {              \
    return STATUS{};                                     \
  }
