#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace isomer::inject {

/// Opens this process's part, <ISOMER_TRACE>/<vendor>-<process>.jsonl. False where nobody asked for it or
/// there is no such folder. A child of a fork writes nothing into it.
bool open_part(const char* vendor);
/// The first line: who records, what the program's command line is, and what is known of versions.
void write_header(const char* tool, const std::map<std::string, std::string>& facts);
/// One sentence: what could not be captured.
void note(const std::string& sentence);
/// A fact that is known later than the first line.
void fact(const char* name, const std::string& value);

struct Counts {
  std::uint64_t recorded = 0, dropped = 0, hashed_bytes = 0;
};
/// The last line; the file is closed.
void write_end(const Counts& counts);

/// The kernel's number of this thread.
std::uint64_t thread_id();

}  // namespace isomer::inject
