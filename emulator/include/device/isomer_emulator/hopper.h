// Hopper's asynchronous units, for the emulated bodies of device words: barriers in shared memory that count
// bytes, bulk copies, products of warpgroups, registers that change hands. Addresses are those of the block's
// shared memory, 18 bits.
#pragma once

#include "abi.h"

namespace isomer::emulator {

/// A product of a warpgroup: d of 64 rows and `columns` columns, 32 bytes of k.
struct ProductRequest {
  int element;  ///< 0 f16, 1 bf16, 2 e4m3, 3 e5m2
  int columns;
  bool a_transposed, b_transposed, accumulate;
  unsigned long long a, b;  ///< matrix descriptors
  bool negative = false;    ///< -a·b is added
};

}  // namespace isomer::emulator

extern "C" {
unsigned isomer_emulator_shared_address(const void* at);
void* isomer_emulator_shared_at(unsigned address, unsigned bytes);

/// The same of the block of that rank in the cluster.
void* isomer_emulator_shared_in(unsigned rank, unsigned address, unsigned bytes);
unsigned isomer_emulator_cluster_rank();
unsigned isomer_emulator_cluster_size();
void isomer_emulator_cluster_arrive();
void isomer_emulator_cluster_wait();

void isomer_emulator_barrier_init(unsigned barrier, unsigned count);
void isomer_emulator_barrier_invalidate(unsigned barrier);
/// `count` 0 announces bytes only.
void isomer_emulator_barrier_arrive(unsigned barrier, unsigned count, unsigned bytes);
/// Arrives, and the phases that follow take so many arrivals fewer.
void isomer_emulator_barrier_drop(unsigned barrier, unsigned count);
/// So many arrivals more belong to the phase in progress.
void isomer_emulator_barrier_expect(unsigned barrier, unsigned count);
void isomer_emulator_barrier_arrive_in(unsigned rank, unsigned barrier);
int isomer_emulator_barrier_wait(unsigned barrier, unsigned parity, int only_look);
/// Of the phase in progress.
unsigned isomer_emulator_barrier_parity(unsigned barrier);
void isomer_emulator_proxy_fence();

void isomer_emulator_box_load(const void* map, int rank, const int* coordinates, unsigned to,
                              unsigned barrier);
/// Into each block of the cluster whose bit is set.
void isomer_emulator_box_load_in(unsigned blocks, const void* map, int rank, const int* coordinates,
                                 unsigned to, unsigned barrier);
void isomer_emulator_box_store(const void* map, int rank, const int* coordinates, unsigned from);
void isomer_emulator_stretch_load(const void* from, unsigned bytes, unsigned to, unsigned barrier);
void isomer_emulator_stretch_store(void* to, unsigned bytes, unsigned from);
void isomer_emulator_stores_commit();
void isomer_emulator_stores_wait(unsigned groups);

void isomer_emulator_product_fence();
void isomer_emulator_product_commit();
void isomer_emulator_product_wait(unsigned groups);
/// `a`: four words of the thread, or null where a lies in shared memory.
void isomer_emulator_product(const isomer::emulator::ProductRequest* request, float* d, const unsigned* a);
/// Told where a product's accumulators are no array: what is in flight could not be followed.
void isomer_emulator_product_scattered();

void isomer_emulator_set_registers(unsigned registers, int takes);
void isomer_emulator_words_beside(const char* file);
}

namespace isomer::emulator {

/// Files in the folder of this one are words: what is reported belongs to the line that uses them.
struct WordsBeside {
  explicit WordsBeside(const char* file) { isomer_emulator_words_beside(file); }
};

}  // namespace isomer::emulator
