// An experiment file with the setting of one point of a finished experiment, to be trained with.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "render/document.hpp"
#include "results/result_set.hpp"

namespace backplane {

// `config` as in trial.json; the experiment's name gets the suffix and its results a folder of their own. The comments stand on
// top, a line each, and empty ones not. There is no budget: `run` asks for one.
std::string RecommendedFile(const nlohmann::json& config, const std::string& suffix, const std::vector<std::string>& comments);

// The same as an attachment. Of a trial whose configuration another version of this program saved, and this one cannot read, a
// sentence among the document's limits instead, which must stand.
struct WantedFile {
  std::string name, suffix;
  std::vector<std::string> comments;
};
void AttachRecommended(const TrialData& trial, const WantedFile& wanted, Document* document);

}  // namespace backplane
