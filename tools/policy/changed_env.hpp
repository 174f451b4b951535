// The env of an evaluation: the training's env with other options, or a different env.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "contract/one_trial.hpp"
#include "record/trial_file.hpp"

namespace backplane {

struct EnvChange {
  std::vector<std::string> set;  // "env.options.NAME=VALUE"
  std::string env;               // name or file of a different env; empty: the training's
  std::vector<std::string> plugin_path;
};

// Returns an error of the typed changes, or an empty text.
std::string ErrorOf(const EnvChange& change);

struct EvaluationEnv {
  std::optional<TrialPlugin> plugin;     // absent: the training's
  nlohmann::json options;                // complete
  std::vector<std::string> differences;  // from the training: "env.options.reset_noise_scale: 0.1 -> 0.2"
};

// An option or an env that does not fit: the errors have been printed.
class ChangeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Checks the changes by the option table of the env's plugin, without loading it. Throws ChangeError.
EvaluationEnv ChangeEnv(const OneTrial& trial, const EnvChange& change);

}  // namespace backplane
