// The host's own keys, each declared once: place in the file, type, range, default, other names, and the member it fills.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "config/experiment.hpp"
#include "config/value.hpp"

namespace backplane {

struct HostKey {
  std::string path;
  ValueType type;
  std::string range;
  const char* def;  // YAML text; NULL: none. "<experiment>" stands for the experiment's name
  bool required;
  std::string other_names;  // what other tools call it, comma separated: used in hints only
  std::string doc;
  // The member as it stands in a saved configuration, and back. NULL for keys that are gone once the file is read.
  // Set throws std::runtime_error when the JSON does not fit.
  nlohmann::json (*get)(const HostKey&, const Experiment&) = nullptr;
  void (*set)(const HostKey&, const nlohmann::json&, Experiment*) = nullptr;

  ValueRule rule() const { return {type, range}; }
};

std::span<const HostKey> HostKeys();
const HostKey* FindHostKey(const std::string& path);
// "rollout", "evaluation.env": some keys stand below it.
bool IsSection(const std::string& path);
// What stands below such a key is no key of the table.
bool IsFreeForm(const HostKey& key);

}  // namespace backplane
