#include "trial/time_table.hpp"

namespace backplane {
namespace {

struct GroupSum {
  int64_t ns = 0;
  double used_ns = 0, known_ns = 0;  // on a processor, of the time of phases of which that is known
};

// Each phase stands for its whole time, whatever part of it was looked at.
void AddUse(const std::vector<PhaseClock>& clocks, Phase phase, GroupSum* sum) {
  int64_t ns = 0, cpu_ns = 0, wall_ns = 0;
  for (const PhaseClock& clock : clocks) {
    ns += clock.ns(phase);
    cpu_ns += clock.cpu_ns(phase);
    wall_ns += clock.cpu_wall_ns(phase);
  }
  sum->ns += ns;
  if (wall_ns == 0) return;
  sum->used_ns += static_cast<double>(ns) * static_cast<double>(cpu_ns) / static_cast<double>(wall_ns);
  sum->known_ns += static_cast<double>(ns);
}

}  // namespace

nlohmann::json TimeTable(const std::vector<PhaseClock>& clocks, int64_t wall_ns,
                         const std::map<std::string, GroupMeans>& measured) {
  std::array<GroupSum, kPhaseGroupCount> sums{};
  for (size_t p = 0; p < kPhaseCount; ++p)
    AddUse(clocks, static_cast<Phase>(p), &sums[static_cast<size_t>(GroupOf(static_cast<Phase>(p)))]);
  GroupSum& idle = sums[static_cast<size_t>(PhaseGroup::kIdle)];
  for (size_t i = 1; i < clocks.size(); ++i) idle.ns += wall_ns - clocks[i].total_ns();
  idle.known_ns = 0;  // most of it is time of threads at rest, which nobody looks at

  const double all = static_cast<double>(wall_ns) * static_cast<double>(clocks.size());
  nlohmann::json table;
  for (size_t g = 0; g < kPhaseGroupCount; ++g) {
    nlohmann::json& row = table[std::string(kPhaseGroupNames[g])];
    row = {{"seconds", static_cast<double>(sums[g].ns) * 1e-9},
           {"share", static_cast<double>(sums[g].ns) / all},
           {"cpu_use", sums[g].known_ns > 0 ? nlohmann::json(sums[g].used_ns / sums[g].known_ns) : nullptr},
           {"machine", nlohmann::json::object()}};
    for (const auto& [name, means] : measured)
      if (const std::optional<double> mean = means.Mean(static_cast<PhaseGroup>(g))) row["machine"][name] = *mean;
  }
  const double unnamed = static_cast<double>(wall_ns - clocks[0].total_ns());
  table["unnamed"] = {{"seconds", unnamed * 1e-9}, {"share", unnamed / all}};
  return table;
}

}  // namespace backplane
