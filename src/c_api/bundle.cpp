#include <isomer/bundle.hpp>

#include "c_api/entry.hpp"
#include "core/sentence.hpp"

struct isomer_bundle {
  isomer::Bundle bundle;
  std::vector<isomer_tensor> tensors;  ///< of bundle.tensors(), whose shapes and strides they point into
};

isomer_status isomer_save(const char* path, const isomer_named_tensor* tensors, isomer_uint64 tensor_count,
                          const isomer_text* metadata, isomer_uint64 metadata_count) {
  return isomer::c::guarded([&] {
    using isomer::c::check_given;
    check_given("save", "path", path);
    if (tensor_count > 0) check_given("save", "tensors", tensors);
    if (metadata_count > 0) check_given("save", "metadata", metadata);
    std::vector<isomer::NamedTensor> list;
    for (isomer_uint64 i = 0; i < tensor_count; ++i) {
      check_given("save", "a tensor's name", tensors[i].name);
      list.push_back({tensors[i].name, isomer::c::tensor_of("save", tensors[i].name, tensors[i].tensor)});
    }
    std::map<std::string, std::string> texts;
    for (isomer_uint64 i = 0; i < metadata_count; ++i) {
      check_given("save", "a metadata key", metadata[i].key);
      check_given("save", "a metadata value", metadata[i].value);
      if (!texts.emplace(metadata[i].key, metadata[i].value).second)
        isomer::core::fail(isomer::ErrorCode::bad_argument, "save: metadata ", metadata[i].key,
                           " is there twice");
    }
    isomer::save(path, list, texts);
  });
}

isomer_status isomer_load(const char* path, isomer_bundle** bundle) {
  return isomer::c::guarded([&] {
    isomer::c::check_given("load", "bundle", bundle);
    *bundle = nullptr;
    isomer::c::check_given("load", "path", path);
    auto loaded = std::make_unique<isomer_bundle>(isomer_bundle{isomer::load(path), {}});
    for (const auto& [name, tensor] : loaded->bundle.tensors()) loaded->tensors.push_back(tensor.dlpack());
    *bundle = loaded.release();
  });
}

isomer_uint64 isomer_bundle_size(const isomer_bundle* bundle) {
  return bundle == nullptr ? 0 : bundle->tensors.size();
}

const char* isomer_bundle_name(const isomer_bundle* bundle, isomer_uint64 index) {
  return index < isomer_bundle_size(bundle) ? bundle->bundle.tensors()[index].name.c_str() : nullptr;
}

const isomer_tensor* isomer_bundle_tensor(const isomer_bundle* bundle, isomer_uint64 index) {
  return index < isomer_bundle_size(bundle) ? &bundle->tensors[index] : nullptr;
}

const isomer_tensor* isomer_bundle_find(const isomer_bundle* bundle, const char* name) {
  if (bundle == nullptr || name == nullptr) return nullptr;
  const isomer::Tensor* tensor = bundle->bundle.find(name);
  if (tensor == nullptr) return nullptr;
  for (std::size_t i = 0; i < bundle->tensors.size(); ++i)
    if (&bundle->bundle.tensors()[i].tensor == tensor) return &bundle->tensors[i];
  return nullptr;
}

const char* isomer_bundle_metadata(const isomer_bundle* bundle, const char* key) {
  if (bundle == nullptr || key == nullptr) return nullptr;
  const auto found = bundle->bundle.metadata().find(key);
  return found == bundle->bundle.metadata().end() ? nullptr : found->second.c_str();
}

void isomer_bundle_free(isomer_bundle* bundle) { delete bundle; }
