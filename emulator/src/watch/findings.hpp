// What was found while device threads ran, each once with a count, until it is handed over as reports.
#pragma once

#include <string>
#include <vector>

#include "watch/reporter.hpp"

namespace isomer::emulator::watch {

/// A finding whose places are addresses yet.
struct Raw {
  Report report;
  Site site;
  Site other;
  bool by_host = false;        // of no thread; its place is known
  bool of_words = false;       // a race that is none where either place is in a loop that waits
  Site earlier;                // where the thread read the same word before it read it here
  bool same_values = false;    // every one of these stores wrote what was there
  std::string value;           // that value, as bytes
  const void* look = nullptr;  // a plain read that may be the first look of a compare-and-swap
  std::string predicate;       // what the thread did; `{other}` stands for the second place
};

/// What was told already is counted, and its sentence is not made again: races come by the hundred thousand.
bool told(Kind kind, const void* pc, const void* other_pc);
/// What a thread did there. `calls`: those that led there, where they are not the thread's of now.
void add(Kind kind, Block& block, const Thread& thread, const void* pc, const void* other_pc, Raw raw,
         const std::vector<const void*>* calls = nullptr);
/// What is no thread's, or whose report says all itself. `pc` and `other_pc`: by which it is told.
void add_whole(Raw raw, const void* pc = nullptr, const void* other_pc = nullptr);
bool is_found(Kind kind, const std::string& buffer);
/// The running thread stores where another stored, and both are the race of these places: the value is known
/// when the store is made.
void expect_store(const void* site, const void* other_site, const void* address, std::size_t bytes);

Index3 triple(const uint3& v);
std::string braces(const Index3& i);

}  // namespace isomer::emulator::watch
