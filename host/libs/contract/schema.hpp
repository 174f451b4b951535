// The host's own keys, each declared once: path, scope, type, range, default, other names, and the member it sets.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "contract/experiment.hpp"
#include "contract/value.hpp"

namespace backplane {

// The effect of a key's value. A path that `sweep:` names always belongs to the identity (sweep/identity.hpp).
enum class Scope {
  kIdentity = 1,  // numbers: another value makes another trial
  kSpeed,         // speed and resources of a trial, but no number
  kBatch,         // settings around the trials: one value for all trials
};

struct HostKey {
  std::string path;
  Scope scope;
  ValueType type;
  std::string range;
  const char* def;  // YAML text; NULL: none. "<experiment>" stands for the experiment's name
  bool required;
  // Names in other tools, comma-separated. "=NAME" is a synonym: it is accepted as the key at the top level of a file, in the
  // key's section and among the learner's options, with a note. Other names only appear in hints.
  std::string other_names;
  std::string doc;
  // Its place in the text whose hash is a point's id, and its value there, if any. Empty: no place. A key outside the identity
  // has the part that matters for it, such as the kind of device.
  std::string canonical;
  std::optional<nlohmann::json> (*identity)(const Experiment&) = nullptr;  // NULL: like `get`
  // The member as it stands in a saved configuration, and back. NULL for keys that are gone once the file is read.
  // Set throws std::runtime_error when the JSON does not fit.
  nlohmann::json (*get)(const HostKey&, const Experiment&) = nullptr;
  void (*set)(const HostKey&, const nlohmann::json&, Experiment*) = nullptr;

  bool rare = false;        // left out of a saved configuration while it is unset
  bool of_command = false;  // only valid next to learner.command or learner.function, or these keys themselves

  ValueRule rule() const { return {type, range}; }
  bool recorded() const { return get != nullptr; }  // part of a saved configuration
};

std::span<const HostKey> HostKeys();
const HostKey* FindHostKey(const std::string& path);
// By another name of the very same meaning.
const HostKey* FindHostKeyByAlias(const std::string& name);
std::vector<std::string> OtherNames(const HostKey& key);  // both kinds, as written in files
// "rollout", "evaluation.env": some keys stand below it.
bool IsSection(const std::string& path);
// The scope of the key at the path or above it, or of the section there if all its keys agree. Absent: unknown path, or the
// keys differ.
std::optional<Scope> ScopeAt(std::string path);
// Keys and sections of another scope than kIdentity.
std::vector<std::string> PathsOutsideIdentity();
// The keys below such a key are not in the table.
bool IsFreeForm(const HostKey& key);

}  // namespace backplane
