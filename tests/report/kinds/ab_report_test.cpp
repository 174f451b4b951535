// The report of a comparison, from trials made by hand.
#include "kinds/ab_report.hpp"

#include <gmock/gmock.h>

#include "report_parts.hpp"
#include "result_sets.hpp"

namespace backplane {
namespace {

using test_support::Context;
using test_support::Set;
using test_support::Single;
using test_support::Trial;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TrialData OfArm(const std::string& name, uint64_t seed) {
  TrialData trial = Trial(1, 1, 1000, seed);
  trial.point = name;
  trial.point_id = "point-" + name;
  trial.trial_id = trial.point_id + "-" + std::to_string(seed);
  trial.curves.clear();
  return trial;
}

// As `compare` leaves it, after one look.
ReportContext Looks(uint64_t n, uint64_t most, const std::string& metric) {
  ReportContext context = Context("ab");
  context.compare.has_looks = true;
  context.compare.terms.metric = metric;
  context.compare.terms.looks = {n, most};
  return context;
}

// Blocks A B B A of two speeds.
std::vector<TrialData> Blocks(size_t blocks) {
  std::vector<TrialData> trials;
  for (uint64_t seed = 0; seed < 2 * blocks; ++seed) {
    for (const char* name : {"a", "b"}) {
      trials.push_back(OfArm(name, seed));
      TrialData& trial = trials.back();
      trial.measures["SPS"] = Single((*name == 'a' ? 1000 : 1200) + static_cast<double>(seed * 3 % 5));
    }
  }
  return trials;
}

TEST(AbReport, SaysWhereNoBlockCanBeSetAside) {
  std::vector<TrialData> trials = Blocks(5);
  const ReportContext context = Looks(5, 1, "SPS");
  EXPECT_THAT(AbReport({Set(trials)}, context).verdict, Contains(HasSubstr("that no block can be set aside")));
  for (TrialData& trial : trials) trial.measures["time/waiting_for_a_core_pct"] = Single(1);
  EXPECT_THAT(AbReport({Set(trials)}, context).verdict, Contains(HasSubstr("their own threads waited for a core alone")));
  for (TrialData& trial : trials) trial.measures["resources/run_queue_wait_pct"] = Single(1);
  const Document sampled = AbReport({Set(trials)}, context);
  EXPECT_THAT(sampled.verdict, Not(Contains(HasSubstr("set aside"))));
  EXPECT_FALSE(sampled.is_void);
}

TEST(AbReport, OneLookOfTooFewSeedsIsInvalidUnlessTheOtherSideHasMore) {
  const auto verdict = [](size_t first, size_t second) {
    std::vector<TrialData> trials;
    for (const auto& [name, n] : {std::pair{"a", first}, {"b", second}}) {
      for (uint64_t seed = 0; seed < n; ++seed) {
        trials.push_back(OfArm(name, seed));
        trials.back().measures["return"] = Single((*name == 'a' ? 100 : 200) + static_cast<double>(seed));
      }
    }
    return AbReport({Set(trials)}, Context("ab")).verdict.front();
  };
  EXPECT_THAT(verdict(3, 3), HasSubstr("Invalid: 3 seeds can never show a difference at 5 %; wanted 4 or more of each arm."));
  EXPECT_THAT(verdict(2, 4), HasSubstr("Invalid: 2 and 4 seeds can never show")) << "1 / C(6, 2) = 0.067";
  EXPECT_THAT(verdict(3, 10), testing::StartsWith("b is better than a by ")) << "1 / C(13, 3) = 0.0035";
}

}  // namespace
}  // namespace backplane
