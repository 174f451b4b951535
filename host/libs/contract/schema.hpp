// The host's own keys, each declared once: place in the file, whom it concerns, type, range, default, other names, and the
// member it fills.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "contract/experiment.hpp"
#include "contract/value.hpp"

namespace backplane {

// What a value of a key can change. A path that `sweep:` names belongs to the identity whatever stands here
// (sweep/identity.hpp).
enum class Scope {
  kIdentity = 1,  // numbers: another value makes another trial
  kSpeed,         // how fast a trial runs and what it takes, but no number
  kBatch,         // what is around the trials: one value for all of them
};

struct HostKey {
  std::string path;
  Scope scope;
  ValueType type;
  std::string range;
  const char* def;  // YAML text; NULL: none. "<experiment>" stands for the experiment's name
  bool required;
  // What other tools call it, comma separated. "=NAME" means the very same: it is read as the key at the top of a file, in the
  // key's section and among the learner's options, and said. Any other is used in hints only.
  std::string other_names;
  std::string doc;
  // Its place in the text that a point's id is a hash of, and what stands there, if anything does. Empty: no place. Of a key
  // that is not of the identity it is what of it matters there all the same, such as the kind of device.
  std::string canonical;
  std::optional<nlohmann::json> (*identity)(const Experiment&) = nullptr;  // NULL: as `get`
  // The member as it stands in a saved configuration, and back. NULL for keys that are gone once the file is read.
  // Set throws std::runtime_error when the JSON does not fit.
  nlohmann::json (*get)(const HostKey&, const Experiment&) = nullptr;
  void (*set)(const HostKey&, const nlohmann::json&, Experiment*) = nullptr;

  bool of_command = false;  // says something only beside learner.command, or is it: else it has no place anywhere

  ValueRule rule() const { return {type, range}; }
  bool recorded() const { return get != nullptr; }  // stands in a saved configuration
};

std::span<const HostKey> HostKeys();
const HostKey* FindHostKey(const std::string& path);
// By another name of the very same meaning.
const HostKey* FindHostKeyByAlias(const std::string& name);
std::vector<std::string> OtherNames(const HostKey& key);  // both sorts, as they are written in files
// "rollout", "evaluation.env": some keys stand below it.
bool IsSection(const std::string& path);
// Of the key at the path or above it, or of the section there if all its keys have the same. Absent: no such path, or they
// differ.
std::optional<Scope> ScopeAt(std::string path);
// Keys and sections of another scope than kIdentity.
std::vector<std::string> PathsOutsideIdentity();
// What stands below such a key is no key of the table.
bool IsFreeForm(const HostKey& key);

}  // namespace backplane
