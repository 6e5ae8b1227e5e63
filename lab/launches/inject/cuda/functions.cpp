#include "lab/launches/inject/cuda/functions.hpp"

#include "lab/launches/inject/cuda/modules.hpp"
#include "lab/launches/inject/output.hpp"

#include <mutex>
#include <unordered_map>

namespace isomer::inject {
namespace {

struct Known {
  std::mutex mutex;
  std::unordered_map<CUfunction, std::shared_ptr<const Function>> functions;
  std::uint64_t last_id = 0;
};

Known& known() {
  static Known& only = *new Known;
  return only;
}

/// Parameters until the driver says that there is none of that number.
template <class Handle, class Call>
bool read_layout(Call call, Handle handle, Function& function) {
  if (call == nullptr) return false;
  constexpr std::size_t kMost = 4096;
  for (std::size_t i = 0; i < kMost; ++i) {
    std::size_t offset = 0, size = 0;
    const CUresult result = call(handle, i, &offset, &size);
    if (result == CUDA_ERROR_INVALID_VALUE) return true;
    if (result != CUDA_SUCCESS) break;
    function.layout.emplace_back(static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size));
  }
  function.layout.clear();
  return false;
}

std::string name_of(CUfunction handle, const char* symbol) {
  if (symbol != nullptr && *symbol != '\0') return symbol;
  const char* name = nullptr;
  if (calls().function_name != nullptr && calls().function_name(&name, handle) == CUDA_SUCCESS &&
      name != nullptr)
    return name;
  if (calls().kernel_name != nullptr &&
      calls().kernel_name(&name, reinterpret_cast<CUkernel>(handle)) == CUDA_SUCCESS && name != nullptr)
    return name;
  return {};
}

void add_attribute(Line& line, const char* key, CUfunction_attribute attribute, CUfunction function) {
  int value = 0;
  if (calls().function_attribute != nullptr &&
      calls().function_attribute(&value, attribute, function) == CUDA_SUCCESS && value >= 0)
    line.number(key, static_cast<std::uint64_t>(value));
}

std::shared_ptr<const Function> examine(CUfunction handle, const char* symbol) {
  auto function = std::make_shared<Function>();
  const std::string name = name_of(handle, symbol);
  CUfunction own = handle;
  const std::uint64_t before = Modules::count();
  function->layout_known = read_layout(calls().function_parameter, handle, *function);
  if (!function->layout_known) {
    const auto kernel = reinterpret_cast<CUkernel>(handle);
    function->layout_known = read_layout(calls().kernel_parameter, kernel, *function);
    if (function->layout_known && calls().kernel_function != nullptr &&
        calls().kernel_function(&own, kernel) != CUDA_SUCCESS)
      own = nullptr;
  }
  CUmodule module = nullptr;
  if (own != nullptr && calls().function_module != nullptr) calls().function_module(&module, own);
  modules().tie(module, before);
  const Modules::Code code = modules().find(module, name);
  {
    const std::lock_guard lock(known().mutex);
    function->id = ++known().last_id;
  }
  Line line("kernel", function->id);
  line.text("name", name);
  if (!code.hash.empty()) line.text("code_hash", code.hash).text("module", code.image);
  if (own != nullptr) {
    add_attribute(line, "registers", CU_FUNC_ATTRIBUTE_NUM_REGS, own);
    add_attribute(line, "shared_static", CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, own);
    add_attribute(line, "local_bytes", CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, own);
  }
  if (function->layout_known) line.raw(layout_json(function->layout));
  line.write();
  return function;
}

}  // namespace

std::shared_ptr<const Function> function_of(CUfunction handle, const char* symbol) {
  {
    const std::lock_guard lock(known().mutex);
    if (const auto found = known().functions.find(handle); found != known().functions.end())
      return found->second;
  }
  // With no lock held: the driver is asked, and it may load a module here.
  std::shared_ptr<const Function> function = examine(handle, symbol);
  const std::lock_guard lock(known().mutex);
  return known().functions.emplace(handle, std::move(function)).first->second;
}

void forget_functions() {
  const std::lock_guard lock(known().mutex);
  known().functions.clear();
}

void module_loaded(CUmodule handle, std::uint64_t before) { modules().tie(handle, before); }

}  // namespace isomer::inject
