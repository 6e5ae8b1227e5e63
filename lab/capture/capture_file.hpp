#pragma once

#include "lab/capture/capture.hpp"
#include "lab/capture/joiner.hpp"

#include <cstdio>
#include <istream>
#include <map>
#include <string>

namespace isomer::lab {

/// Isomer's capture files: one JSON object a line, told apart by its first key.
///   {"isomer_trace":1,"tool","command","process","facts":{…}}                          the first line
///   {"kernel":3,"name","demangled","code_hash","module","registers","scalar_registers","shared_static","local_bytes",
///    "parameters":[[offset,size],…],"variant":{…}}                                     before its first
///    launch
///   {"launch":17,"kernel":3,"grid":[x,y,z],"block":[…],"cluster":[…],"shared_dynamic","stream","thread",
///    "process","device","graph_node","cooperative":true,"programmatic":true,"captured":true,
///    "arguments":["hex of each parameter",…],"pointers":[[parameter,offset,"allocation+offset"],…],
///    "parameters":{…},"metrics":{…},"start":ns,"duration":ns}
///   {"note":"a sentence"}                                                              what could not be
///   captured
///   {"end":{"launches":n,"dropped":n}}                                                 the last line
/// A recorder inside a program also writes, for a Joiner: "later":true in a launch whose run follows,
///   {"ran":17,…a launch's keys…}, {"graph":17}, {"node":id,…a launch's keys…}, {"clone":id,"of":id},
///   {"forget":id} (of a node, from the next graph launch on), {"text":5,"is":"a long name"} with "name":5
///   for it, and {"fact":0,"name":…,"is":…}.
/// A file without its last line was cut: its program crashed, was killed, or is still running.
class CaptureWriter {
 public:
  /// Writes the first line. Throws Error io where the file cannot be written.
  CaptureWriter(const std::string& path, const Capture& header);
  ~CaptureWriter();
  CaptureWriter(const CaptureWriter&) = delete;
  CaptureWriter& operator=(const CaptureWriter&) = delete;

  void add(const Launch& launch);
  void fact(const std::string& name, const std::string& value);
  void note(const std::string& sentence);
  /// The last line; `dropped` runs are known to be missing. Throws Error io where not all has been written.
  void end(std::uint64_t dropped);

 private:
  void line(const std::string& text);

  std::string path_;
  std::FILE* file_ = nullptr;
  std::map<std::string, std::uint64_t> kernels_;  ///< by the text of their line
  std::uint64_t launches_ = 0;
};

/// Reads such a file and gives its launches on in order; the result holds everything but them. Holds what a
/// Joiner holds, one line, and each distinct kernel. A line that is none ends the reading: what came before
/// it stands, and the capture is incomplete. Starts are taken from `origin_ns` on. Throws Error io where the
/// first line is no such file's.
Capture read_capture_file(std::istream& in, const std::string& source, const LaunchSink& sink,
                          std::uint64_t origin_ns = 0);

}  // namespace isomer::lab
