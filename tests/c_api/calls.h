#ifndef ISOMER_TESTS_CALLS_H
#define ISOMER_TESTS_CALLS_H

#include <isomer/isomer.h>

#ifdef __cplusplus
extern "C" {
#endif

isomer_status sine_of_row(isomer_queue* queue, const float* x, float* y, isomer_int64 count);
isomer_status save_and_load(const char* path, float* values, isomer_int64 count, isomer_bundle** bundle);
isomer_data_type type_of(int index);
int start_values_are_accepted(void);

#ifdef __cplusplus
}
#endif

#endif
