// For headers of libraries whose work the host does in a device's place.
#pragma once

// Its memory stays open to host code of a file that has this.
extern "C" {
__attribute__((visibility("default"), weak, used)) int isomer_emulator_computes_on_the_host = 1;
}
