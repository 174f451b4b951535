#include "store/progress_file.hpp"

#include "base/files.hpp"
#include "base/json_text.hpp"

namespace backplane {
namespace {

using nlohmann::ordered_json;

ProgressHead HeadOf(const BatchProgress& batch) {
  ProgressHead head = batch.head;
  for (const TrialProgress& trial : batch.trials) {
    ++head.counts[Word(trial.state)];
    head.done += IsFinal(trial.state);
  }
  head.total = batch.trials.size() + batch.to_come;
  return head;
}

}  // namespace

std::string ProgressText::Of(const BatchProgress& batch) {
  std::string text = JsonText(ToJson<ordered_json>(HeadOf(batch)));
  text.pop_back();  // the closing bracket: the trials' texts come before it
  text += ",\"trials\":[";
  trials_.resize(batch.trials.size());
  for (size_t i = 0; i < batch.trials.size(); ++i) {
    auto& [kept, kept_text] = trials_[i];
    if (kept_text.empty() || kept != batch.trials[i]) {
      kept = batch.trials[i];
      kept_text = JsonText(ToJson<ordered_json>(kept));
    }
    text += i == 0 ? "\n" : ",\n";
    text += kept_text;
  }
  return text + "]}\n";
}

void ProgressFile::Write(const BatchProgress& batch) {
  if (!folder_) {
    const std::filesystem::path folder = std::filesystem::absolute(file_).parent_path();
    std::filesystem::create_directories(folder);
    folder_.emplace(folder);
  }
  if (!folder_->Deleted()) ReplaceFile(folder_->Now() / file_.filename(), text_.Of(batch));
}

}  // namespace backplane
