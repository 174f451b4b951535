// An experiment file with the setting of one point, brought along by a report.
#pragma once

#include <string>
#include <vector>

#include "render/document.hpp"
#include "results/result_set.hpp"

namespace backplane {

// RecommendedFile as an attachment. Of a trial whose configuration another version of this program saved, and this one cannot
// read, a sentence among the document's limits instead, which must stand.
struct WantedFile {
  std::string name, suffix;
  std::vector<std::string> comments;
};
void AttachRecommended(const TrialData& trial, const WantedFile& wanted, Document* document);

}  // namespace backplane
