#include "../device/library_types.h"
