// --fast: quick cases for plugin files that were never validated. The check before a first trial starts it.
#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <vector>

#include "base/error_words.hpp"
#include "base/json_text.hpp"
#include "log/log.hpp"
#include "validate/commands.hpp"
#include "validate/fast_cases.hpp"

namespace backplane {

int TryFastCases() try {
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // without the trial's process the answer has no reader
  const std::string request{std::istreambuf_iterator<char>(std::cin), {}};
  std::vector<TrialSpec> specs;
  for (const nlohmann::json& spec : nlohmann::json::parse(request)) specs.push_back(TrialSpecFromJson(spec));
  const BrokenRulesAnswer answer{FindBrokenRules(specs, ValidatedFiles())};
  std::printf("%s\n", JsonText(ToJson(answer)).c_str());
  return std::fflush(stdout) == 0 ? kOk : kFailed;
} catch (const std::exception& error) {
  LogError("backplane-validate: {}", WordsOf(error));
  return kFailed;
}

}  // namespace backplane
