// `backplane help TOPIC`: a key, a section or a plugin's options, environment variables, exit codes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arguments/command.hpp"

namespace backplane {

// The topic if `words` are "help TOPIC" and no command has that name.
std::optional<std::string> TopicAsked(const std::vector<std::string>& words, const std::vector<Command>& commands);

// Prints it and returns the exit code. `more`: the words behind the topic. Only --markdown is allowed, for a topic that is a
// table of the reference.
int PrintTopic(const std::string& topic, const std::vector<Command>& commands, const std::vector<std::string>& more);

}  // namespace backplane
