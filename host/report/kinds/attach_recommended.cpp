#include "kinds/attach_recommended.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "config/recommended_file.hpp"
#include "kinds/sections.hpp"

namespace backplane {

void AttachRecommended(const TrialData& trial, const WantedFile& wanted, Document* document) {
  try {
    document->attachments.push_back({wanted.name, RecommendedFile(trial.config, wanted.suffix, wanted.comments)});
  } catch (const std::runtime_error& error) {
    AddLimit(fmt::format("{} was not written: this version cannot read the configuration of trial {} ({}).", wanted.name,
                         trial.trial_id, error.what()),
             document);
  }
}

}  // namespace backplane
