#pragma once

#include "lab/capture/joiner.hpp"

#include <istream>
#include <string>

namespace isomer::lab {

// One reader for each format. `source` is the file's name in sentences. Each gives launches on in order of
// their start and holds no more than a window of them, whatever the file's size. Throws Error io where the
// file is not of that format at all; one that breaks off gives what it has and is incomplete.

/// A database that `nsys export --type sqlite` made. Columns are looked for, as they differ between releases.
Capture read_nsys_sqlite(const std::string& path, const LaunchSink& sink);
/// Chrome's trace format as PyTorch's profiler (Kineto) writes it, plain or gzip; top-level object or array.
Capture read_kineto(std::istream& in, const std::string& source, const LaunchSink& sink);
/// ncu --csv, of its details page (a row a metric) or its raw page (a row a kernel, units in the second row).
Capture read_ncu_csv(std::istream& in, const std::string& source, const LaunchSink& sink);
/// rocprofv3 --output-format json: dispatches, and the counters of --pmc.
Capture read_rocprof_json(std::istream& in, const std::string& source, const LaunchSink& sink);
/// rocprofv3's kernel_trace.csv or counter_collection.csv.
Capture read_rocprof_csv(std::istream& in, const std::string& source, const LaunchSink& sink);
/// Whether a SQLite database is rocprofv3's own (rocpd), and its dispatches.
bool is_rocpd(const std::string& path);
Capture read_rocpd(const std::string& path, const LaunchSink& sink);
/// isomer explain --json: the launches that a plan would make.
Capture read_explain(std::istream& in, const std::string& source, const LaunchSink& sink);

}  // namespace isomer::lab
