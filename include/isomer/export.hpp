#pragma once

// Everything that is not marked is hidden in libisomer.so.
#define ISOMER_API __attribute__((visibility("default")))
