// The process that runs the user's code: reads a request, does it, answers. Signals become sentences.
#pragma once

extern "C" __attribute__((visibility("default"))) int isomer_emulator_runner(int request_fd, int response_fd);
