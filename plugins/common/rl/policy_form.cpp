#include "rl/policy_form.hpp"

#include <cmath>
#include <cstdio>

namespace backplane::rl {
namespace {

std::string Quoted(const std::string& name) { return '"' + name + '"'; }

template <class Each>
std::string List(const Each& each, const auto& values) {
  std::string text;
  for (const auto& value : values) text += (text.empty() ? "" : ",") + each(value);
  return "[" + text + "]";
}

// JSON has no infinity, so a missing bound is null.
std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return std::isfinite(value) ? text : "null";
}

std::string Bounds(const std::vector<float>& values) {
  return List([](float value) { return Number(value); }, values);
}

std::string PartText(const HeadPart& part) {
  const std::string action = R"({"action":)" + Quoted(part.action) + R"(,"kind":)";
  if (part.bits > 0) return action + R"("bits","count":)" + std::to_string(part.bits) + "}";
  if (part.choices.empty())
    return action + R"("continuous","low":)" + Bounds(part.low) + R"(,"high":)" + Bounds(part.high) + "}";
  return action + R"("discrete","choices":)" + List([](int64_t n) { return std::to_string(n); }, part.choices) + "}";
}

}  // namespace

std::string NormalizerText(const SavedNormalizer& n, int64_t size) {
  // Each array follows its number of elements.
  const uint64_t means = n.at + 2 * sizeof(double), others = means + static_cast<uint64_t>(size + 1) * sizeof(double);
  return R"({"rule":)" + Quoted(n.rule) + R"(,"count":)" + std::to_string(n.at) + R"(,"mean":)" + std::to_string(means) + "," +
         Quoted(n.rule) + ":" + std::to_string(others) + R"(,"epsilon":)" + Number(n.epsilon) + R"(,"clip":)" +
         (n.clip > 0 ? Number(n.clip) : "null") + R"(,"least_deviation":)" + Number(n.least_deviation) + "}";
}

std::string DiscreteHead(int64_t choices) { return R"({"kind":"discrete","choices":)" + std::to_string(choices) + "}"; }

std::string SeveralHead(const std::vector<HeadPart>& parts) {
  return R"({"kind":"several","parts":)" + List(PartText, parts) + "}";
}

std::string ContinuousHead(const std::vector<float>& low, const std::vector<float>& high, bool squash) {
  return R"({"kind":"continuous","squash":)" + std::string(squash ? "true" : "false") + R"(,"low":)" + Bounds(low) +
         R"(,"high":)" + Bounds(high) + "}";
}

std::string TextOf(const MlpForm& form) {
  const uint64_t width = std::string_view(form.dtype) == "float64" ? sizeof(double) : sizeof(float);
  const auto at = [&](int64_t number) { return std::to_string(form.numbers_at + static_cast<uint64_t>(number) * width); };
  const auto layer = [&](const nn::Layer& one) {
    return R"({"in":)" + std::to_string(one.in) + R"(,"out":)" + std::to_string(one.out) + R"(,"weight":)" + at(one.weight) +
           R"(,"bias":)" + (form.biases ? at(one.bias) : "null") + "}";
  };
  const auto channel = [](const char* key, const std::string& name) {
    return name.empty() ? "" : ",\"" + std::string(key) + "\":" + Quoted(name);
  };
  const std::string memory = form.memory.size == 0
                                 ? ""
                                 : R"(,"memory":{"channel":)" + Quoted(form.carry) + R"(,"first":0,"size":)" +
                                       std::to_string(form.memory.size) + R"(,"input":)" + layer(form.memory.input) +
                                       R"(,"hidden":)" + layer(form.memory.hidden) + "}";
  const auto conv = [&](const nn::Conv& one) {
    return R"({"kernel":)" + std::to_string(one.kernel) + R"(,"stride":)" + std::to_string(one.stride) + "," +
           layer(one.layer).substr(1);
  };
  const auto image = [&](const FormImage& one) {
    return R"({"channel":)" + Quoted(one.channel) + R"(,"height":)" + std::to_string(one.image.height) + R"(,"width":)" +
           std::to_string(one.image.width) + R"(,"channels":)" + std::to_string(one.image.channels) + R"(,"planar":)" +
           (one.image.planar ? "true" : "false") + R"(,"layers":)" + List(conv, one.convs) + R"(,"dense":)" + layer(one.dense) +
           "}";
  };
  const char* const kind = form.memory.size > 0 ? "gru" : form.images.empty() ? "mlp" : "images";
  return R"({"kind":)" + Quoted(kind) + (form.images.empty() ? "" : R"(,"images":)" + List(image, form.images)) + R"(,"obs":)" +
         List(Quoted, form.obs) + channel("mask", form.mask) + channel("alive", form.alive) + channel("action", form.action) +
         R"(,"dtype":)" + Quoted(form.dtype) + R"(,"activation":)" +
         (form.activation == nn::Activation::kTanh ? R"("tanh")" : R"("relu")") + R"(,"layers":)" + List(layer, form.layers) +
         memory + R"(,"normalizer":)" + form.normalizer + R"(,"head":)" + form.head +
         (form.critic.empty() ? "" : R"(,"critic":)" + List(layer, form.critic)) +
         (form.log_stds == 0
              ? ""
              : R"(,"log_std":{"at":)" + at(form.log_std) + R"(,"count":)" + std::to_string(form.log_stds) + "}") +
         "}";
}

}  // namespace backplane::rl
