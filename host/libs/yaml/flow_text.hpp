// Text that can be pasted into an experiment file or after a command, for hints.
#pragma once

#include <string>

#include "yaml/document.hpp"

namespace backplane {

// The value on one line: "{values: [1, 2], when: a < b}".
std::string FlowText(const Node& node);

// "learner: {options: {lr: 1e-3}}" for the path "learner.options.lr".
std::string KeyLine(const std::string& path, const std::string& value);

// The same from the key in `section` on, if the value stands in a file; "--set learner.options.lr=1e-3" if it is an argument.
std::string SettingLine(const Mark& mark, const std::string& section, const std::string& path, const std::string& value);

}  // namespace backplane
