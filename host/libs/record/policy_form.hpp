// The form of a policy that is a perceptron: kind "mlp" of backplane/ext/policy.h, which explains the members.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/fields.hpp"

namespace backplane {

struct FormLayer {
  uint64_t in = 0, out = 0, weight = 0;
  std::optional<uint64_t> bias;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("in", self.in);
    visit("out", self.out);
    visit("weight", self.weight);
    visit("bias", self.bias);
  }
};

struct FormNormalizer {
  std::string rule;
  uint64_t count = 0, mean = 0;
  std::optional<uint64_t> variance, squares;
  double epsilon = 0;
  std::optional<double> clip;
  double least_deviation = 0;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("rule", self.rule);
    visit("count", self.count);
    visit("mean", self.mean);
    visit("variance", self.variance);
    visit("squares", self.squares);
    visit("epsilon", self.epsilon);
    visit("clip", self.clip);
    visit("least_deviation", self.least_deviation);
  }
};

// A part of an action, in a form and in a file of arrays: `sizes` there are `choices` here.
struct FormPart {
  std::string action, kind;
  std::vector<uint64_t> choices, sizes;
  std::vector<double> low;
  uint64_t count = 0;  // absent in a form of numbers or choices

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("action", self.action);
    visit("kind", self.kind);
    visit("choices", DefaultIfMissing(self.choices));
    visit("sizes", DefaultIfMissing(self.sizes));
    visit("low", DefaultIfMissing(self.low));
    visit("count", DefaultIfMissing(self.count));
  }
};

struct FormHead {
  std::string kind;
  std::vector<FormPart> parts;  // of kind "several"
  bool squash = false;
  std::vector<double> low, high;  // NaN: no bound

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("kind", self.kind);
    visit("parts", DefaultIfMissing(self.parts));
    visit("squash", DefaultIfMissing(self.squash));
    visit("low", DefaultIfMissing(self.low));
    visit("high", DefaultIfMissing(self.high));
  }
};

struct FormDeviations {
  uint64_t at = 0, count = 0;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("at", self.at);
    visit("count", self.count);
  }
};

struct MlpForm {
  std::string kind, dtype, activation;
  std::vector<FormLayer> layers, critic;  // critic: empty: not described
  std::optional<FormNormalizer> normalizer;
  FormHead head;
  std::optional<FormDeviations> log_std;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("kind", self.kind);
    if (self.kind != "mlp") throw RecordError("expected a form of kind mlp, got " + self.kind);
    visit("dtype", self.dtype);
    visit("activation", self.activation);
    visit("layers", self.layers);
    visit("critic", DefaultIfMissing(self.critic));
    visit("normalizer", self.normalizer);
    visit("head", self.head);
    visit("log_std", self.log_std);
    if (self.layers.empty()) throw RecordError("expected a form with layers, got none");
  }
};

}  // namespace backplane
