#include "module/object_symbols.hpp"

#include <elf.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>

#include "module/compiler.hpp"

namespace isomer::emulator {
namespace {

// A program's main under another name, as the rewriter gives it.
constexpr std::string_view kRenamedMain = "isomer_emulator_main";
constexpr std::string_view kOwn[] = {"__wrap_", "__real_", "__tsan_", "__ubsan_", "isomer_emulator_"};

struct Reaching {
  std::string_view name;
  bool in_source = false;  // counts where the source's own text has it
};
constexpr Reaching kReaching[] = {{"ptrace"},
                                  {"process_vm_readv"},
                                  {"process_vm_writev"},
                                  {"pidfd_open"},
                                  {"pidfd_getfd"},
                                  {"syscall"},
                                  {"prctl"},
                                  {"dlopen"},
                                  {"dlmopen"},
                                  {"dlsym", true},
                                  {"dlvsym"},
                                  {"dladdr", true},
                                  {"dl_iterate_phdr"},
                                  {"socket"},
                                  {"socketpair"},
                                  {"connect"},
                                  {"bind"},
                                  {"listen"},
                                  {"sendmsg"},
                                  {"gethostbyname"},
                                  {"getaddrinfo"},
                                  {"fork"},
                                  {"vfork"},
                                  {"clone"},
                                  {"pthread_create"},
                                  {"sigprocmask"},
                                  {"pthread_sigmask"},
                                  {"environ"},
                                  {"creat", true},
                                  {"freopen", true},
                                  {"access", true},
                                  {"realpath", true},
                                  {"mmap", true},
                                  {"execve"},
                                  {"execv"},
                                  {"execvp"},
                                  {"execl"},
                                  {"execlp"},
                                  {"execle"},
                                  {"fexecve"},
                                  {"posix_spawn"},
                                  {"posix_spawnp"},
                                  {"system"},
                                  {"popen"},
                                  {"kill"},
                                  {"tgkill"},
                                  {"tkill"},
                                  {"killpg"},
                                  {"sigqueue"},
                                  {"setsid"},
                                  {"daemon"},
                                  {"getppid"},
                                  {"memfd_create"},
                                  {"shm_open"},
                                  {"shmget"},
                                  {"shmat"},
                                  {"msgget"},
                                  {"mq_open"},
                                  {"inotify_init"},
                                  {"inotify_init1"},
                                  {"setrlimit"},
                                  {"prlimit"},
                                  {"setitimer"},
                                  {"alarm"},
                                  {"timer_create"},
                                  {"sigaction"},
                                  {"signal"},
                                  {"mprotect"},
                                  {"mremap"},
                                  {"pwrite"},
                                  {"pwrite64"},
                                  {"ftruncate"},
                                  {"dup2"},
                                  {"dup3"},
                                  {"atexit", true},
                                  {"on_exit"},
                                  {"register_atfork"},
                                  {"pthread_atfork"},
                                  {"_exit", true},
                                  {"quick_exit"},
                                  {"getenv", true},
                                  {"secure_getenv", true},
                                  {"setenv"},
                                  {"putenv"},
                                  {"unsetenv"},
                                  {"getauxval"},
                                  {"open", true},
                                  {"open64", true},
                                  {"openat", true},
                                  {"fopen", true},
                                  {"fopen64", true},
                                  {"opendir"},
                                  {"readlink"},
                                  {"unlink"},
                                  {"remove"},
                                  {"rename"},
                                  {"mkdir"},
                                  {"chmod"},
                                  {"write", true},
                                  {"read", true},
                                  {"backtrace", true}};

// What a program would measure its time by, or get its memory from.
constexpr std::string_view kOfTheSystem[] = {"clock_gettime",
                                             "gettimeofday",
                                             "time",
                                             "clock",
                                             "times",
                                             "nanosleep",
                                             "malloc",
                                             "calloc",
                                             "realloc",
                                             "free",
                                             "memcpy",
                                             "memmove",
                                             "memset",
                                             "read",
                                             "write",
                                             "exit",
                                             "_exit",
                                             "abort",
                                             "fork",
                                             "dlsym",
                                             "cudaEventElapsedTime",
                                             "hipEventElapsedTime"};

// What the C++ library opens and starts has names of its own.
struct OfLibrary {
  std::string_view begin, name, word;  // of the symbol; as it is told; in the source
};
constexpr OfLibrary kOfLibrary[] = {{"_ZNSt6thread", "std::thread", "thread"},
                                    {"_ZNSt14basic_ifstream", "std::ifstream", "ifstream"},
                                    {"_ZNSt14basic_ofstream", "std::ofstream", "ofstream"},
                                    {"_ZNSt13basic_fstream", "std::fstream", "fstream"},
                                    {"_ZNSt13basic_filebuf", "std::filebuf", "filebuf"},
                                    {"_ZNSt10filesystem", "std::filesystem", "filesystem"}};

// The C library has its functions under further names: __fork, __libc_open64, __open_2, __read_chk, pwrite64.
std::string_view plain_name(std::string_view name) {
  if (name.substr(0, 2) != "__" && name.substr(0, 1) == "_") return name;  // _exit
  while (name.substr(0, 1) == "_") name.remove_prefix(1);
  if (name.substr(0, 5) == "libc_") name.remove_prefix(5);
  for (const std::string_view end : {"_2", "_chk", "64"})
    if (name.size() > end.size() && name.substr(name.size() - end.size()) == end)
      name.remove_suffix(end.size());
  return name;
}

bool has_word(const std::string& text, std::string_view word) {
  const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if ((at == 0 || !part(text[at - 1])) &&
        (at + word.size() == text.size() || !part(text[at + word.size()])))
      return true;
  return false;
}

}  // namespace

ObjectSymbols symbols_of_object(const std::filesystem::path& file) {
  ObjectSymbols symbols;
  const std::string bytes = read_file(file);
  const auto at = [&](std::uint64_t offset, auto& value) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof value) return false;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return true;
  };
  Elf64_Ehdr head{};
  if (!at(0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64)
    return symbols;
  // More sections than its field can say are said in the first section.
  Elf64_Shdr first{};
  std::uint64_t sections = head.e_shnum;
  if (sections == 0 && at(head.e_shoff, first)) sections = first.sh_size;
  for (std::uint64_t i = 0; i < sections; ++i) {
    Elf64_Shdr table{}, names{};
    if (!at(head.e_shoff + i * sizeof table, table)) break;
    if (table.sh_type != SHT_SYMTAB || !at(head.e_shoff + table.sh_link * sizeof names, names)) continue;
    for (std::uint64_t k = 0; k < table.sh_size / sizeof(Elf64_Sym); ++k) {
      Elf64_Sym symbol{};
      if (!at(table.sh_offset + k * sizeof symbol, symbol)) break;
      const std::uint64_t name = names.sh_offset + symbol.st_name;
      if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL || symbol.st_name == 0 || name >= bytes.size()) continue;
      (symbol.st_shndx == SHN_UNDEF ? symbols.taken : symbols.defined)
          .emplace_back(bytes.data() + name, strnlen(bytes.data() + name, bytes.size() - name));
    }
  }
  return symbols;
}

