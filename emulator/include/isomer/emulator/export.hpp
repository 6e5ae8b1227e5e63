// What the emulator's library shows.
#pragma once

#define ISOMER_EMULATOR_EXPORT __attribute__((visibility("default")))
