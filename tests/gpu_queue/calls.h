#ifndef ISOMER_TESTS_GPU_QUEUE_CALLS_H
#define ISOMER_TESTS_GPU_QUEUE_CALLS_H

#include <isomer/isomer.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens the second emulated device, prepares y = sin(x) there and then computes it. x and y are memory of that
 * device; `prepared` runs between the two. The first status that is not ISOMER_OK. */
isomer_status sine_on_the_emulator(void* x, void* y, isomer_int64 count, void (*prepared)(void));

#ifdef __cplusplus
}
#endif

#endif
