// The first line of the file that a trial's process writes about its policy; tools/export reads it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "record/fields.hpp"

namespace backplane {

// A number in a channel. Without a name, the env does not declare it.
struct PolicyLabel {
  std::string name, unit;

  static void Fields(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("unit", self.unit);
  }
  bool operator==(const PolicyLabel&) const = default;
};

struct PolicyChannel {
  std::string name, role, scope, space, dtype;  // "obs", "OBS", "row" or "agent", "box" or "discrete", "float32"
  std::vector<int64_t> shape;                   // of one row or agent
  nlohmann::json low, high;                     // numbers; null: no bound; one for all elements or one each
  int64_t choices = 0;                          // of a discrete action
  uint64_t bytes = 0;                           // of one act
  std::vector<PolicyLabel> labels = {};         // of each number; empty: none is declared

  static void Fields(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("role", self.role);
    visit("scope", self.scope);
    visit("space", self.space);
    visit("dtype", self.dtype);
    visit("shape", self.shape);
    visit("low", self.low);
    visit("high", self.high);
    visit("choices", self.choices);
    visit("bytes", self.bytes);
    visit("labels", LeftOutIfEmpty(self.labels));
  }
};

struct PolicyFile {
  std::string experiment, trial, env, learner;
  uint64_t iterations = 0;              // of the checkpoint
  nlohmann::json form;                  // backplane/ext/policy.h
  uint64_t policy_bytes = 0;            // that follow the line
  uint64_t acts = 0;                    // that follow them
  double step_s = 0;                    // the env's time per step; 0: unknown
  std::vector<PolicyChannel> channels;  // those that the learner reads, its actions, then "next_NAME" of its CARRY channels

  static void Fields(auto& self, auto&& visit) {
    visit("experiment", self.experiment);
    visit("trial", self.trial);
    visit("env", self.env);
    visit("learner", self.learner);
    visit("iterations", self.iterations);
    visit("form", self.form);
    visit("policy_bytes", self.policy_bytes);
    visit("acts", self.acts);
    visit("step_s", self.step_s);
    visit("channels", self.channels);
  }
};

}  // namespace backplane
