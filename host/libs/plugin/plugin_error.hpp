// The one exception of this module.
#pragma once

#include <stdexcept>
#include <string>

namespace backplane {

// A plugin that cannot be used; `what()` is the whole message (file, cause, expected and found value).
class PluginError : public std::runtime_error {
 public:
  explicit PluginError(const std::string& text) : std::runtime_error(text) {}
};

}  // namespace backplane
