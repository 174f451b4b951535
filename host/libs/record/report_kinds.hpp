// The kinds of reports, with the properties that the host needs. The report module builds them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace backplane {

struct ReportKind {
  std::string_view name;  // the value of `report.kind`
  // Its trials start with an uncounted warm-up iteration; without a budget they run until their speed is known.
  bool measures_speed = false;
  bool takes_timing = false;                          // compares times according to `report.timing`
  bool takes_columns = false;                         // accepts report.columns, figures, select and notes
  bool in_turn = false;                               // runs all points once per seed, in reverse order every second time
  uint64_t seeds = 1;                                 // per point, unless the sweep sets them
  std::array<std::string_view, 2> keys_of_its_own{};  // keys that no other kind accepts
};

// To add one, add its row here and a file in tools/report/kinds with the function named by the row's first word
// (ComparisonReport). parallel_efficiency has two seeds, because a single speed does not predict the next. Only `compare:` sets
// ab, and a sweep with `search` implies search.
#define BACKPLANE_REPORT_KINDS(ROW)                                                          \
  ROW(ParallelEfficiency, .name = "parallel_efficiency", .measures_speed = true, .seeds = 2, \
      .keys_of_its_own = {"report.precision", "report.max_time"})                            \
  ROW(Comparison, .name = "comparison", .takes_timing = true, .takes_columns = true)         \
  ROW(Ab, .name = "ab", .takes_timing = true, .takes_columns = true, .in_turn = true)        \
  ROW(Search, .name = "search")

#define BACKPLANE_ROW(builder, ...) ReportKind{__VA_ARGS__},
inline constexpr ReportKind kReportKinds[] = {BACKPLANE_REPORT_KINDS(BACKPLANE_ROW)};
#undef BACKPLANE_ROW

// NULL if there is none of this name.
constexpr const ReportKind* FindReportKind(std::string_view name) {
  for (const ReportKind& kind : kReportKinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

// True if reports of that kind show metrics that the experiment selects.
inline bool TakesColumns(const std::optional<std::string>& kind) {
  const ReportKind* known = kind ? FindReportKind(*kind) : nullptr;
  return known && known->takes_columns;
}

// "parallel_efficiency|comparison"
inline std::string ReportKindNames(std::string_view between) {
  std::string names;
  for (const ReportKind& kind : kReportKinds) names.append(names.empty() ? "" : between).append(kind.name);
  return names;
}

}  // namespace backplane
