// A tiny model, and transformers' results for it (make_golden.py).
#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <deque>
#include <nlohmann/json.hpp>

#include "bart.hpp"
#include "places.hpp"
#include "pretrained.hpp"
#include "safetensors/safetensors.hpp"

namespace backplane::seq2seq::testing {

inline const safetensors::Reader& GoldenFile() {
  static const safetensors::Reader file(BACKPLANE_SOURCE_DIR "/tests/plugins/learners/seq2seq/golden.safetensors");
  return file;
}
inline nlohmann::json GoldenSettings(const char* key) { return nlohmann::json::parse(GoldenFile().metadata().at(key)); }

// A tensor of the file, as float32 or int64.
inline at::Tensor Golden(const std::string& name) {
  const safetensors::Tensor& stored = GoldenFile().tensors().at(name);
  const auto type = stored.dtype == safetensors::Dtype::kI64   ? at::kLong
                    : stored.dtype == safetensors::Dtype::kF16 ? at::kHalf
                    : stored.dtype == safetensors::Dtype::kF64 ? at::kDouble
                                                               : at::kFloat;
  const std::vector<int64_t> shape(stored.shape.begin(), stored.shape.end());
  const at::Tensor borrowed = at::from_blob(const_cast<std::byte*>(stored.data), shape, type);
  return borrowed.to(type == at::kLong ? at::kLong : at::kFloat, false, /*copy=*/true);
}

inline BartConfig GoldenConfig() {
  const std::string path = ::testing::TempDir() + "golden_config_" + std::to_string(getpid()) + ".json";
  std::FILE* file = std::fopen(path.c_str(), "w");
  std::fputs(GoldenFile().metadata().at("config").c_str(), file);
  std::fclose(file);
  const BartConfig config = ReadConfig(path);
  std::remove(path.c_str());
  return config;
}

// The model with leaves over one flat buffer of weights and one of gradients, and packed weights.
struct GoldenModel {
  explicit GoldenModel(const BartConfig& c = GoldenConfig())
      : config(c), layout(config), flat(layout.size()), gradient(layout.size()) {
    at::set_num_threads(1);  // as in a trial
    for (const Parameter& p : layout.parameters()) {
      const at::Tensor stored = Golden("weights/" + p.name);
      std::copy_n(stored.data_ptr<float>(), p.size, &flat[p.offset]);
    }
    weights = BindWeights(config, layout, [&](const Parameter& p) {
      const at::Tensor leaf = at::from_blob(&flat[p.offset], p.shape).detach();
      if (p.offset < layout.trained()) {
        leaf.set_requires_grad(true);
        leaf.mutable_grad() = at::from_blob(&gradient[p.offset], p.shape);
      }
      if (p.shape.size() != 2) return Weight{leaf, {}};
      packed.emplace_back().Set(&flat[p.offset], p.shape[0], p.shape[1]);
      return Weight{leaf, {}, &packed.back()};
    });
  }
  BartConfig config;
  Layout layout;
  std::vector<float> flat, gradient;
  std::deque<PackedWeight> packed;
  Weights weights;
};

inline double MaxDifference(const at::Tensor& a, const at::Tensor& b) { return (a - b).abs().max().item<double>(); }

}  // namespace backplane::seq2seq::testing
