// `isomer` as a user calls it, wrongly: one sentence on stderr, nothing on stdout, exit 2. (emulate has tests
// of its own.)
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace isomer {
namespace {

namespace fs = std::filesystem;

struct Said {
  int exit = -1;
  std::string out, err;
};

class CommandLine : public testing::Test {
 protected:
  CommandLine() : folder(testing::TempDir() + "command_line_" + std::to_string(getpid())) {
    fs::create_directories(folder);
  }
  ~CommandLine() override { fs::remove_all(folder); }

  std::string path(const std::string& name) const { return folder / name; }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  static std::string read(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  Said isomer(const std::string& words, const std::string& out = "") const {
    const std::string to = out.empty() ? path("out") : out;
    const int status =
        std::system((std::string(ISOMER_CLI) + " " + words + " >" + to + " 2>" + path("err")).c_str());
    return {WEXITSTATUS(status), out.empty() ? read(to) : "", without_sanitizer(read(path("err")))};
  }
  /// The address sanitizer says by itself, in a line of its own, that there is no memory.
  static std::string without_sanitizer(std::string text) {
    const std::size_t word = text.find("WARNING: AddressSanitizer failed to allocate");
    if (word == std::string::npos) return text;
    const std::size_t begin = text.rfind('\n', word) + 1;  // npos + 1 is 0: the first line
    return text.erase(begin, text.find('\n', word) + 1 - begin);
  }

  /// Words, and what the sentence must say.
  struct Refusal {
    std::string words, says;
  };
  void refused(const std::vector<Refusal>& table) const {
    for (const auto& [words, says] : table) {
      const Said said = isomer(words);
      EXPECT_EQ(said.exit, 2) << words << ": " << said.out << said.err;
      EXPECT_EQ(said.out, "") << words;
      EXPECT_TRUE(said.err.starts_with("isomer: ")) << words << ": " << said.err;
      EXPECT_EQ(std::count(said.err.begin(), said.err.end(), '\n'), 1) << words << ": " << said.err;
      EXPECT_LT(said.err.size(), 400u) << words << ": " << said.err;
      EXPECT_NE(said.err.find(says), std::string::npos) << words << ": " << said.err;
    }
  }

  fs::path folder;
};

TEST_F(CommandLine, RefusesWordsThatAreNoVerb) {
  refused({{"nonsense", "expected a verb (check, ops, record, explain, "},
           {"nonsense sin", "got 'nonsense'"},
           {"--json", "expected a verb (check, ops, record, explain, "},
           {"--purple check", "--purple"},
           {"check ops", "expected an op (sin, "}});
}

TEST_F(CommandLine, RefusesNonsenseToCheck) {
  refused({
      {"check nonsense", "check: expected an op (sin, "},
      {"check --op nonsense", "got 'nonsense'"},
      {"check --implementation cpu/abacus", "check: expected an implementation ("},
      {"check --backend tpu", "check: expected a backend (cpu, cuda, hip or emulated), got 'tpu'"},
      {"check --backend", "--backend"},
      {"check --case ''", "case: expected an op first ("},
      {"check --case 'nonsense n=3'", "got 'nonsense'"},
      {"check --case 'sin n'", "sin: n expects a value, as in n=1024"},
      {"check --case 'sin n='", "sin: n expects an integer, got ''"},
      {"check --case 'sin n=x'", "sin: n expects an integer, got 'x'"},
      {"check --case 'sin n=3 n=4'", "sin: n is given twice"},
      {"check --case 'sin n=99999999999999999999'", "sin: n expects an integer"},
      {"check --case 'sin colour=red'", "sin: a case has no 'colour'; known: n="},
      {"check --case 'sin n=-3'", "sin: x has shape [1, -3], expected no negative size"},
      {"check --case 'sin n=4611686018427387904'", "sin: no memory for x, which spans more than 2^56"},
      {"check --case 'sin n=9223372036854775807 padded'", "sin: no memory for x"},
      {"check --case 'sin n=4294967296 rows=4294967296'", "sin: no memory for x"},
      {"check --case 'act_quant m=3 k=100'", "expected a multiple of block_size 128"},
      {"check --json --case 'attention b=1 sq=3 d=7'", "expected a multiple of 8 from 8 to 256"},
      {"check attention --case 'sin n=3'", "check: the case 'sin n=3' belongs to sin, but only attention is"},
      {"check --seed 0", "--seed: expected a whole number from 1 to 18446744073709551615, got '0'"},
      {"check --seed -1", "--seed: expected a whole number from 1 to 18446744073709551615, got '-1'"},
      {"check --seed x", ", got 'x'"},
      {"check --jobs 0", "--jobs: Value 0 not in range 1 to 1024"},
      {"check --jobs 1.5", "--jobs"},
      {"check --json=" + path("out.json"), "--json"},
      {"check --purple", "--purple"},
      {"check sin --junit " + path("no/such/folder.xml"), "check: cannot write '"},
      {"check sin --junit " + folder.string(), "Is a directory"},
      {"check sin --seed 1 --junit /dev/full", "check: cannot write '/dev/full': No space left on device"},
  });
}

TEST_F(CommandLine, RefusesPathsWithoutACandidate) {
  const std::string bundle = file("cut.safetensors", "\x10\0\0");
#ifdef ISOMER_HAS_EMULATOR
  refused({{"check " + path("absent.hip.cpp"), "absent.hip.cpp: no such file or folder"},
           {"check " + bundle, "cut.safetensors: no candidate, expected a .hip.cpp"},
           {"check " + folder.string(), "no case in this folder, expected 2_initial_predict.hip.cpp"}});
#else
  for (const std::string& word : {path("absent.hip.cpp"), bundle, folder.string()})
    refused({{"check " + word, "is a path, and this build has no emulator to run candidates on"}});
#endif
}

TEST_F(CommandLine, RefusesNonsenseToRecord) {
  const std::string test = file("3_test_code.py", "def f(:\n");
  refused({
      {"record", "record: expected a folder or python3 TEST.py, got nothing"},
      {"record " + path("absent"), "record: expected a folder or python3 TEST.py, got '"},
      {"record " + path("absent.py"), "record: there is no file "},
      {"record -- ls -l", "got 'ls'"},
      {"record --table", "record: --table expects a folder of labels"},
      {"record -- python3 -m pytest", "record: -m names no file; expected python3 TEST.py"},
      {"record " + folder.string(), "3_test_code.py:1: invalid syntax"},
      {"record --test " + path("absent.py"), "record: there is no file "},
      {"record --timeout 0 " + folder.string(), "--timeout"},
      {"record --max-bytes -1 " + folder.string(), "--max-bytes"},
      {"record --purple", "--purple"},
  });
  std::filesystem::remove(test);
  refused({{"record " + folder.string(), "has neither 1_label_source.py nor 3_test_code.py"}});
}

TEST_F(CommandLine, SaysWhereACaseNeedsMoreMemoryThanThereIs) {
  // Otherwise a sanitizer's allocator ends the program.
  setenv("ASAN_OPTIONS", "allocator_may_return_null=1", 1);
  setenv("TSAN_OPTIONS", "allocator_may_return_null=1", 1);
  refused({{"check --case 'sin n=1000000000000000'", "isomer: sin: no memory for x of 40000000000"},
           {"explain sin n=1000000000000000", "isomer: sin: no address space for x of 40000000000"}});
  // A plan needs no memory.
  const Said said = isomer("explain sin n=100000000000");
  EXPECT_EQ(said.exit, 0) << said.out << said.err;
}

TEST_F(CommandLine, RefusesNonsenseToOpsExplainAndDoctor) {
  refused({
      {"ops nonsense", "ops: expected an op (sin, "},
      {"ops sin nonsense --json", "got 'nonsense'"},
      {"ops --purple", "--purple"},
      {"explain", "case is required"},
      {"explain nonsense", "case: expected an op first ("},
      {"explain sin n=", "sin: n expects an integer, got ''"},
      {"explain sin n=3 act_quant m=3", "sin: a case has no 'act_quant'"},
      {"explain sin n=3 --implementation cpu/abacus", "explain: expected an implementation of sin ("},
      {"explain attention b=1 sq=3 d=7", "expected a multiple of 8 from 8 to 256"},
      {"explain sin n=4611686018427387904 --json", "sin: no memory for x, which spans more than 2^56"},
      {"doctor sin", "sin"},
      {"doctor --purple", "--purple"},
  });
}

TEST_F(CommandLine, RefusesNonsenseToBenchBeforeItMeasures) {
  const std::string words = file("words", "a ratio, please: sin\n"), comment = file("comment", "# none\n");
  const std::string unknown = file("unknown", "0.5 nonsense n=3\n");
  refused({
      {"bench nonsense", "bench: expected an op (sin, "},
      {"bench sin --case 'act_quant m=3 k=256'",
       "bench: the case 'act_quant m=3 k=256' belongs to act_quant, but only sin is asked for"},
      {"bench --case 'nonsense n=3'", "got 'nonsense'"},
      {"bench --case 'sin n='", "sin: n expects an integer, got ''"},
      {"bench --case 'sin n=-3'", "expected no negative size"},
      {"bench sin --implementation cpu/abacus", "queue: an implementation expected ("},
      {"bench sin --seconds 0", "--seconds: Value 0 not in range"},
      {"bench sin --seconds soon", "--seconds"},
      {"bench sin --gate " + path("absent"), "bench: cannot read '"},
      {"bench sin --gate " + words, ":1: expected a ratio and a case line, got 'a ratio, please: sin'"},
      {"bench sin --gate " + comment, "has no line `<ratio> <case>`"},
      {"bench sin --gate " + unknown, "got 'nonsense'"},
      {"bench sin --plot " + path("no/such/folder.svg"), "bench: cannot write '"},
      {"bench --purple", "--purple"},
  });
}

TEST_F(CommandLine, RefusesNonsenseToPrebuild) {
  const std::string none = file("none", "# nothing yet\n\n"), bad = file("bad", "# one\nsin n=\n");
  const std::string sin = file("sin", "sin n=3\n"), out = " --out " + path("bundle");
  refused({
      {"prebuild", "--arch is required"},
      {"prebuild --arch sm_90a", "--out is required"},
      {"prebuild --arch sm_2" + out, "prebuild: expected an architecture (sm_80, "},
      {"prebuild --arch sm_90a --arch emulated-32" + out, "got 'emulated-32'"},
      {"prebuild --arch sm_90a --op nonsense" + out, "prebuild: expected an op (sin, "},
      {"prebuild --arch sm_80 --implementation cuda/sm81" + out,
       "prebuild: expected an implementation (cuda/portable, "},
      {"prebuild --arch sm_90a --op attention --variants " + sin + out,
       "the case 'sin n=3' belongs to sin, but only attention is asked for"},
      {"prebuild --arch sm_90a --variants " + path("absent") + out, "prebuild: cannot read '"},
      {"prebuild --arch sm_90a --variants " + none + out, "has no case line"},
      {"prebuild --arch sm_90a --variants " + bad + out, "bad:2: sin: n expects an integer, got ''"},
      {"prebuild --arch sm_90a --jobs 0" + out, "--jobs"},
  });
  EXPECT_FALSE(fs::exists(path("bundle")));
  const Said unwritable = isomer("prebuild --arch sm_90a --op sin --out " + sin);
  EXPECT_EQ(unwritable.exit, 2) << unwritable.out;
  EXPECT_EQ(std::count(unwritable.err.begin(), unwritable.err.end(), '\n'), 1) << unwritable.err;
}

TEST_F(CommandLine, PrebuildsNothingWithoutACompiler) {
  setenv("ISOMER_NVRTC", "/nowhere/libnvrtc.so", 1);
  setenv("ISOMER_HIPRTC", "/nowhere/libhiprtc.so", 1);
  setenv("ISOMER_HIPCC", "/nowhere/hipcc", 1);
  refused({{"prebuild --arch gfx90a --op sin --out " + path("bundle"),
            "prebuild: nothing can be compiled for gfx90a here: "}});
  unsetenv("ISOMER_NVRTC");
  unsetenv("ISOMER_HIPRTC");
  unsetenv("ISOMER_HIPCC");
}

#ifdef ISOMER_HAS_NVRTC
TEST_F(CommandLine, PrebuildsABundleThatExplainReads) {
  const std::string two = file("two", "sin n=3000  # whole vectors\nsin n=3000 f16 seed=3\nsin n=6000\n");
  const Said built =
      isomer("prebuild --arch sm_90a --no-spills --variants " + two + " --out " + path("bundle"));
  EXPECT_EQ(built.exit, 0) << built.out << built.err;
  EXPECT_NE(built.out.find("isomer_sin element=f32 vector=4"), std::string::npos) << built.out;
  EXPECT_NE(built.out.find("\n2 programs of 3 plans: 2 compiled into "), std::string::npos) << built.out;
  setenv("ISOMER_BUNDLE", path("bundle").c_str(), 1);
  const std::string known = isomer("explain sin n=9000 --backend cuda:sm_90a").out;
  const std::string other = isomer("explain sin n=9000 bf16 --backend cuda:sm_90a --json").out;
  unsetenv("ISOMER_BUNDLE");
  EXPECT_NE(known.find("  code      bundle "), std::string::npos) << known;
  EXPECT_NE(known.find(" registers, 0 bytes spilled"), std::string::npos) << known;
  EXPECT_NE(other.find("\"implementation\": \"cuda/portable\""), std::string::npos) << other;
  EXPECT_NE(other.find("\"binary\": null"), std::string::npos) << other;
}
#endif

TEST_F(CommandLine, RefusesBackendsThatCannotBePlannedFor) {
  refused({
      {"explain sin n=3 --backend tpu", "explain: expected a backend (cpu, cuda"},
      {"explain sin n=3 --backend cuda:sm_2", "explain: expected an architecture (sm_80, "},
      {"explain sin n=3 --backend hip:sm_90a",
       "explain: sm_90a is an architecture of cuda, got 'hip:sm_90a'"},
      {"explain sin n=3 --backend cuda:", "explain: expected an architecture ("},
  });
  const Said none = isomer("explain sin n=3 --backend cuda:sm_90a --implementation cpu/scalar");
  EXPECT_EQ(none.exit, 1);
  EXPECT_NE(none.out.find("runs on another device than cuda:sm_90a"), std::string::npos) << none.out;
}

TEST_F(CommandLine, ForcesAnInstructionSetOrSaysWhatIsMissing) {
  const auto under = [&](const char* name, const char* words) {
    setenv("ISOMER_CPU", name, 1);
    const Said said = isomer(words);
    unsetenv("ISOMER_CPU");
    return said;
  };
  const Said scalar = under("scalar", "explain sin n=3 --json");
  EXPECT_EQ(scalar.exit, 0) << scalar.err;
  EXPECT_NE(scalar.out.find("\"implementation\": \"cpu/scalar\""), std::string::npos) << scalar.out;
  const Said amx = under("amx", "check sin --case 'sin n=3'");
  EXPECT_EQ(amx.exit, 3) << amx.out;
  const std::string all = amx.out + amx.err;
  EXPECT_TRUE(all.find("ISOMER_CPU=amx is set, and this CPU has no AMX (TILE, BF16, INT8)") != all.npos ||
              all.find("ISOMER_CPU=amx is set, and the op has no code for it") != all.npos)
      << all;
  setenv("ISOMER_CPU", "abacus", 1);
  refused({{"explain sin n=3", "ISOMER_CPU expects scalar, neon, avx2, avx512 or amx, got 'abacus'"}});
  unsetenv("ISOMER_CPU");
}

TEST_F(CommandLine, ASettingOfTheEnvironmentThatIsNoneIsRefusedOnceAndNotByEachCase) {
  const auto under = [&](const char* variable, const char* value) {
    setenv(variable, value, 1);
    const Said said = isomer("check sin --backend emulated --case 'sin n=3' --case 'sin n=4'");
    unsetenv(variable);
    return said;
  };
  const Said jit = under("ISOMER_JIT", "sometimes");
  EXPECT_EQ(jit.exit, 2) << jit.out;
  EXPECT_EQ(jit.err, "isomer: ISOMER_JIT expects auto, never or always, got 'sometimes'\n");
#ifdef ISOMER_HAS_EMULATOR
  const Said watch = under("ISOMER_EMULATED_WATCH", "7");
  EXPECT_EQ(watch.exit, 3) << watch.out;
  EXPECT_NE(watch.out.find("not run  emulated/portable: ISOMER_EMULATED_WATCH expects 0 or 1, got '7'\n"),
            std::string::npos)
      << watch.out;
  EXPECT_EQ(watch.out.find("FAILED"), std::string::npos) << watch.out;
#endif
}

TEST_F(CommandLine, MeasuresWhatACallCostsOnTheHost) {
  const Said said = isomer("bench --host --seconds 0.01 --case 'sin n=1' --json");
  EXPECT_EQ(said.exit, 0) << said.err;
  for (const char* name :
       {"\"case\": \"sin n=1\"", "\"planning_seconds\"", "\"call_seconds\"", "\"plan_seconds\""})
    EXPECT_NE(said.out.find(name), std::string::npos) << said.out;
  const Said all = isomer("bench --host --seconds 0.01");
  EXPECT_EQ(all.exit, 0) << all.err;
  for (const char* op : {"\nsin ", "\nattention ", "\nfp8_gemm ", "\nflash_decode "})
    EXPECT_NE(all.out.find(op), std::string::npos) << all.out;
  refused({{"bench --host nonsense", "bench: expected an op"},
           {"bench --host --backend emulated", "bench: --host measures calls on the CPU"}});
}

// In place of a Python with PyTorch: it answers what it is given, so that no test needs PyTorch.
TEST_F(CommandLine, TimesPeersBesideACase) {
  const auto python = [&](const std::string& name, const std::string& body) {
    const std::string made = file(name, "#!/bin/sh\n" + body);
    fs::permissions(made, fs::perms::owner_all);
    return made;
  };
  const std::string good = python(
      "good", "echo '{\"torch\": \"PyTorch 9.9\"}'\nread request\nprintf '%s' \"$request\" > " +
                  path("request") +
                  "\necho '{\"peers\": [{\"name\": \"fast\", \"seconds\": [1.0, 2.0, 3.0], \"rounds\": 7}, "
                  "{\"name\": \"picky\", \"refused\": \"it has no such thing\"}]}'\n");
  const std::string call =
      "bench --seconds 0.01 --no-verify --case 'attention sq=4 d=16 f16 causal scale=0.5' --peers";
  const Said said = isomer(call + " --json --python " + good);
  EXPECT_EQ(said.exit, 0) << said.err;
  for (const char* part : {"\"peers\": \"PyTorch 9.9\"", "\"name\": \"fast\"", "\"median\": 2.0",
                           "\"refused\": \"it has no such thing\""})
    EXPECT_NE(said.out.find(part), std::string::npos) << part << said.out;
  const std::string request = read(path("request"));
  for (const char* part : {"\"op\":\"attention\"", "\"device\":\"cpu\"", "\"causal\":1", "\"scale\":0.5",
                           "\"dtype\":\"f16\",\"shape\":[1,4,1,16]"})
    EXPECT_NE(request.find(part), std::string::npos) << part << request;
  const Said table = isomer(call + " --python " + good);
  for (const char* part : {"of ours", "PyTorch 9.9", "picky does not take 'attention sq=4"})
    EXPECT_NE(table.out.find(part), std::string::npos) << part << table.out;
  refused(
      {{call + " --python " + path("absent"), "cannot be run; expected a Python that has PyTorch"},
       {call + " --python " + python("mute", "exit 3\n"), "ended before it told of its PyTorch"},
       {call + " --python " + python("bare", "echo '{\"error\": \"no PyTorch here\"}'\n"), "no PyTorch here"},
       {call + " --python " + python("wild", "echo nonsense\n"), "it answered nonsense"},
       {call + " --python " + python("number", "echo 3\n"), "it answered nonsense"},
       {call + " --python " +
            python("list", "echo '{\"torch\": \"1\"}'\nread request\necho '{\"peers\": [4]}'\n"),
        "bench: the peers answered nonsense"},
       {call + " --python " + python("dying", "echo '{\"torch\": \"1\"}'\nread request\n"),
        "bench: the process of the peers ended"},
       {"bench sin --python " + good, "--peers"}});
#ifdef ISOMER_HAS_EMULATOR
  refused({{call + " --backend emulated --python " + good, "PyTorch has no device emulated:0"}});
#endif
}

TEST_F(CommandLine, TellsASampleAsASample) {
  refused({{"check --sample 0", "--sample"},
           {"check sin --repeat 1", "--repeat"},
           {"check --sample 3 --case 'sin n=3'",
            "check: --sample chooses among the ordinary cases and cannot be combined with --case"}});
  const Said said = isomer("check sin --sample 5 --implementation cpu/scalar");
  EXPECT_EQ(said.exit, 0) << said.err;
  EXPECT_NE(said.out.find("sample   sin: 5 of "), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("a sample, not the whole"), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("5 checked, 5 passed"), std::string::npos) << said.out;
  EXPECT_EQ(said.out.find("all hold"), std::string::npos) << said.out;
  const Said json = isomer("check sin --sample 5 --implementation cpu/scalar --json");
  EXPECT_NE(json.out.find("\"sample\""), std::string::npos) << json.out.substr(0, 300);
  EXPECT_EQ(isomer("check sin --json").out.find("\"sample\""), std::string::npos);
}

TEST_F(CommandLine, LeavesNoReportBehindThatItDidNotWrite) {
  EXPECT_EQ(isomer("check nonsense --junit " + path("new.xml")).exit, 2);
  EXPECT_FALSE(fs::exists(path("new.xml")));
  const std::string kept = file("kept.xml", "of an earlier run");
  EXPECT_EQ(isomer("check nonsense --junit " + kept).exit, 2);
  EXPECT_EQ(read(kept), "of an earlier run");
  EXPECT_EQ(isomer("check sin --junit " + kept).exit, 0);
  EXPECT_TRUE(read(kept).starts_with("<?xml")) << read(kept).substr(0, 100);
}

TEST_F(CommandLine, SaysWhereItsOwnOutputDoesNotArrive) {
  for (const char* words : {"ops", "ops --json", "explain sin n=3", "check sin", "--help"}) {
    const Said said = isomer(words, "/dev/full");
    EXPECT_EQ(said.exit, 2) << words;
    EXPECT_NE(said.err.find("No space left on device"), std::string::npos) << words << ": " << said.err;
    EXPECT_EQ(std::count(said.err.begin(), said.err.end(), '\n'), 1) << words << ": " << said.err;
  }
}

TEST_F(CommandLine, TakesAnOpAfterAnOptionThatMayBeRepeated) {
  const Said said = isomer("check --implementation cpu/scalar sin");
  EXPECT_EQ(said.exit, 0) << said.err;
  EXPECT_NE(said.out.find("cpu/scalar"), std::string::npos) << said.out;
  EXPECT_EQ(said.out.find("cpu/avx2"), std::string::npos) << said.out;
  EXPECT_EQ(isomer("check --backend cuda sin").exit, 3);
}

TEST_F(CommandLine, RefusesNonsenseToKernels) {
  const std::string text = file("text", "hello"), cut = file("cut.cubin", "\177ELF\2\1"),
                    names = file("names.json", "{");
  const std::string cubin = ISOMER_TEST_DATA "/trace/fixtures/base.cubin";
  refused({{"kernels", "file is required"},
           {"kernels /nonexistent", "/nonexistent: cannot be read: No such file or directory"},
           {"kernels /", "/: cannot be read"},
           {"kernels " + file("empty", ""), "it is empty"},
           {"kernels " + text, "is not a binary with kernels, expected a shared library, "},
           {"kernels " + cut, "the ELF header lies outside"},
           {"kernels " ISOMER_CLI, "an ELF file without kernels"},
           {"kernels " + cubin + " --filter '('", "--filter: expected a regular expression, got '('"},
           {"kernels " + cubin + " --names " + names, "names.json is not a table of kernel names"}});
}

TEST_F(CommandLine, TellsTheKernelsOfABinary) {
  const std::string cubin = ISOMER_TEST_DATA "/trace/fixtures/base.cubin";
  const Said all = isomer("kernels " + cubin);
  EXPECT_EQ(all.exit, 0) << all.err;
  EXPECT_NE(all.out.find("3 kernels"), std::string::npos) << all.out;
  const Said one = isomer("kernels --filter 'softmax.*true' " + cubin);
  EXPECT_NE(one.out.find("1 kernel\n"), std::string::npos) << one.out;
  EXPECT_EQ(isomer("kernels --json " + cubin).out.substr(0, 1), "{");
  // Nothing looked at is not a pass.
  EXPECT_EQ(isomer("kernels --filter nothing_of_that_name " + cubin).exit, 3);
}

TEST_F(CommandLine, TellsItsVersion) {
  const Said said = isomer("--version");
  EXPECT_EQ(said.exit, 0);
  EXPECT_TRUE(said.out.starts_with("isomer ")) << said.out;
}

#ifdef ISOMER_HAS_EMULATOR
TEST_F(CommandLine, ATunedTableIsWrittenAndPlansReadIt) {
  const std::string line = "'fp8_gemm m=20 n=72 k=144 bf16'", table = path("tuned.json");
  const Said tuned =
      isomer("bench --backend emulated --seconds 0.01 --candidates 2 --case " + line + " --tune " + table);
  EXPECT_EQ(tuned.exit, 0) << tuned.err;
  // The model's second, which is no plan's own choice, is written in as the one to take.
  std::string text = read(table);
  const auto at = text.find("\"takes\":\"64x");
  ASSERT_NE(at, std::string::npos) << text;
  text.replace(at, text.find(',', at) - at, "\"takes\":\"64x128\"");
  setenv("ISOMER_TUNED", file("changed.json", text).c_str(), 1);
  const Said explained = isomer("explain --backend emulated fp8_gemm m=20 n=72 k=144 bf16");
  EXPECT_NE(explained.out.find("* 64x128 "), std::string::npos) << explained.out << explained.err;
  EXPECT_NE(explained.out.find(", measured "), std::string::npos) << explained.out;
  text.replace(text.find("64x128"), 6, "7x7777");
  setenv("ISOMER_TUNED", file("unknown.json", text).c_str(), 1);
  refused({{"explain --backend emulated fp8_gemm m=20 n=72 k=144 bf16", "takes '7x7777', expected one of "}});
  setenv("ISOMER_TUNED", file("broken.json", "[]").c_str(), 1);
  refused({{"explain --backend emulated fp8_gemm m=20 n=72 k=144 bf16", "is not valid at byte 0"}});
  unsetenv("ISOMER_TUNED");
  refused(
      {{"bench fp8_gemm --tune " + path("other.json"), "--tune expects a device whose plans have candidates"},
       {"bench fp8_gemm --candidates 3", "--tune"}});
}
#endif

}  // namespace
}  // namespace isomer
