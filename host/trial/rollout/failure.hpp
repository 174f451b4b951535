// A trial that cannot go on: the status a plugin returned, or what the host found, with one sentence.
#pragma once

#include <stdexcept>
#include <string>

#include "backplane/base.h"

namespace backplane {

class TrialFailure : public std::runtime_error {
 public:
  TrialFailure(bp_status status, std::string plugin, const std::string& text, bool explained = true)
      : std::runtime_error(plugin.empty() ? text : plugin + ": " + text),
        status_(status),
        plugin_(std::move(plugin)),
        explained_(explained) {}
  bp_status status() const { return status_; }
  const std::string& plugin() const { return plugin_; }  // whose fault; empty: the host's
  bool explained() const { return explained_; }          // false: the plugin gave a status and no sentence

 private:
  bp_status status_;
  std::string plugin_;
  bool explained_;
};

}  // namespace backplane
