#include "study/planned_runs.hpp"

#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/json_text.hpp"
#include "base/scratch_folder.hpp"
#include "study/host_program.hpp"

namespace backplane {

int RunPlanned(const PlannedRun& planned, const RunArgs& run, const std::filesystem::path& output) {
  const ScratchFolder scratch;
  const std::filesystem::path file = scratch.path() / "plan.json";
  WriteFileAtomic(file, JsonText(ToJson(planned), 1) + "\n");
  std::vector<std::string> words = {"run", file.string(), "--plan"};
  for (const auto& [flag, is_set] :
       {std::pair("--fresh", run.fresh), std::pair("--dry-run", run.dry_run), std::pair("--json", run.json),
        std::pair("--quiet", run.quiet), std::pair("--skip-invalid", run.skip_invalid)}) {
    if (is_set) words.emplace_back(flag);
  }
  if (run.jobs) words.insert(words.end(), {"--jobs", std::to_string(*run.jobs)});
  if (!run.same.empty()) words.insert(words.end(), {"--same", run.same});
  return RunHost(run.typed_program, std::move(words), output);
}

}  // namespace backplane
