// Finds unusable declarations of a plugin when it is sealed, and for `plugin validate`.
#pragma once

#include <optional>
#include <string>

#include "plugin/plugin_info.hpp"

namespace backplane {

struct DeclarationError {
  std::string place, wanted, found;
  std::string mend;  // empty: `wanted` suffices
};

// An id is its kind, a dot and a name: "env.walker".
std::optional<DeclarationError> WrongId(const PluginInfo& info);
// A type that there is, and a range that can be read: intervals such as (0,1] and words, between bars. No default is looked at.
std::optional<DeclarationError> WrongRange(const OptionInfo& option);

// Called before a plugin is sealed. It checks the exports, the id, the ranges, the defaults against them, and that `helps`
// names known findings. Throws PluginError.
void CheckBeforeSeal(const PluginInfo& info);

}  // namespace backplane
