#include "lab/judge/kept_search.hpp"

#include "lab/candidate/cache_folder.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <span>
#include <string>
#include <system_error>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;

/// To be raised with what is taken for an edit that helps.
constexpr const char* kFormat = "isomer edits found 4";

void add_bytes(core::Sha256& key, const void* data, std::size_t bytes) {
  key.field(std::to_string(bytes));
  if (bytes > 0) key.add(std::span(static_cast<const std::byte*>(data), bytes));
}

void add_value(core::Sha256& key, const Value& value) {
  key.field(fmt::format("{} {} {} {} {}", static_cast<int>(value.kind), value.integer, value.real, value.text,
                        value.items.size()));
  for (const Value& each : value.items) add_value(key, each);
  if (!value.is_tensor()) return;
  const Tensor& tensor = value.tensor;
  key.field(fmt::format("{} {} {}", static_cast<int>(tensor.dtype), tensor.rank, value.storage_offset));
  for (int d = 0; d < tensor.rank; ++d) key.field(fmt::format("{} {}", tensor.shape[d], tensor.strides[d]));
  add_bytes(key, value.storage.get(), value.storage ? value.storage_bytes : 0);
}

}  // namespace

KeptSearch::KeptSearch(const ExchangedBuild& build, std::initializer_list<double> numbers) {
  key_.field(kFormat).field(build.key);
  for (const double each : numbers) key_.field(fmt::format("{}", each));
  if (!build.key.empty()) file_ = cache_folder("edits");
}

void KeptSearch::add(const Form& form, const std::vector<Value>& values, const std::vector<double>& wanted) {
  if (file_.empty()) return;
  key_.field(form.entry->name);
  for (const Value& each : passed(form, values)) add_value(key_, each);
  for (const int role : form.returned) key_.field(std::to_string(role));
  add_bytes(key_, wanted.data(), wanted.size() * sizeof(double));
}

std::optional<KeptSearch::Found> KeptSearch::found() {
  if (file_.empty()) return {};
  file_ /= key_.hex() + ".found";
  std::ifstream in(file_);
  Found found;
  std::size_t count = 0;
  if (!(in >> found.tried >> count)) return {};
  for (int number = 0; in >> number;) found.helpful.push_back(number);
  if (found.helpful.size() != count) return {};
  return found;
}

void KeptSearch::keep(const Found& found) const {
  if (file_.empty()) return;
  std::error_code failed;
  fs::create_directories(file_.parent_path(), failed);
  const fs::path fresh = file_.string() + fmt::format(".{}.fresh", getpid());
  std::ofstream out(fresh);
  out << found.tried << ' ' << found.helpful.size();
  for (const int each : found.helpful) out << ' ' << each;
  out << '\n';
  out.close();
  if (out) fs::rename(fresh, file_, failed);
  if (!out || failed) fs::remove(fresh, failed);
}

}  // namespace isomer::lab
