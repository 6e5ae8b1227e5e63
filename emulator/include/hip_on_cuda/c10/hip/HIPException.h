#pragma once
#include "HIPStream.h"
