#include <cstdlib>
#include <cstring>

#include "child/runner.hpp"
#include "child/session_child.hpp"

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "session") == 0) return isomer_emulator_session();
  if (argc > 2 && std::strcmp(argv[1], "contain") == 0) return isomer_emulator_contain(argc - 2, argv + 2);
  if (argc > 3 && std::strcmp(argv[1], "join") == 0) return isomer_emulator_join(argv[2], argv + 3);
  if (argc != 3) return 2;
  return isomer_emulator_runner(std::atoi(argv[1]), std::atoi(argv[2]));
}
