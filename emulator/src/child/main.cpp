#include <cstdlib>

#include "child/runner.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  return isomer_emulator_runner(std::atoi(argv[1]), std::atoi(argv[2]));
}
