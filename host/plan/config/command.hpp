// A trial by command: `learner.command` replaces the learner's plugin (contract/placeholders.hpp).
#pragma once

#include "config/plugins.hpp"
#include "contract/placeholders.hpp"

namespace backplane {

// Whether the learner is a command. One that is wrongly written is one, too.
bool HasCommand(const Node& root);
// Makes paths of files beside the experiment file absolute, and gives what stands for the learner's plugin.
PluginSlot ResolveCommand(Node* root);
PluginSlot SlotWithoutEnv();

}  // namespace backplane