std::string checkers_own(const std::vector<std::string>& defined, const std::string& source) {
  // The emulator's own headers of libraries define it, and no source.
  constexpr std::string_view kOfLibraries = "isomer_emulator_computes_on_the_host";
  for (const std::string& name : defined) {
    if (name == kOfLibraries && source.find(kOfLibraries) == std::string::npos) continue;
    for (const std::string_view own : kOwn)
      if (name != kRenamedMain && name.compare(0, own.size(), own) == 0) return name;
  }
  return {};
}

std::vector<std::string> reaching_out(const ObjectSymbols& symbols, const std::string& source) {
  std::vector<std::string> all;
  const auto among = [](const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const auto tell = [&](std::string sentence) {
    if (!among(all, sentence)) all.push_back(std::move(sentence));
  };
  for (const Reaching& each : kReaching)
    for (const std::string& name : symbols.taken)
      if ((name == each.name || plain_name(name) == each.name) &&
          (!each.in_source || has_word(source, name) || has_word(source, each.name)))
        tell("uses " + std::string(each.name));
  for (const OfLibrary& each : kOfLibrary)
    for (const std::string& name : symbols.taken)
      if (name.compare(0, each.begin.size(), each.begin) == 0 && has_word(source, each.word))
        tell("uses " + std::string(each.name));
  for (const std::string_view name : kOfTheSystem)
    if (among(symbols.defined, name)) all.push_back("defines " + std::string(name));
  return all;
}

}  // namespace isomer::emulator
