#include "cli/run_looks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "cli/dry_run.hpp"
#include "cli/plugin_check.hpp"
#include "cli/run_plan.hpp"
#include "cli/run_session.hpp"
#include "input/load_file.hpp"
#include "record/plan_file.hpp"
#include "record/results_folder.hpp"

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

int DryRunOfLooks(const Plan& plan, const std::filesystem::path& out, const RunArgs& run, nlohmann::json* preview) {
  RunSession session(run, plan);
  if (!session.FindRoom()) return kUsage;
  ResourcePool pool = session.pool();
  if (!session.is_elsewhere()) {
    const PluginsAsked asked = AskPlugins(plan, &pool);
    if (asked.interrupted) return kInterrupted;
    if (!asked.errors.empty()) {
      Complain(asked.errors, run.input.file);
      return asked.all_config ? kUsage : kFailed;
    }
  }
  if (!run.json) return DryRun(plan, out, pool, run);
  *preview = DryRunJson(plan, out, pool, run);
  return kOk;
}

}  // namespace backplane
