// Ports as they are found: kernels and host functions written in many manners, about half of them right.
#include "ported/every_port.hpp"

#include <stdlib.h>

namespace isomer::lab {
namespace {

INSTANTIATE_TEST_SUITE_P(Kernels, EveryPort, testing::ValuesIn(ported()), name_of_port);

TEST(AFolder, WhoseTestIsNoPythonIsToldSoAndItsCandidateJudged) {
  setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
  std::string pattern = (fs::temp_directory_path() / "isomer-ported-XXXXXX").string();
  const fs::path root = mkdtemp(pattern.data());
  fs::copy_file(fs::path(ISOMER_PORTED) / "sin_bare.cu", root / "candidate.cu");
  std::ofstream(root / "3_test_code.py") << "import torch\ndef test_sin(:\n    pass\n";
  CaseFolder folder;
  folder.folder = root;
  folder.candidates = {root / "candidate.cu"};
  folder.test = root / "3_test_code.py";
  folder.op = "sin";
  const std::vector<Diagnosis> said = diagnose_folder(folder);
  fs::remove_all(root);
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0].verdict(), "pass") << said[0].error;
  EXPECT_EQ(said[1].verdict(), "error");
  EXPECT_EQ(said[1].candidate, "3_test_code.py");
  EXPECT_NE(said[1].error.find("3_test_code.py:2: "), std::string::npos) << said[1].error;
}

}  // namespace
}  // namespace isomer::lab
