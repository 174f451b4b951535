#include "pretrained.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "backplane/rng.h"
#include "safetensors/safetensors.hpp"

namespace backplane::seq2seq {
namespace {

namespace fs = std::filesystem;
using safetensors::Dtype;
using safetensors::Tensor;

constexpr const char* kShared = "model.shared.weight";
constexpr const char* kBias = "final_logits_bias";
constexpr const char* kTied[] = {"lm_head.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"};

[[noreturn]] void Refuse(const std::string& sentence) { throw std::runtime_error(sentence); }

float FromHalf(uint16_t bits) {
  const uint32_t sign = uint32_t{bits} >> 15 << 31, exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent > 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float value = static_cast<float>(fraction) * 0x1p-24f;
  return sign ? -value : value;
}

template <class Stored, class Convert>
void Copy(const Tensor& tensor, float* out, Convert&& convert) {
  for (uint64_t i = 0; i < tensor.bytes / sizeof(Stored); ++i) {
    Stored value;
    std::memcpy(&value, tensor.data + i * sizeof value, sizeof value);
    out[i] = convert(value);
  }
}

void Convert(const std::string& name, const Tensor& tensor, float* out) {
  switch (tensor.dtype) {
    case Dtype::kF32: return Copy<float>(tensor, out, [](float v) { return v; });
    case Dtype::kF64: return Copy<double>(tensor, out, [](double v) { return static_cast<float>(v); });
    case Dtype::kF16: return Copy<uint16_t>(tensor, out, FromHalf);
    case Dtype::kBf16: return Copy<uint16_t>(tensor, out, [](uint16_t v) { return std::bit_cast<float>(uint32_t{v} << 16); });
    default: Refuse("tensor '" + name + "': expected floating-point numbers, got " + safetensors::NameOf(tensor.dtype));
  }
}

template <class Numbers>
std::string Dims(const Numbers& shape) {
  std::string text = "[";
  for (const auto n : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + "]";
}

// Under the names of the model with its head; a file of the bare model lacks the prefix.
safetensors::Tensors FullNames(const safetensors::Tensors& tensors) {
  if (!tensors.contains("shared.weight")) return tensors;
  safetensors::Tensors full;
  for (const auto& [name, tensor] : tensors) full["model." + name] = tensor;
  return full;
}

void NeedTied(const safetensors::Tensors& tensors, const Tensor& shared) {
  for (const char* name : kTied) {
    const auto found = tensors.find(name);
    if (found == tensors.end()) continue;
    const Tensor& tied = found->second;
    if (tied.dtype != shared.dtype || tied.shape != shared.shape || std::memcmp(tied.data, shared.data, shared.bytes) != 0)
      Refuse(std::string("tensor '") + name + "': expected the values of '" + kShared +
             "', got different ones; this model does not share its embedding");
  }
}

// Older writers kept one of the tied tensors under another name.
void FindShared(safetensors::Tensors* tensors) {
  for (const char* name : kTied) {
    if (tensors->contains(kShared)) return;
    if (const auto found = tensors->find(name); found != tensors->end()) (*tensors)[kShared] = found->second;
  }
}

void Fill(const safetensors::Tensors& tensors, const Layout& layout, float* out) {
  for (const Parameter& parameter : layout.parameters()) {
    const auto found = tensors.find(parameter.name);
    if (found == tensors.end()) {
      if (parameter.name != kBias) Refuse("has no tensor '" + parameter.name + "'");
      std::fill_n(out + parameter.offset, parameter.size, 0.f);
      continue;
    }
    const Tensor& tensor = found->second;
    if (!std::equal(tensor.shape.begin(), tensor.shape.end(), parameter.shape.begin(), parameter.shape.end(),
                    std::equal_to<int64_t>())) {
      Refuse("tensor '" + parameter.name + "': expected the shape " + Dims(parameter.shape) + " by config.json, got " +
             Dims(tensor.shape));
    }
    Convert(parameter.name, tensor, out + parameter.offset);
  }
}

void NeedKnown(const safetensors::Tensors& tensors, const Layout& layout) {
  for (const auto& [name, tensor] : tensors) {
    const bool known = std::any_of(layout.parameters().begin(), layout.parameters().end(),
                                   [&, n = name](const Parameter& p) { return p.name == n; });
    if (!known && std::find(std::begin(kTied), std::end(kTied), name) == std::end(kTied))
      Refuse("tensor '" + name + "' is not part of the model in config.json");
  }
}

}  // namespace

void ReadWeights(const std::string& folder, const Layout& layout, float* out) {
  const std::string path = fs::path(folder) / "model.safetensors";
  if (!fs::exists(path)) {
    for (const char* other : {"model.safetensors.index.json", "pytorch_model.bin"}) {
      if (fs::exists(fs::path(folder) / other))
        Refuse(folder + ": expected model.safetensors, got " + other + "; write it with `save_pretrained` of transformers");
    }
  }
  const safetensors::Reader file(path);
  try {
    safetensors::Tensors tensors = FullNames(file.tensors());
    FindShared(&tensors);
    Fill(tensors, layout, out);
    NeedTied(tensors, tensors.at(kShared));
    NeedKnown(tensors, layout);
  } catch (const std::exception& e) {
    Refuse(path + ": " + e.what());
  }
}

void SavePretrained(const std::string& folder, const BartConfig& config, const Layout& layout, const float* weights,
                    const std::string& generation) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) Refuse(folder + ": cannot create the folder: " + error.message());
  safetensors::Tensors tensors;
  for (const Parameter& parameter : layout.parameters()) {
    tensors[parameter.name] = {Dtype::kF32,
                               {parameter.shape.begin(), parameter.shape.end()},
                               reinterpret_cast<const std::byte*>(weights + parameter.offset),
                               static_cast<uint64_t>(parameter.size) * sizeof(float)};
  }
  safetensors::Write(fs::path(folder) / "model.safetensors", {{"format", "pt"}}, tensors);
  WriteConfig(fs::path(folder) / "config.json", config);
  if (!generation.empty()) WriteText(fs::path(folder) / "generation_config.json", generation + "\n");
}

void InitWeights(const BartConfig& config, const Layout& layout, uint64_t seed, float* out) {
  std::fill_n(out, layout.size(), 0.f);
  bp_rng rng{bp_seed(seed, BP_PURPOSE_LEARNER, 1, 0), 0};
  for (const Parameter& parameter : layout.parameters()) {
    float* values = out + parameter.offset;
    const bool norm = parameter.name.ends_with("norm.weight") || parameter.name.ends_with("layernorm_embedding.weight");
    if (norm) std::fill_n(values, parameter.size, 1.f);
    if (parameter.shape.size() != 2 || parameter.name == kBias) continue;
    for (int64_t i = 0; i < parameter.size; ++i) values[i] = static_cast<float>(config.init_std * bp_rng_normal(&rng));
  }
  std::fill_n(out + layout.at(kShared).offset + config.pad_token_id * config.d_model, config.d_model, 0.f);
}

}  // namespace backplane::seq2seq
