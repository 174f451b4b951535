#include "trial/policy_arrays.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <stdexcept>

#include "record/policy_form.hpp"

namespace backplane {
namespace {

using Arrays = std::map<std::string, NumpyArray>;

// Relative difference of equal numbers: file formats round their last digits.
constexpr double kSame = 1e-6;

[[noreturn]] void RejectPolicy(const std::string& place, const std::string& expected, const std::string& got,
                               const std::string& hint = "") {
  throw std::runtime_error(
      fmt::format("{}: expected {}, got {}{}{}", place, expected, got, hint.empty() ? "" : "\nhint: ", hint));
}

std::string ShapeText(const std::vector<uint64_t>& shape) {
  return shape.empty() ? "one number" : fmt::format("{}", fmt::join(shape, " x "));
}

// "move (3 numbers), gear (choices of 3, 2), lamps (2 bits)"
std::string PartsText(const std::vector<FormPart>& parts) {
  std::string text;
  for (const FormPart& part : parts) {
    const std::vector<uint64_t>& sizes = part.sizes.empty() ? part.choices : part.sizes;
    const std::string count = fmt::format("{}", part.low.empty() ? part.count : part.low.size());
    text += (text.empty() ? "" : ", ") + part.action + " (" +
            (part.kind == "discrete" ? fmt::format("choices of {}", fmt::join(sizes, ", "))
                                     : count + (part.kind == "bits" ? " bits" : " numbers")) +
            ")";
  }
  return text;
}

// The arrays of a file. Each must be taken once.
class ArrayShelf {
 public:
  explicit ArrayShelf(const Arrays& arrays) : arrays_(arrays) {}

  bool Has(const std::string& name) const { return arrays_.contains(name); }
  const std::vector<double>& Take(const std::string& name, const std::vector<uint64_t>& shape, bool may_be_infinite = false) {
    const NumpyArray& array = TakeAny(name);
    if (array.is_text || array.shape != shape)
      RejectPolicy(name, ShapeText(shape), array.is_text ? "a text" : ShapeText(array.shape));
    for (const double value : array.values)
      if (std::isnan(value) || (!may_be_infinite && std::isinf(value)))
        RejectPolicy(name, "finite numbers", fmt::format("{}", value));
    return array.values;
  }
  std::string TakeText(const std::string& name) {
    const NumpyArray& array = TakeAny(name);
    if (!array.is_text) RejectPolicy(name, "a text", ShapeText(array.shape));
    return array.text;
  }
  void RejectRest() const {
    for (const auto& [name, array] : arrays_)
      if (!taken_.contains(name))
        RejectPolicy(name, "only arrays that the learner has a place for", "an array of " + ShapeText(array.shape));
  }

 private:
  const NumpyArray& TakeAny(const std::string& name) {
    const auto found = arrays_.find(name);
    if (found == arrays_.end()) RejectPolicy(name, "this array", "none");
    taken_.insert(name);
    return found->second;
  }

  const Arrays& arrays_;
  std::set<std::string> taken_;
};

class PolicyFiller {
 public:
  PolicyFiller(const MlpForm& form, const Arrays& arrays, std::vector<std::byte>* policy)
      : form_(form), shelf_(arrays), policy_(*policy), inputs_(form.layers.front().in), outputs_(form.layers.back().out) {}

  FilledPolicy Fill() {
    CheckNet();
    FillLayers("layer", form_.layers);
    FillStatistics();
    FillCritic();
    FillDeviations();
    shelf_.RejectRest();
    return filled_;
  }

 private:
  template <class T>
  void Write(uint64_t at, const std::vector<double>& values) {
    if (at > policy_.size() || values.size() > (policy_.size() - at) / sizeof(T))
      throw std::runtime_error("the learner's form refers to bytes after the end of its policy");
    for (size_t i = 0; i < values.size(); ++i) {
      const T value = static_cast<T>(values[i]);
      if (!std::isfinite(value)) throw std::runtime_error(fmt::format("expected float32 numbers, got {}", values[i]));
      std::memcpy(policy_.data() + at + i * sizeof(T), &value, sizeof(T));
    }
  }
  void WriteWeights(uint64_t at, const std::vector<double>& values) {
    form_.dtype == "float64" ? Write<double>(at, values) : Write<float>(at, values);
  }

