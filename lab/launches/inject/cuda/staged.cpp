#include "lab/launches/inject/cuda/staged.hpp"

#include "lab/launches/inject/arguments.hpp"
#include "lab/launches/inject/cuda/functions.hpp"
#include "lab/launches/inject/output.hpp"

namespace isomer::inject {

void Staged::take_attributes(const CUlaunchConfig& config) {
  for (unsigned i = 0; config.attrs != nullptr && i < config.numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config.attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      cluster[0] = attribute.value.clusterDim.x;
      cluster[1] = attribute.value.clusterDim.y;
      cluster[2] = attribute.value.clusterDim.z;
    }
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) cooperative = attribute.value.cooperative != 0;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
      programmatic = attribute.value.programmaticStreamSerializationAllowed != 0;
  }
}

std::string Staged::json(const char* symbol) const {
  const auto known = function_of(function, symbol);
  std::string text = ",\"kernel\":";
  append(text, known->id);
  append_triple(text, "grid", grid);
  append_triple(text, "block", block);
  if (cluster[0] > 0) append_triple(text, "cluster", cluster);
  text += ",\"shared_dynamic\":";
  append(text, shared_bytes);
  if (cooperative) text += ",\"cooperative\":true";
  if (programmatic) text += ",\"programmatic\":true";
  if (known->layout_known) append_arguments(text, known->layout, parameters, extra);
  return text;
}

}  // namespace isomer::inject
