// Products of a warpgroup (wgmma): issued by its 128 threads, carried out when they wait for them and nobody
// can go on without.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "execution/block.hpp"
#include "hopper/product.hpp"
#include "watch/reporter.hpp"

namespace isomer::emulator::hopper {

/// One product, as each thread of the warpgroup issues it.
struct ProductShape {
  Element element{};
  int columns = 0;
  bool a_in_registers = false, a_transposed = false, b_transposed = false, accumulate = false;
  bool negative = false;  ///< -a·b
  std::uint64_t a = 0, b = 0;  ///< descriptors
  bool operator==(const ProductShape&) const = default;
};

class Warpgroup {
 public:
  static constexpr std::uint32_t kThreads = 128;
  Warpgroup(Block& block, std::uint32_t number) : block_(block), number_(number) {}

  void fence(const watch::Site& site);
  void issue(const ProductShape& shape, float* d, const std::uint32_t* a, const watch::Site& site);
  void commit(const watch::Site& site);
  void wait(unsigned groups, const watch::Site& site);
  bool advance();
  void thread_ends(Thread& thread);
  std::string waits_for(const Thread& thread) const;
  void touch_registers(Thread& thread, const void* at, std::size_t bytes, bool writes, const void* site);

  /// Products are numbered from 1.
  bool done(std::uint32_t product) const { return product <= done_; }
  std::uint32_t done_count() const { return done_; }
  bool known_done(Thread& thread, std::uint32_t product) const;
  const watch::Site& site(std::uint32_t product) const { return sites_[product - 1]; }

 private:
  /// Registers of the warpgroup's threads that products under way write, and what is to be in them.
  struct Accumulators {
    int columns = 0;
    std::array<float*, kThreads> d{};
    std::vector<float> values;  ///< 64 rows
    std::uint32_t under_way = 0;
    watch::Site site;
    bool told = false;
  };
  struct Product {
    ProductShape shape;
    std::uint32_t arrived = 0;
    std::vector<std::uint32_t> a;  ///< four words of each thread, where a lies in registers
    std::shared_ptr<Accumulators> accumulators;
  };
  /// What all threads of the warpgroup have to call, in the order in which the first of them came to it.
  struct Call {
    enum class What { fence, product, commit, wait } what;
    unsigned groups;  ///< that a wait leaves under way
    watch::Site site;
    std::uint32_t arrived = 0;
    std::string text() const;
  };
  struct OfThread {
    std::uint32_t issued = 0, committed = 0, waits_for = 0, calls = 0;
    bool fenced = false;
  };
  void take_step(Call::What what, unsigned groups, const watch::Site& site);
  std::uint32_t members() const;
  void take(Accumulators& accumulators, std::uint32_t thread, float* d);
  void give(Accumulators& accumulators);
  void read_operands(const Product& product, std::uint32_t number, Thread& thread);
  void carry_out(Product& product);
  void gather(const Product& product, float* a, float* b) const;
  void tell_threads(std::uint32_t up_to);

  Block& block_;
  const std::uint32_t number_;
  std::uint32_t done_ = 0;             ///< products carried out
  std::deque<Product> under_way_;      ///< from done_ + 1 on
  std::vector<std::uint32_t> groups_;  ///< by number, how many products were issued when it was ended
  std::vector<watch::Site> sites_;     ///< by product
  std::array<OfThread, kThreads> threads_{};
  std::deque<Call> calls_;  ///< from first_call_ on, those that some thread has not come to yet
  std::uint32_t first_call_ = 0;
  bool out_of_step_ = false;  ///< and it has been told
  std::vector<std::shared_ptr<Accumulators>> live_;
};

}  // namespace isomer::emulator::hopper
