#include "study/run_looks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "arguments/command.hpp"
#include "base/files.hpp"
#include "base/scratch_folder.hpp"
#include "record/plan_file.hpp"
#include "record/results_folder.hpp"
#include "study/planned_runs.hpp"

namespace backplane {

std::optional<int> RunLooks(const Looks& looks) {
  RunArgs run = looks.run;
  run.same = looks.same;
  for (uint64_t look = run.fresh ? 1 : std::max<uint64_t>(1, looks.first);; ++look, run.fresh = false) {
    if (const int code = RunPlanned(looks.plan(look), run); code != kOk) return code;
    const std::optional<std::string> standing = looks.standing();
    if (!standing || look >= looks.most) return std::nullopt;
    if (run.json || run.quiet || standing->empty()) continue;
    fmt::print("{}\n", *standing);
    std::fflush(stdout);
  }
}

uint64_t TrialsOfAPoint(const std::filesystem::path& out) {
  const ResultsFolder folder{out};
  if (!std::filesystem::exists(folder.plan())) return 0;
  std::map<std::string, uint64_t> trials;
  for (const PlanLine& line : ReadPlanFile(folder.plan())) trials[line.point_id] += line.dropped ? 0 : 1;
  uint64_t most = 0;
  for (const auto& [point, count] : trials) most = std::max(most, count);
  return most;
}

int DryRunOfLooks(const PlannedRun& planned, const RunArgs& run, nlohmann::json* preview) {
  if (!run.json) return RunPlanned(planned, run);
  const ScratchFolder scratch;
  const std::filesystem::path output = scratch.path() / "preview.json";
  const int code = RunPlanned(planned, run, output);
  if (code == kOk) *preview = nlohmann::json::parse(ReadFile(output).value_or(""));
  return code;
}

}  // namespace backplane
