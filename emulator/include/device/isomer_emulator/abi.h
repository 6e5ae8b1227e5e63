// The seam between a compiled kernel source and the emulator's library: everything that a device header calls
// and that the library defines. Plain C symbols, so that a module built by one compiler runs under another.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vector_types.h"

namespace isomer::emulator {

/// Where one `__shared__` variable was declared. One per instantiation; the library numbers it at first use.
struct SharedSite {
  const char* name;
  const char* file;
  unsigned line;
  std::size_t bytes;
  std::size_t alignment;
  int index;  ///< 0 until the library has numbered it
};

/// What a vote found: the lanes that said yes, and the lanes that took part.
struct Votes {
  std::uint64_t ballot;
  std::uint64_t members;
};

/// One kernel launch as the host code wrote it.
struct LaunchRequest {
  const char* kernel;
  const char* file;
  unsigned line;
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes;
  void* stream;
  const void* function;  ///< address of the kernel where the source names one function, otherwise null
  int cooperative;
  unsigned cluster;  ///< blocks that run together, neighbours along x; 0 and 1: none
  void (*invoke)(void* package);
  void* package;  ///< callable and arguments: the only host memory that a kernel may read
  std::size_t package_bytes;
  int copyable;  ///< the package's bytes are a copy of it, wherever they are
  const void* const* arguments;
  const std::size_t* argument_bytes;
  unsigned argument_count;
};

/// What host code does with streams and events, so that it can be told what nothing orders.
enum class OrderStep : int {
  work,              ///< of a stream: a copy or a memset
  host_waits,        ///< for a stream
  host_waits_all,    ///< for every stream
  record,            ///< of an event (`read`) on a stream
  stream_waits,      ///< for an event (`read`)
  host_waits_event,  ///< (`subject`)
};

struct KernelEntry {
  const char* name;
  const char* file;
  unsigned line;
  const void* function;
  void (*invoke)(void* arguments);  ///< arguments: array of pointers to the values
  unsigned parameter_count;
  const std::size_t* parameter_bytes;
  const char* parameters;  ///< one letter each: v value, p pointer, c pointer to const
  const std::size_t* parameter_alignments;
};

/// What a node of a graph does, by the runtimes' numbers. A library's call counts as a kernel.
enum class NodeKind : int {
  kernel,
  memcpy,
  memset,
  host,
  graph,
  empty,
  event_wait,
  event_record,
  memory = 10,
  free = 11,
  conditional = 13
};
/// Which body of a conditional node runs: the first if the value is not zero, or else the second; the first as long as
/// it is not zero; the one of that number.
enum class ConditionKind : int { if_else, loop, choice };
/// Work that waits in a graph: `run` does it on a stream, `drop` ends its state.
struct GraphWork {
  void (*run)(void* state, void* stream);
  void (*drop)(void* state);
  void* state;
  NodeKind kind;
};
struct Graph;
struct GraphNode;

struct SymbolEntry {
  const char* name;
  void* address;
  std::size_t bytes;
  int constant;
  int guarded;  ///< bytes that belong to nobody stand before and behind it
};

}  // namespace isomer::emulator

/// What a dim3 is, without its constructors: of a constant with these a compiler reads every use anew and hooks it.
struct isomer_emulator_size : uint3 {};

