// An error that ends a trial: a plugin's status or the host's finding, with one sentence.
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
  const std::string& plugin() const { return plugin_; }  // the culprit; empty: the host
  bool explained() const { return explained_; }          // false: the plugin returned a status without a sentence

 private:
  bp_status status_;
  std::string plugin_;
  bool explained_;
};

}  // namespace backplane
