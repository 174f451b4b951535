// A trial by command: `learner.command` or `learner.function` replaces the learner's plugin (contract/placeholders.hpp).
#pragma once

#include "config/plugins.hpp"
#include "contract/placeholders.hpp"

namespace backplane {

// Returns true if the learner is a command or a function, even an invalid one.
bool HasCommand(const Node& root);
// Makes paths relative to the experiment file absolute, and returns the description that replaces the learner's plugin.
PluginSlot ResolveCommand(Node* root, Errors* errors);
bool IsOfCommand(const OptionTable& table);
PluginSlot SlotWithoutEnv();

}  // namespace backplane
