// The kinds of reports: what the host has to know of each. How one is built, the module of reports knows.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace backplane {

struct ReportKind {
  std::string_view name;  // the word in `report.kind`
  // Its trials begin with an iteration that warms up and does not count, and without a budget they go on until their speed is
  // known.
  bool measures_speed = false;
  bool takes_timing = false;                          // compares times where `report.timing` says so
  bool takes_columns = false;                         // and report.figures, select and notes
  bool in_turn = false;                               // all points run once for each seed, every second time backwards
  uint64_t seeds = 1;                                 // of each point, where the sweep does not say
  std::array<std::string_view, 2> keys_of_its_own{};  // that no other kind takes
};

// A new one: its row here, and a file in tools/report/kinds with the function that builds it, called by the row's first word
// (ComparisonReport). One speed says nothing of the next run, so parallel_efficiency has two seeds. ab is
// of `compare:` alone, which sets it; search what a sweep with `search` has by itself.
#define BACKPLANE_REPORT_KINDS(ROW)                                                          \
  ROW(ParallelEfficiency, .name = "parallel_efficiency", .measures_speed = true, .seeds = 2, \
      .keys_of_its_own = {"report.precision", "report.max_time"})                            \
  ROW(Comparison, .name = "comparison", .takes_timing = true, .takes_columns = true)         \
  ROW(Ab, .name = "ab", .takes_timing = true, .takes_columns = true, .in_turn = true)        \
  ROW(Search, .name = "search")

#define BACKPLANE_ROW(builder, ...) ReportKind{__VA_ARGS__},
inline constexpr ReportKind kReportKinds[] = {BACKPLANE_REPORT_KINDS(BACKPLANE_ROW)};
#undef BACKPLANE_ROW

// NULL: there is none of this name.
constexpr const ReportKind* FindReportKind(std::string_view name) {
  for (const ReportKind& kind : kReportKinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

// Whether a report of that kind, if any, shows measures that the experiment names.
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
