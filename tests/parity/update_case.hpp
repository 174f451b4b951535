// A learner's iterations as input of an update oracle: its options, rollouts and saved states.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

#include "backplane/learner.hpp"
#include "oracle.hpp"

namespace backplane::parity {

// Option -> YAML text.
using Settings = std::map<std::string, std::string>;

inline Settings With(Settings options, const Settings& more) {
  for (const auto& [name, value] : more) options[name] = value;
  return options;
}

// All options of the plugin that is linked into the test, in the oracle's format.
inline nlohmann::json OptionsOf(const bp_descriptor& plugin, const Settings& set) {
  nlohmann::json all;
  for (uint64_t i = 0; i < plugin.n_params; ++i) {
    const bp_param& param = plugin.params[i];
    const auto found = set.find(param.path);
    const std::string text = found == set.end() ? param.def : found->second;
    const nlohmann::json value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    all[param.path] = value.is_discarded() ? nlohmann::json(text) : value;
  }
  return all;
}

inline std::string Hex(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4], text += kDigits[byte & 15];
  }
  return text;
}

template <class T>
nlohmann::json Values(const bp_tensor& tensor) {
  nlohmann::json values = nlohmann::json::array();
  int64_t n = 1;
  for (int32_t i = 0; i < tensor.ndim; ++i) n *= tensor.shape[i];
  // The tests' buffers are contiguous. Floats have all their digits.
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      values.push_back(static_cast<double>(static_cast<const T*>(tensor.data)[i]));
    } else {
      values.push_back(static_cast<int64_t>(static_cast<const T*>(tensor.data)[i]));
    }
  }
  return {{"shape", std::vector<int64_t>(tensor.shape, tensor.shape + tensor.ndim)}, {"values", std::move(values)}};
}

inline nlohmann::json AsJson(const bp_delivery& delivery) {
  nlohmann::json tensors;
  for (uint64_t i = 0; i < delivery.n_tensors; ++i) {
    const bp_tensor& t = *delivery.tensors[i];
    const auto is = [&](bp_dtype type) { return bp::SameDtype(t.dtype, type); };
    tensors[delivery.names[i]] = is(bp::DtypeOf<float>())     ? Values<float>(t)
                                 : is(bp::DtypeOf<double>())  ? Values<double>(t)
                                 : is(bp::DtypeOf<uint8_t>()) ? Values<uint8_t>(t)
                                 : is(bp::DtypeOf<int64_t>()) ? Values<int64_t>(t)
                                                              : Values<int32_t>(t);
  }
  return tensors;
}

// Float32 compared with float64: bounds for rounding errors, relative to the update's length, and for the rest. `different`:
// the options of `base` must give a different update; otherwise a learner that ignores the option would pass. Returns the
// oracle's answer.
inline nlohmann::json ExpectTheOraclesUpdate(const nlohmann::json& request, bool different, double tolerance = 2e-3) {
  nlohmann::json answer = TheOracle().Ask(request);
  for (const auto& [name, distance] : answer.at("distance").items()) EXPECT_LT(distance.get<double>(), tolerance) << name;
  if (different) {
    EXPECT_GT(answer.at("without").get<double>(), 5 * tolerance) << "the option's effect is too small to notice";
  }
  return answer;
}

}  // namespace backplane::parity
