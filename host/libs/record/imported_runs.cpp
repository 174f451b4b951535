#include "record/imported_runs.hpp"

#include <stdexcept>

#include "base/files.hpp"
#include "record/results_folder.hpp"
#include "record/run_info.hpp"

namespace backplane {

std::optional<ImportedRuns> ImportedRunsIn(const std::filesystem::path& out) {
  const std::optional<std::string> text = ReadFile(ResultsFolder{out}.run());
  if (!text) return std::nullopt;
  return ReadTolerantly<RunInfo>(nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false)).imported;
}

void RejectImported(const std::filesystem::path& out) {
  if (!ImportedRunsIn(out)) return;
  throw std::runtime_error(out.string() +
                           ": expected results of Backplane, got imported runs, which can be read but not run or evaluated");
}

}  // namespace backplane
