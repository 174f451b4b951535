// Counts wrong sentences of reports on pure noise: bench_first_sentences [quick].
//
// Simulates points and settings that are equal, and reads the sentences that the report program prints on them. Prints a line
// for each bar: the bar, the share, its 95 % interval (Wilson, 1927), ok or OFF. A bar holds if the upper end is at most it,
// in `quick` if the lower end is. Exits with 1 if one is off.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "backplane/rng.h"
#include "kinds/build_report.hpp"
#include "kinds/search_headline.hpp"
#include "tools/report/kinds/made_study.hpp"

namespace {

using namespace backplane;
using test_support::MadeSearch;

bool quick = false;
int off = 0;

void Bar(const std::string& what, double limit, int repeats, const std::function<bool(bp_rng*)>& is_wrong) {
  int count = 0;
  if (quick) repeats = 200;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    bp_rng rng{bp_seed(20261129, BP_PURPOSE_EVAL, 1, static_cast<uint64_t>(repeat)), 0};
    count += is_wrong(&rng);
  }
  const double z = 1.96, n = repeats, share = count / n, middle = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  const bool ok = middle + (quick ? -half : half) <= limit;
  off += !ok;
  std::printf("%-72s <= %.3f: %.4f (%.4f to %.4f) %s\n", what.c_str(), limit, share, middle - half, middle + half,
              ok ? "ok" : "OFF");
  std::fflush(stdout);
}

// Returns whether the first sentence rules one of two equal points out as the best.
bool RulesOneOut(bp_rng* rng, uint64_t seeds) {
  std::vector<TrialData> trials;
  for (uint64_t runners = 1; runners <= 2; ++runners) {
    for (uint64_t seed = 0; seed < seeds; ++seed) {
      trials.push_back(test_support::Trial(runners, 1, 1000, seed));
      trials.back().values = {{"learner.options.lr", runners}};
      trials.back().measures["return"] = test_support::Single(100 + bp_rng_normal(rng));
    }
  }
  const std::string sentence = FirstSentence({test_support::Set(std::move(trials))}, "backplane");
  return sentence.find("not shown to be better than") == std::string::npos;
}

// Returns whether the report of a search of equal settings states a share of luck whose interval excludes all of it.
bool ExcludesAllLuck(bp_rng* rng, size_t top, size_t seeds) {
  constexpr int kTrials = 40;
  MadeSearch search;
  for (int i = 0; i < kTrials; ++i) search.Complete(1e-3, "ppo", 100 + bp_rng_normal(rng));
  std::vector<StudyTrial> order = search.study().trials;
  std::ranges::sort(order, std::ranges::greater{}, [](const StudyTrial& trial) { return *trial.value; });
  for (size_t i = 0; i < top; ++i) {
    std::vector<double> fresh(seeds);
    for (double& value : fresh) value = 100 + bp_rng_normal(rng);
    search.Confirm(order[i].number, fresh);
  }
  const ResultSet set = search.Results();
  const Combined combined = Combine({set});
  const std::vector<std::string> sentences = SearchVerdict(PartsOf(*set.study, combined));
  return std::ranges::any_of(sentences, [](const std::string& sentence) {
    const size_t at = sentence.find("% was luck");
    return at != std::string::npos && sentence.find("to 100 %", at) == std::string::npos;
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 || (argc == 2 && std::strcmp(argv[1], "quick") != 0)) {
    std::fprintf(stderr, "usage: bench_first_sentences [quick]\n");
    return 2;
  }
  quick = argc == 2;
  for (const uint64_t seeds : {5, 10})
    Bar("2 equal points, " + std::to_string(seeds) + " seeds each: one is ruled out as the best", 0.06, 10'000,
        [&](bp_rng* rng) { return RulesOneOut(rng, seeds); });
  // The sentence compares the best two of the search, so more confirmed settings change nothing.
  for (const size_t seeds : {3, 5, 10})
    Bar("a search of 40 equal settings, " + std::to_string(seeds) + " fresh seeds: the share of luck excludes all of it", 0.05,
        1'000, [&](bp_rng* rng) { return ExcludesAllLuck(rng, 3, seeds); });
  std::printf("%d figures are off\n", off);
  return off == 0 ? 0 : 1;
}
