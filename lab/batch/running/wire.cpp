#include "lab/batch/running/wire.hpp"

#include "lab/report/candidate_json.hpp"

#include <nlohmann/json.hpp>

#include <cstring>

namespace isomer::lab {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json::binary_t packed(const std::vector<T>& values) {
  std::vector<std::uint8_t> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return Json::binary_t(std::move(bytes));
}

template <class T>
std::vector<T> unpacked(const Json& json) {
  const Json::binary_t& bytes = json.get_binary();
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace

std::string to_bytes(const std::vector<Diagnosis>& diagnoses, bool pictures) {
  Json all = Json::array();
  for (const Diagnosis& diagnosis : diagnoses) {
    Json json = candidate_json(diagnosis, nullptr);
    json["pictures"] = Json::array();
    if (pictures)
      for (const Diagnosis::Difference& difference : diagnosis.differences)
        json["pictures"].push_back({{"output", difference.output},
                                    {"shape", difference.shape},
                                    {"wrong", Json::binary(packed(difference.wrong))},
                                    {"error", Json::binary(packed(difference.error))}});
    all.push_back(std::move(json));
  }
  std::string bytes;
  Json::to_cbor(all, bytes);
  return bytes;
}

std::vector<Diagnosis> from_bytes(const std::string& bytes) {
  std::vector<Diagnosis> diagnoses;
  for (const Json& json : Json::from_cbor(bytes)) {
    diagnoses.push_back(diagnosis_of_json(json));
    for (const Json& picture : json.at("pictures"))
      diagnoses.back().differences.push_back({picture.at("output"), picture.at("shape"),
                                              unpacked<std::uint8_t>(picture.at("wrong")),
                                              unpacked<double>(picture.at("error"))});
  }
  return diagnoses;
}

}  // namespace isomer::lab