  void CheckNet() {
    const std::string activation = shelf_.TakeText("activation"), head = shelf_.TakeText("head");
    if (activation != form_.activation && form_.layers.size() > 1)
      RejectPolicy("activation", form_.activation, activation, "learner: {options: {activation: " + activation + "}}");
    if (head != form_.head.kind) RejectPolicy("head", form_.head.kind + " actions, as the env has", head);
    if (head == "several") return CheckParts();
    CheckBounds("action.low", form_.head.low);
    CheckBounds("action.high", form_.head.high);
    const bool own = form_.head.squash, squash = shelf_.Has("action.squash") && shelf_.Take("action.squash", {})[0] != 0;
    if (squash != own)
      RejectPolicy("action.squash", own ? "outputs that are squashed" : "outputs that are clipped",
                   squash ? "squashed ones" : "clipped ones");
  }

  void CheckParts() {
    const nlohmann::json parts = nlohmann::json::parse(shelf_.TakeText("parts"), nullptr, /*allow_exceptions=*/false);
    const auto theirs = RecordFromJson<FormHead>(nlohmann::json{{"kind", "several"}, {"parts", parts}});
    if (const std::string own = PartsText(form_.head.parts), other = PartsText(theirs.parts); own != other)
      RejectPolicy("parts", own, other);
    uint64_t numbers = 0;
    for (const FormPart& part : form_.head.parts) numbers += part.low.size();
    for (const char* const name : {"action.low", "action.high"})  // the env decides its bounds
      if (shelf_.Has(name)) shelf_.Take(name, {numbers}, /*may_be_infinite=*/true);
    if (shelf_.Has("action.squash") && shelf_.Take("action.squash", {})[0] != 0)
      RejectPolicy("action.squash", "outputs that are clipped", "squashed ones");
  }

  // The env decides its bounds. Bounds in the file matter only if they scale the outputs.
  void CheckBounds(const char* name, const std::vector<double>& own) {
    if (!shelf_.Has(name)) return;
    const std::vector<double>& values = shelf_.Take(name, {outputs_}, /*may_be_infinite=*/true);
    for (size_t i = 0; form_.head.squash && i < values.size(); ++i) {
      const double wanted = own.at(own.size() > 1 ? i : 0);
      if (!std::isnan(wanted) && wanted != values[i])
        RejectPolicy(name, fmt::format("{}, as the env has", wanted), fmt::format("{}", values[i]));
    }
  }

  void FillLayers(const std::string& prefix, const std::vector<FormLayer>& layers) {
    size_t count = 0;
    while (shelf_.Has(fmt::format("{}.{}.weight", prefix, count))) ++count;
    if (count != layers.size())
      RejectPolicy(prefix + ".*", fmt::format("{} layers ({})", layers.size(), SizesText(layers)), fmt::format("{}", count),
                   "set the sizes of the hidden layers in learner.options");
    for (size_t i = 0; i < count; ++i) {
      const FormLayer& layer = layers[i];
      const std::string name = fmt::format("{}.{}.", prefix, i);
      WriteWeights(layer.weight, shelf_.Take(name + "weight", {layer.in, layer.out}));
      if (!layer.bias && !shelf_.Has(name + "bias")) continue;
      const std::vector<double>& bias = shelf_.Take(name + "bias", {layer.out});
      if (layer.bias) {
        WriteWeights(*layer.bias, bias);
      } else if (std::ranges::any_of(bias, [](double value) { return value != 0; })) {
        RejectPolicy(name + "bias", "zeros, because the learner's layers have no bias", "other numbers");
      }
    }
  }

  static std::string SizesText(const std::vector<FormLayer>& layers) {
    std::string text = fmt::format("{}", layers.front().in);
    for (const FormLayer& layer : layers) text += fmt::format(" -> {}", layer.out);
    return text;
  }