extern "C" {
// The built-in variables. The library writes them at every switch; a kernel sees them as constants.
extern __thread const uint3 threadIdx __asm__("isomer_emulator_thread_index")
    __attribute__((tls_model("initial-exec"), visibility("default")));
extern __thread const uint3 blockIdx __asm__("isomer_emulator_block_index")
    __attribute__((tls_model("initial-exec"), visibility("default")));
extern __thread const isomer_emulator_size blockDim __asm__("isomer_emulator_block_dim")
    __attribute__((tls_model("initial-exec"), visibility("default")));
extern __thread const isomer_emulator_size gridDim __asm__("isomer_emulator_grid_dim")
    __attribute__((tls_model("initial-exec"), visibility("default")));
extern __thread int isomer_emulator_patience
    __attribute__((tls_model("initial-exec"), visibility("default")));

int isomer_emulator_barrier(int combine, int predicate);
void isomer_emulator_named_barrier(unsigned id, unsigned threads);
void isomer_emulator_named_arrive(unsigned id, unsigned threads);
void isomer_emulator_shuffle(std::uint64_t mask, void* value, unsigned bytes, unsigned source);
isomer::emulator::Votes isomer_emulator_vote(std::uint64_t mask, int predicate);
isomer::emulator::Votes isomer_emulator_match(std::uint64_t mask, std::uint64_t value);
std::uint64_t isomer_emulator_reduce(std::uint64_t mask, int op, std::uint64_t value);
void isomer_emulator_warp_barrier(std::uint64_t mask);
unsigned isomer_emulator_lane();
void* isomer_emulator_shared(isomer::emulator::SharedSite* site);
void* isomer_emulator_dynamic_shared();
std::size_t isomer_emulator_dynamic_shared_bytes();
void isomer_emulator_fence(int scope);       ///< 0: the block; 1: the device; 2: the system
void isomer_emulator_scope(int block_only);  ///< of the atomics that follow; only a watched module says it
void isomer_emulator_yield();
void isomer_emulator_patient();  ///< counts an atomic, behind so many of which the other threads run
/// Copies of the running thread into shared memory, in groups: waits until at most so many are under way.
void isomer_emulator_copy_begins(void* to, const void* from, unsigned bytes, unsigned from_bytes);
void isomer_emulator_copies_commit();
void isomer_emulator_copies_wait(unsigned groups);
void isomer_emulator_copies_wait_for_all();
void isomer_emulator_grid_barrier();
void isomer_emulator_launch_bounds(unsigned threads);
/// What the kernel says of its clusters, in front of all else that it does.
void isomer_emulator_cluster_dims(unsigned x, unsigned y, unsigned z);
void isomer_emulator_trap(const char* what);
int isomer_emulator_on_device();
void isomer_emulator_returns();  ///< in front of a kernel's end; only a watched module says it
void isomer_emulator_saturates(double value, const char* from, const char* to);

int isomer_emulator_launch(const isomer::emulator::LaunchRequest* request);
void isomer_emulator_register_kernel(const isomer::emulator::KernelEntry* entry);
/// A kernel whose address was taken; `arguments`: array of pointers to the values.
void isomer_emulator_register_address(const void* function,
                                      void (*invoke)(const void* function, void* arguments),
                                      unsigned parameter_count, const std::size_t* parameter_bytes);
/// A launch by address: the bytes of the arguments are copied, as the device copies them.
int isomer_emulator_launch_array(const isomer::emulator::LaunchRequest* request, const void* function,
                                 void** arguments);
void isomer_emulator_register_symbol(const isomer::emulator::SymbolEntry* entry);
/// A loop that waits for what another thread writes: the lines from its first to its last.
void isomer_emulator_register_wait(const char* file, unsigned first, unsigned last);
void isomer_emulator_unregister(const void* module_address);

int isomer_emulator_malloc(void** out, std::size_t bytes, int kind);
/// From now on the host may write any buffer by itself: none counts as unwritten.
void isomer_emulator_host_writes_unseen();
int isomer_emulator_free(void* pointer);
/// Refuses memory of the device where the host's is to be freed, and the other way round.
int isomer_emulator_free_of_kind(void* pointer, int host);
int isomer_emulator_copy(void* to, const void* from, std::size_t bytes, int kind);
int isomer_emulator_copy_2d(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                            std::size_t width, std::size_t height, int kind);
int isomer_emulator_set(void* to, int value, std::size_t bytes);
/// Rows of `width` elements, each with the first `element` bytes of the value.
int isomer_emulator_set_elements(void* to, std::size_t pitch, unsigned value, unsigned element,
                                 std::size_t width, std::size_t height);
int isomer_emulator_symbol(const void* symbol, void** address, std::size_t* bytes);
int isomer_emulator_pointer_kind(const void* pointer, std::size_t* bytes);
int isomer_emulator_register_host(void* pointer, std::size_t bytes);
int isomer_emulator_memory_info(std::size_t* available, std::size_t* total);
int isomer_emulator_host_call(const char* function);
int isomer_emulator_last_error(int clear);
int isomer_emulator_fail(int error);
/// The refusal is told with the sentence.
int isomer_emulator_refuse(int error, const char* sentence);
/// A tensor map of 128 bytes; `strides` has rank - 1 elements.
int isomer_emulator_encode_tensor_map(void* into, unsigned element_bytes, int rank, void* data,
                                      const unsigned long* sizes, const unsigned long* strides,
                                      const unsigned* box, int swizzle_bytes);
const char* isomer_emulator_error_string(int error);
int isomer_emulator_stream(void** stream, int action);
void* isomer_emulator_current_stream();
void isomer_emulator_set_current_stream(void* stream);
void isomer_emulator_order(isomer::emulator::OrderStep step, void* subject, const void* written,
                           const void* read);
/// In front of what a stream calls on the host: whoever learns of it there knows what the stream has done.
void isomer_emulator_calls_host(void* stream);
int isomer_emulator_event(void** event, int action);
int isomer_emulator_event_elapsed(float* milliseconds, void* start, void* stop);

/// Graphs. What a stream is given while it is captured goes into the graph of its capture.
isomer::emulator::Graph* isomer_emulator_graph(
    const isomer::emulator::Graph* copied);  ///< null: an empty one
void isomer_emulator_graph_destroy(isomer::emulator::Graph* graph);
/// Its launches free first what an earlier one has asked for and nobody has freed.
void isomer_emulator_graph_frees_at_launch(isomer::emulator::Graph* graph);
void isomer_emulator_graph_run(const isomer::emulator::Graph* graph, void* stream);
isomer::emulator::GraphNode* isomer_emulator_graph_add(isomer::emulator::Graph* graph,
                                                       isomer::emulator::GraphWork work);
/// A launch by address with the arguments of now; null where the address is no kernel's.
isomer::emulator::GraphNode* isomer_emulator_graph_add_launch(isomer::emulator::Graph* graph,
                                                              const isomer::emulator::LaunchRequest* request,
                                                              const void* function, void** arguments);
/// Memory of graphs has its address from here on, and is there from `begins` to `ends`; both give an error's code. A
/// free of the program's ends it too.
int isomer_emulator_graph_malloc(void** out, std::size_t bytes);
int isomer_emulator_graph_memory_begins(void* pointer);
int isomer_emulator_graph_memory_ends(void* pointer);
/// Bytes that are there now, and the most that there ever were; `trim` forgets the latter.
void isomer_emulator_graph_memory_use(unsigned long long* now, unsigned long long* most, int trim);
/// How many nodes there are; at most `room` of them are written.
std::size_t isomer_emulator_graph_nodes(const isomer::emulator::Graph* graph,
                                        isomer::emulator::GraphNode** nodes, std::size_t room);
isomer::emulator::NodeKind isomer_emulator_graph_node_kind(const isomer::emulator::GraphNode* node);
/// The node, or what stands for it in a copy of its graph, does from now on what the last node of `fresh` does; `fresh`
/// is destroyed. 0 where there is no such node.
int isomer_emulator_graph_set(isomer::emulator::Graph* copy, isomer::emulator::GraphNode* node,
                              isomer::emulator::Graph* fresh);
/// The nodes of the copy do what those of the graph do, one by one; 0 where it has more or fewer.
int isomer_emulator_graph_update(isomer::emulator::Graph* copy, const isomer::emulator::Graph* graph);
/// A value that kernels set and conditional nodes ask for; with `assigns` each launch of the graph begins with `initial`.
unsigned long long isomer_emulator_graph_condition(isomer::emulator::Graph* graph, unsigned initial, int assigns);
void isomer_emulator_set_graph_condition(unsigned long long condition, unsigned value);
/// The bodies belong to the node, and so does the list of them.
isomer::emulator::GraphNode* isomer_emulator_graph_add_condition(isomer::emulator::Graph* graph,
                                                                 unsigned long long condition,
                                                                 isomer::emulator::ConditionKind kind,
                                                                 unsigned bodies,
                                                                 isomer::emulator::Graph*** list);
int isomer_emulator_capture_begin(const void* stream);
/// Into a graph that is there.
int isomer_emulator_capture_begin_to(const void* stream, isomer::emulator::Graph* graph);
isomer::emulator::Graph* isomer_emulator_capture_end(const void* stream);
isomer::emulator::Graph* isomer_emulator_captured(const void* stream);
/// Whether a library may not work now, since some stream is captured; the refusal is told.
int isomer_emulator_library_refused();
void isomer_emulator_capture_record(const void* event, const void* stream);
void isomer_emulator_capture_wait(const void* stream, const void* event);

int isomer_emulator_set_max_shared(const void* function, std::size_t bytes);
int isomer_emulator_attribute(int which);
long long isomer_emulator_clock();
}
