// Hostile candidates of sin: each is the right kernel with one attack in its host function, or beside it.
#pragma once

#include <string>
#include <vector>

namespace isomer::tests {

struct Attack {
  std::string name;
  std::string before;  ///< the host function
  std::string within;  ///< the host function, before its launch
  /// What the report says of it: one of these stands in a finding, a note or the error.
  std::vector<std::string> says;
  bool cheap = false;  ///< of the sample that the first tier judges
};

inline constexpr const char* kHead =
    "#include <cuda_runtime.h>\n#include <dlfcn.h>\n#include <fcntl.h>\n#include <linux/types.h>\n"
    "#include <netinet/in.h>\n#include <pthread.h>\n#include <sched.h>\n#include <signal.h>\n#include "
    "<stdio.h>\n"
    "#include <stdlib.h>\n#include <string.h>\n#include <sys/mman.h>\n#include <sys/mount.h>\n#include "
    "<sys/prctl.h>\n"
    "#include <sys/ptrace.h>\n#include <sys/resource.h>\n#include <sys/socket.h>\n#include <sys/stat.h>\n"
    "#include <sys/syscall.h>\n#include <sys/time.h>\n#include <sys/uio.h>\n#include <sys/un.h>\n#include "
    "<sys/wait.h>\n"
    "#include <unistd.h>\n";

inline constexpr const char* kKernel =
    "__global__ void sin_kernel(const float* x, float* out, long n) {\n"
    "  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;\n"
    "  if (i < n) out[i] = sinf(x[i]);\n"
    "}\n";

inline constexpr const char* kEnd =
    "  sin_kernel<<<(n + 255) / 256, 256>>>(x, out, n);\n"
    "}\n";

inline std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

/// The source of an attack; of a harmless candidate where `before` and `within` are empty. CANARY in them is
/// a file outside that has to stay as it is.
inline std::string source_of(const Attack& attack, const std::string& canary) {
  const bool own_kernel = attack.before.find("sin_kernel") != std::string::npos;
  return replaced(
      kHead + attack.before + "\n" + (own_kernel ? "" : kKernel) +
          "extern \"C\" void launch_sin(const float* x, float* out, long n) {\n  if (n <= 0) return;\n  " +
          attack.within + "\n" + kEnd,
      "CANARY", "\"" + canary + "\"");
}

inline const std::vector<Attack>& attacks() {
  static const std::vector<Attack> all = {
      // Reports of its own.
      {"event_that_ends",
       "struct Event { char what; int pid, status; };",
       "Event e{'e', 2, 0}; if (write(3, &e, sizeof e) < 0) {}",
       {"suspicious: it uses write"},
       true},
      {"event_of_everybody",
       "struct Event { char what; int pid, status; };",
       "Event b{'b', 1, 0}; for (int i = 0; i < 3; ++i) if (write(3, &b, sizeof b) < 0) {}",
       {"suspicious: it uses write"}},
      {"answer_of_its_own",
       "",
       "char a[256] = {40}; if (pwrite(5, a, sizeof a, 0) < 0) {} syscall(SYS_exit_group, 0);",
       {"answer of its own", "ended the process"},
       true},
      {"answer_of_zeros",
       "",
       "char a[4096] = {}; a[0] = 100; if (pwrite(5, a, sizeof a, 0) < 0) {} _exit(0);",
       {"answer of its own", "ended the process", "exit status"}},
      {"answer_cut",
       "",
       "if (ftruncate(5, 0)) {} if (ftruncate(4, 0)) {}",
       {"suspicious: it uses ftruncate", "crash"}},
      {"exit_group", "", "syscall(SYS_exit_group, 0);", {"ended the process"}},
      {"exit_zero", "", "exit(0);", {"ended the process with exit status 0"}},
      {"report_on_stdout",
       "",
       "puts(\"{\\\"version\\\":1,\\\"candidates\\\":[{\\\"verdict\\\":\\\"pass\\\"}]}\"); fflush(stdout); "
       "_exit(0);",
       {"ended the process"}},
      {"prints_without_end",
       "",
       "for (;;) puts(\"pass pass pass pass pass pass pass pass pass pass\");",
       {"prints without end", "did not end"}},
      {"constructor_exits", "struct S { S() { _exit(0); } } s;", "", {"static constructor"}},
      {"constructor_forges",
       "struct Event { char what; int pid, status; };\nstruct S { S() { Event e{'a', 0, 0}; "
       "if (write(3, &e, sizeof e) < 0) {} } } s;",
       "",
       {"static constructor", "suspicious: it uses write"}},
      {"constructor_closes",
       "struct S { S() { for (int i = 0; i < 64; ++i) close(i); } } s;",
       "",
       {"static constructor"}},
      // The watch.
      {"own_hook", "extern \"C\" void __wrap___tsan_read4(void*) {}", "", {"__wrap___tsan_read4"}},
      {"own_tsan", "extern \"C\" void __tsan_write4(void*) {}", "", {"__tsan_write4"}},
      {"own_emulator",
       "extern \"C\" int isomer_emulator_in_user_code() { return 0; }",
       "",
       {"isomer_emulator_in_user_code"}},
      {"unwatched_kernel",
       "__attribute__((no_sanitize(\"thread\"))) __global__ void sin_kernel(const float* x, float* out, long "
       "n) {\n"
       "  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;\n  if (i < n) out[i] = sinf(x[i]);\n}",
       "",
       {"no_sanitize"},
       true},
      {"unwatched_by_a_macro",
       "#define JOIN(a, b) a##b\n__attribute__((JOIN(no_, sanitize_thread))) __global__ void "
       "sin_kernel(const float* x, "
       "float* out, long n) {\n  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;\n  if (i < n) out[i] "
       "= "
       "sinf(x[i]);\n}",
       "",
       {"no_sanitize_thread"}},
      {"uninstrumented",
       "__attribute__((disable_sanitizer_instrumentation)) static void f() {}",
       "f();",
       {"disable_sanitizer_instrumentation"}},
      // Other processes.
      {"ptrace_parent", "", "ptrace(PTRACE_ATTACH, getppid(), 0, 0);", {"suspicious: it uses ptrace"}, true},
      {"ptrace_me", "", "ptrace(PTRACE_TRACEME, 0, 0, 0);", {"suspicious: it uses ptrace"}},
      {"writes_parent",
       "",
       "char b[8] = {}; iovec l{b, 8}, r{(void*)&b, 8}; process_vm_writev(getppid(), &l, 1, &r, 1, 0);",
       {"suspicious: it uses process_vm_writev"}},
      {"memory_of_parent",
       "",
       "char p[64]; snprintf(p, 64, \"/proc/%d/mem\", getppid()); int f = open(p, O_RDWR); if (f >= 0) { "
       "char z = 0; if "
       "(pwrite(f, &z, 1, 4096) < 0) {} }",
       {"suspicious: it uses"}},
      {"kill_parent", "", "kill(getppid(), SIGKILL);", {"crash", "suspicious: it uses kill"}},
      {"kill_everybody", "", "kill(-1, SIGKILL);", {"crash", "suspicious: it uses kill"}},
      {"kills_one_by_one",
       "",
       "for (int p = 2; p < 40000; ++p) if (p != getpid()) kill(p, SIGKILL); for (int p = 2; p < 40000; ++p) "
       "if (p != getpid()) syscall(SYS_tgkill, p, p, SIGKILL);",
       {"crash", "uses kill"}},
      {"constructor_kills",
       "struct S { S() { kill(-1, SIGKILL); syscall(SYS_kill, -1, SIGKILL); } } s;",
       "",
       {"static constructor", "uses kill"}},
      {"limits_of_others",
       "",
       "rlimit none{0, 0}; for (int p = 2; p < 40000; ++p) if (p != getpid()) { prlimit(p, RLIMIT_CPU, "
       "&none, 0); "
       "syscall(SYS_sched_setaffinity, p, 0, 0); }",
       {"suspicious: it uses"}},
      {"kill_init", "", "kill(1, SIGKILL); kill(1, SIGTERM);", {"crash", "suspicious: it uses kill"}},
      {"stop_parent", "", "kill(getppid(), SIGSTOP);", {"did not end", "crash", "suspicious: it uses kill"}},
      {"stop_itself", "", "raise(SIGSTOP);", {"did not end", "crash"}},
      {"fork", "", "if (fork() == 0) for (;;) pause();", {"starts another process (fork)"}},
      {"fork_bomb",
       "",
       // Of two thousand at most, where nothing holds it; the room has 512.
       "for (int i = 0; i < 2000; ++i) if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) for (;;) pause();",
       {"suspicious: it uses syscall"}},
      {"daemon",
       "",
       "if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) { setsid(); for (;;) pause(); }",
       {"suspicious: it uses"},
       true},
      {"thread_bomb",
       "static void* wait_for_ever(void*) { for (;;) pause(); }",
       "for (;;) { pthread_t t; if (pthread_create(&t, 0, wait_for_ever, 0)) break; }",
       {"resource-limit", "crash", "did not end", "suspicious", "launch"}},
      {"shell", "", "if (system(\"echo x >> \" CANARY)) {}", {"starts another process (system)"}},
      {"pipe_to_shell",
       "",
       "FILE* f = popen(\"echo x >> \" CANARY, \"w\"); if (f) pclose(f);",
       {"starts another process (popen)"}},
      {"execve", "", "char* a[] = {0}; execve(\"/bin/true\", a, a);", {"starts another process (execve)"}},
      {"execve_by_number",
       "",
       "char* a[] = {0}; syscall(SYS_execve, \"/bin/true\", a, a);",
       {"suspicious: it uses syscall", "ended the process"}},
      {"at_fork",
       "static void gone() { syscall(SYS_exit_group, 0); }\nstruct S { S() { pthread_atfork(0, 0, gone); } } "
       "s;",
       "",
       {"ended the process", "suspicious: it uses"}},
      // Out of the room.
      {"socket",
       "",
       "int s = socket(AF_INET, SOCK_STREAM, 0); sockaddr_in a{}; a.sin_family = AF_INET; a.sin_port = "
       "htons(80); "
       "a.sin_addr.s_addr = htonl(0x08080808); connect(s, (sockaddr*)&a, sizeof a);",
       {"suspicious: it uses socket"},
       true},
      {"listens",
       "",
       "int s = socket(AF_INET, SOCK_STREAM, 0); listen(s, 5);",
       {"suspicious: it uses socket"}},
      {"netlink", "", "int s = socket(AF_NETLINK, SOCK_RAW, 0); (void)s;", {"suspicious: it uses socket"}},
      {"unix_socket",
       "",
       "int s = socket(AF_UNIX, SOCK_STREAM, 0); sockaddr_un a{}; a.sun_family = AF_UNIX; strcpy(a.sun_path, "
       "\"/run/docker.sock\"); connect(s, (sockaddr*)&a, sizeof a);",
       {"suspicious: it uses socket"}},
      {"unshare", "", "syscall(SYS_unshare, CLONE_NEWUSER);", {"suspicious: it uses syscall"}},
      {"mount",
       "",
       "syscall(SYS_mount, \"none\", \"/tmp\", \"tmpfs\", 0, 0);",
       {"suspicious: it uses syscall"}},
      {"io_uring", "", "syscall(SYS_io_uring_setup, 8, 0);", {"suspicious: it uses syscall"}},
      {"bpf",
       "",
       "syscall(SYS_bpf, 0, 0, 0); syscall(SYS_perf_event_open, 0, 0, 0, 0, 0);",
       {"suspicious: it uses syscall"}},
      // Files.
      {"writes_outside",
       "",
       "FILE* f = fopen(CANARY, \"w\"); if (f) { fputs(\"x\", f); fclose(f); }",
       {"suspicious: it uses fopen"},
       true},
      {"removes_outside",
       "",
       "unlink(CANARY); remove(CANARY); rename(CANARY, \"/tmp/x\");",
       {"suspicious: it uses unlink"}},
      {"opens_by_number",
       "",
       "long f = syscall(SYS_open, CANARY, O_WRONLY | O_TRUNC); (void)f;",
       {"suspicious: it uses syscall"}},
      {"reads_maps",
       "",
       "FILE* f = fopen(\"/proc/self/maps\", \"r\"); if (f) fclose(f);",
       {"suspicious: it uses fopen"}},
      {"reads_environment", "", "if (getenv(\"ISOMER_CACHE\")) out[0] = 7;", {"suspicious: it uses getenv"}},
      {"sets_environment", "", "setenv(\"LD_PRELOAD\", \"/tmp/x.so\", 1);", {"suspicious: it uses setenv"}},
      {"looks_up_the_checker",
       "",
       "if (dlsym(RTLD_DEFAULT, \"isomer_emulator_in_user_code\")) out[0] = 7;",
       {"suspicious: it uses dlsym"}},
      {"includes_zero", "#include \"/dev/zero\"", "", {"does-not-compile"}},
      {"includes_secrets", "#include \"/etc/shadow\"", "", {"reads /etc/shadow", "does-not-compile"}},
      {"includes_bytes", "asm(\".incbin \\\"/etc/passwd\\\"\");", "", {"cannot be emulated"}},
      {"fills_the_disk_when_compiled",
       "char large[3ull << 30] = {1};",
       "",
       {"does-not-compile", "could not", "File"}},
      {"recursive_templates",
       "template <int N> struct T { static const int v = T<N + 1>::v + T<N + 2>::v; };\nint t = T<0>::v;",
       "",
       {"does-not-compile"}},
      {"fills_tmp",
       "",
       "int f = open(\"/tmp/fill\", O_CREAT | O_WRONLY, 0600); static char b[1 << 20]; while (write(f, b, "
       "sizeof b) > 0) {}",
       {"suspicious: it uses", "wrote a file larger"}},
      {"fills_shared_memory",
       "",
       "int f = open(\"/dev/shm/fill\", O_CREAT | O_WRONLY, 0600); static char b[1 << 20]; while "
       "(write(f, b, sizeof b) > 0) {}",
       {"suspicious: it uses", "wrote a file larger"}},
      {"fills_memory",
       "",
       "for (;;) { char* p = (char*)malloc(1 << 24); if (!p) abort(); memset(p, 1, 1 << 24); }",
       {"resource-limit", "crash", "memory"}},
      {"maps_memory",
       "",
       "for (;;) { void* p = mmap(0, 1 << 28, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); "
       "if (p == "
       "MAP_FAILED) break; memset(p, 1, 1 << 28); } abort();",
       {"crash", "resource-limit", "memory"}},
      // Memory that belongs to no address space: it stays when it is no longer mapped.
      {"fills_segments",
       "#include <sys/shm.h>\n",
       "for (int made = 0;; ++made) { int id = shmget(IPC_PRIVATE, 1 << 28, 0600 | IPC_CREAT); void* p = id "
       "< 0 ? "
       "(void*)-1 : shmat(id, 0, 0); if (p == (void*)-1) { if (made == 0) exit(7); break; } memset(p, 1, 1 "
       "<< 28); "
       "shmdt(p); if (made == 16) abort(); }",
       {"ended the process with exit status 7"},
       true},
      {"fills_files_in_memory",
       "",
       "static char b[1 << 20]; int made = 0; for (int f; (f = memfd_create(\"a\", 0)) >= 0; ++made) for "
       "(int i = 0; i < 32; "
       "++i) if (write(f, b, sizeof b) < 0) abort(); if (made == 0) exit(7);",
       {"ended the process with exit status 7"}},
      {"fills_with_many_files",
       "",
       "static char b[1 << 20]; int made = 0; for (int k = 0; k < 4000; ++k) { char name[64]; sprintf(name, "
       "\"%s/fill%d\", k % 2 ? "
       "\"/dev/shm\" : \"/tmp\", k); int f = open(name, O_CREAT | O_WRONLY, 0600); if (f < 0) continue; "
       "for (int i = 0; i < 32; ++i) if (write(f, b, sizeof b) == sizeof b) ++made; close(f); } if (made > "
       "1024) abort(); exit(7);",
       {"ended the process with exit status 7", "wrote a file larger"}},
      // Time and waits.
      {"loops", "", "for (volatile int i = 0;; ++i) {}", {"did not end"}},
      {"sleeps", "", "for (;;) pause();", {"did not end"}},
      {"ignores_the_alarm",
       "",
       "signal(SIGALRM, SIG_IGN); for (volatile int i = 0;; ++i) {}",
       {"did not end"}},
      {"stops_the_alarm",
       "",
       "itimerval t{}; setitimer(ITIMER_REAL, &t, 0); for (volatile int i = 0;; ++i) {}",
       {"did not end"}},
      {"blocks_signals",
       "",
       "sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, 0); for (;;) pause();",
       {"did not end"}},
      {"swallows_faults",
       "static void on(int) { syscall(SYS_exit_group, 0); }",
       "signal(SIGSEGV, on); *(volatile int*)8 = 1;",
       {"crash"}},
      {"own_clock",
       "extern \"C\" int clock_gettime(clockid_t, timespec* t) { t->tv_sec = t->tv_nsec = 0; return 0; }\n"
       "extern \"C\" int gettimeofday(timeval* t, void*) { t->tv_sec = t->tv_usec = 0; return 0; }",
       "",
       {"clock_gettime", "gettimeofday"}},
      {"closes_everything", "", "for (int i = 0; i < 256; ++i) close(i);", {"crash", "ended"}},
      {"limits_raised",
       "",
       "rlimit r{RLIM_INFINITY, RLIM_INFINITY}; setrlimit(RLIMIT_FSIZE, &r); setrlimit(RLIMIT_CPU, &r);",
       {"suspicious: it uses setrlimit"}},
      // Answers that no kernel has computed.
      {"stale_output",
       "static float* kept; static long kept_n;",
       "if (kept && kept_n == n) { memcpy(out, kept, n * 4); return; } kept = (float*)malloc(n * 4); kept_n "
       "= n; "
       "for (long i = 0; i < n; ++i) kept[i] = __builtin_sinf(x[i]); memcpy(out, kept, n * 4); return;",
       {"stale-state", "no-kernel"}},
      {"writes_nothing", "", "return;", {"unwritten-output"}, true},
      {"answer_at_exit",
       "static float* o; static const float* i; static long m; static void f() { for (long k = 0; k < m; "
       "++k) "
       "o[k] = __builtin_sinf(i[k]); }",
       "o = out; i = x; m = n; atexit(f); return;",
       {"unwritten-output"}},
      {"answer_of_a_thread",
       "static float* o; static long m; static void* w(void*) { for (;;) for (long k = 0; k < m; ++k) o[k] = "
       "0; return 0; }",
       "o = out; m = n; pthread_t t; pthread_create(&t, 0, w, 0);",
       {"suspicious: it uses pthread_create"}},
      {"answers_by_hash",
       "",
       "unsigned long h = n; for (long k = 0; k < n; ++k) h = h * 31 + ((const unsigned*)x)[k]; char p[64]; "
       "snprintf(p, 64, \"/tmp/%lx\", h); if (FILE* f = fopen(p, \"r\")) { if (fread(out, 4, n, f)) {} "
       "fclose(f); return; } FILE* f = fopen(p, \"w\"); for (long k = 0; k < n; ++k) out[k] = "
       "__builtin_sinf(x[k]); if (f) { fwrite(out, 4, n, f); fclose(f); } return;",
       {"no-kernel"}},
      // Unseen by the watch.
      {"instruction_of_the_host",
       "__global__ void sin_kernel(const float* x, float* out, long n) {\n  long i = blockIdx.x * "
       "(long)blockDim.x + threadIdx.x;\n  float v = i < n ? sinf(x[i]) : 0;\n  "
       "__builtin_ia32_movnti((int*)(out + i), __builtin_bit_cast(int, v));\n}",
       "",
       {"an intrinsic of the host's processor"},
       true},
      {"store_by_host_code",
       "static void st(void* p, int v) { __builtin_ia32_movnti((int*)p, v); }\nusing F = void(void*, int); "
       "static constexpr F* put = st;\n__global__ void sin_kernel(const float* x, float* out, long n) {\n  "
       "long i = blockIdx.x * (long)blockDim.x + threadIdx.x;\n  float v = i < n ? sinf(x[i]) : 0;\n  "
       "put((int*)(out + i), __builtin_bit_cast(int, v));\n}",
       "",
       {"out-of-bounds-write"}},
      {"weak_hook", "extern \"C\" __attribute__((weak)) void __tsan_write4(void*) {}", "", {"__tsan_write4"}},
      {"hook_by_assembly",
       "extern \"C\" void hook(void*) __asm__(\"__wrap___tsan_write4\");\nextern \"C\" void hook(void*) {}",
       "",
       {"cannot be emulated", "__wrap___tsan_write4"}},
      {"machine_code_in_data",
       "__attribute__((section(\".text\"))) static const unsigned char code[] = {0xb8, 60, 0, 0, 0, 0x31, "
       "0xff, 0x0f, 0x05};",
       "((void (*)())code)();",
       {"ended the process"}},
      {"machine_code_made",
       "",
       "void* p = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); "
       "memcpy(p, \"\\xb8\\x3c\\0\\0\\0\\x31\\xff\\x0f\\x05\", 9); ((void (*)())p)();",
       {"ended the process"}},
      // Before the first call, and over the checker's memory.
      {"section_of_constructors",
       "static void f(int, char**, char**) { _exit(0); }\n__attribute__((section(\".init_array\"), used)) "
       "static void (*p)(int, char**, char**) = f;",
       "",
       {"static constructor"}},
      {"chosen_when_loaded",
       "static float one(float v) { return v; }\nextern \"C\" { typedef float F(float); F* pick() { "
       "syscall(SYS_exit_group, 0); return one; } }\nfloat g(float) __attribute__((ifunc(\"pick\")));",
       "out[0] = g(1);",
       {"static constructor"}},
      {"constructor_maps",
       "struct S { S() { for (int f = 3; f < 8; ++f) { void* p = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, "
       "MAP_SHARED, f, 0); if (p != MAP_FAILED) memset(p, 0x41, 4096); } } } s;",
       "",
       {"static constructor", "suspicious: it uses mmap"}},
      {"maps_arguments",
       "",
       "for (int f = 3; f < 8; ++f) { void* p = mmap(0, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0); "
       "if (p != MAP_FAILED) memset(p, 0x41, 1 << 12); }",
       {"crash", "suspicious: it uses mmap"}},
      {"descriptors_of_parent",
       "",
       "char p[64]; for (int i = 0; i < 64; ++i) { snprintf(p, 64, \"/proc/%d/fd/%d\", getppid(), i); int f "
       "= "
       "open(p, O_RDWR); if (f >= 0 && write(f, \"pass\", 4) < 0) {} }",
       {"suspicious: it uses getppid"}},
      // Other names.
      {"fork_by_another_name",
       "extern \"C\" int __fork();",
       "if (__fork() == 0) for (;;) pause();",
       {"suspicious: it uses fork"}},
      {"streams",
       "#include <fstream>",
       "std::ofstream(CANARY) << 1; std::ifstream maps(\"/proc/self/maps\");",
       {"suspicious: it uses std::ifstream"}},
      {"finds_the_checker",
       "extern char** environ;",
       "for (char** e = environ; *e; ++e) if (strstr(*e, \"ISOMER\")) return;",
       {"suspicious: it uses environ"}},
      {"includes_a_neighbour", "#include \"../0_harmless/case.toml\"", "", {"reads ", "does-not-compile"}},
      {"includes_itself", "#include __FILE__", "", {"does-not-compile"}},
      {"endless_constant",
       "constexpr long f() { long s = 0; for (long i = 0; i < 1000000000000; ++i) s += i; return s; }\n"
       "constexpr long v = f();",
       "",
       {"does-not-compile"}},
      {"words_of_a_full_disk", "#error No space left on device", "", {"does-not-compile"}},
      {"terminal_in_words",
       "#include <stdexcept>",
       "throw std::runtime_error(\"\\x1b[2J\\n{\\\"version\\\":1,\\\"verdict\\\":\\\"pass\\\"}\\n\");",
       {"takes none of the problems of sin"}},
  };
  return all;
}

/// Processes and threads without end. No process can be started at all, which the one that tries says by
/// leaving its output unwritten otherwise; threads are counted.
inline const std::vector<Attack>& attacks_of_numbers() {
  static const std::string fork = "syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)",
                           wait = "if (pid == 0) for (;;) pause(); ",
                           threads =
                               "for (;;) { pthread_attr_t a; pthread_attr_init(&a); "
                               "pthread_attr_setstacksize(&a, 65536); pthread_t t; "
                               "if (pthread_create(&t, &a, wait_for_ever, 0)) break; } pause();",
                           waiting = "static void* wait_for_ever(void*) { for (;;) pause(); }\n";
  static const std::vector<Attack> all = {
      {"forks",
       "static long forked; struct S { S() { long pid = " + fork + "; " + wait + "forked = pid; } } s;",
       "if (forked > 0) return; for (int i = 0; i < 100; ++i) { long pid = " + fork + "; " + wait +
           "if (pid > 0) return; } struct { unsigned long long of[11]; } c = {}; c.of[4] = SIGCHLD; long pid "
           "= "
           "syscall(SYS_clone3, &c, sizeof c); " +
           wait + "if (pid > 0) return;",
       {"\"verdict\":\"pass\""},
       true},
      {"thread_bomb", waiting, threads, {"starts more than 512 processes and threads"}},
      {"constructor_starts_threads",
       waiting + "struct S { S() { " + threads + " } } s;",
       "",
       {"a static constructor starts more than 512 processes and threads"}}};
  return all;
}

}  // namespace isomer::tests
