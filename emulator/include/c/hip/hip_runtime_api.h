/* HIP's runtime for hosts in C. */
#ifndef ISOMER_EMULATOR_HIP_RUNTIME_C_H
#define ISOMER_EMULATOR_HIP_RUNTIME_C_H

#include "../isomer_emulator/language_c.h"

#define ISOMER_EMULATOR_HIP 1
#define ISOMER_EMULATOR_API(NAME) hip##NAME
#define ISOMER_EMULATOR_PROPERTIES hipDeviceProp_t
#define ISOMER_EMULATOR_ATTRIBUTES hipDeviceAttribute_t
#define ISOMER_EMULATOR_ATTRIBUTE(NAME) hipDeviceAttribute##NAME
#define ISOMER_EMULATOR_MULTIPROCESSOR_COUNT hipDeviceAttributeMultiprocessorCount
#include "../isomer_emulator/runtime_c.inc"
#undef ISOMER_EMULATOR_API
#undef ISOMER_EMULATOR_PROPERTIES
#undef ISOMER_EMULATOR_ATTRIBUTES
#undef ISOMER_EMULATOR_ATTRIBUTE
#undef ISOMER_EMULATOR_MULTIPROCESSOR_COUNT

#define hipStreamDefault 0
#define hipHostMallocDefault 0
#define hipHostMallocPortable 1
#define hipHostMallocMapped 2
#define hipMemAttachGlobal 1
#define hipMemAttachHost 2
#define hipHostRegisterDefault 0
#define hipErrorOutOfMemory hipErrorMemoryAllocation
#define hipErrorInvalidHandle hipErrorInvalidResourceHandle

#endif