  void FillStatistics() {
    const bool has = shelf_.Has("normalizer.mean");
    if (!form_.normalizer && !has) return;
    if (!form_.normalizer)
      RejectPolicy("normalizer", "none, because the learner does not normalize observations", "statistics",
                   "learner: {options: {normalize_obs: true}}");
    if (!has)
      RejectPolicy("normalizer", "statistics, because the learner normalizes observations", "none",
                   "learner: {options: {normalize_obs: false}}");
    const FormNormalizer& own = *form_.normalizer;
    const double count = shelf_.Take("normalizer.count", {})[0];
    const std::vector<double>& mean = shelf_.Take("normalizer.mean", {inputs_});
    std::vector<double> spread = shelf_.Take("normalizer.variance", {inputs_});
    for (const double value : spread)
      if (value < 0) RejectPolicy("normalizer.variance", "0 or more", fmt::format("{}", value));
    if (!(count > 0)) RejectPolicy("normalizer.count", "more than 0", fmt::format("{}", count));
    CheckSame("normalizer.epsilon", own.epsilon, shelf_.Take("normalizer.epsilon", {})[0], "obs_epsilon");
    CheckSame("normalizer.clip", own.clip.value_or(INFINITY), shelf_.Take("normalizer.clip", {}, /*may_be_infinite=*/true)[0],
              "obs_clip");
    CheckScale(own, spread);
    if (own.squares)
      for (double& value : spread) value *= count - 1;
    Write<double>(own.count, {count});
    Write<double>(own.mean, mean);
    Write<double>(own.squares ? *own.squares : own.variance.value(), spread);
  }

  // The learner's own rule must give the file's scale, because there is more than one.
  void CheckScale(const FormNormalizer& own, const std::vector<double>& variance) {
    if (!shelf_.Has("normalizer.scale")) return;
    const std::vector<double>& scale = shelf_.Take("normalizer.scale", {inputs_});
    for (size_t i = 0; i < scale.size(); ++i) {
      const double deviation = std::sqrt(variance[i]);
      const double wanted = !own.squares                      ? 1 / std::sqrt(variance[i] + own.epsilon)
                            : deviation < own.least_deviation ? 0
                                                              : 1 / (deviation + own.epsilon);
      if (std::abs(wanted - scale[i]) > kSame * std::abs(wanted))
        RejectPolicy("normalizer.scale", fmt::format("{} for input {}, computed from normalizer.variance", wanted, i),
                     fmt::format("{}", scale[i]));
    }
  }

  static void CheckSame(const char* name, double own, double value, const char* option) {
    if (own == value || std::abs(own - value) <= kSame * std::abs(own)) return;
    RejectPolicy(name, fmt::format("{}, as the learner has", own), fmt::format("{}", value),
                 fmt::format("learner: {{options: {{{}: {}}}}}, if it has this option", option, value));
  }

  void FillCritic() {
    filled_.lacks_critic = !form_.critic.empty() && !shelf_.Has("critic.0.weight");
    if (!shelf_.Has("critic.0.weight")) return;
    if (form_.critic.empty())
      RejectPolicy("critic.*", "no critic, because the learner describes none", "one",
                   "backplane import policy FILE --to FILE --without-critic");
    FillLayers("critic", form_.critic);
  }

  void FillDeviations() {
    if (!shelf_.Has("log_std")) return;
    if (!form_.log_std) RejectPolicy("log_std", "none, because the learner has no deviations of actions", "some");
    const uint64_t count = form_.log_std->count;
    WriteWeights(form_.log_std->at, shelf_.Take("log_std", count == outputs_ || form_.head.kind == "several"
                                                               ? std::vector{count}
                                                               : std::vector{count / outputs_, outputs_}));
  }

  const MlpForm& form_;
  ArrayShelf shelf_;
  std::vector<std::byte>& policy_;
  const uint64_t inputs_, outputs_;
  FilledPolicy filled_;
};

}  // namespace

FilledPolicy FillPolicy(const nlohmann::json& form, const Arrays& arrays, std::vector<std::byte>* policy) try {
  const auto mlp = RecordFromJson<MlpForm>(form);
  return PolicyFiller(mlp, arrays, policy).Fill();
} catch (const RecordError& e) {
  throw std::runtime_error(std::string("the learner's policy: ") + e.what());
}

}  // namespace backplane
