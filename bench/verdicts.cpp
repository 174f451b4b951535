// Simulates the errors and the power of verdicts on several points, over several looks and by two tests:
// bench_verdicts [quick | equal | better | looks | gates | margin | goals].
//
// Prints a line for each figure: the bar, the figure, its 95 % interval, ok or OFF. A bar
// of errors holds if the upper end is at most it, except in `quick`, where each bar grows by three standard errors. The other
// figures have no bar and are for docs/decisions/0072 and 0084. Exits with 1 if one is off.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "backplane/rng.h"
#include "statistics/contrast.hpp"
#include "statistics/limit.hpp"
#include "statistics/log_rank.hpp"
#include "statistics/looks.hpp"
#include "statistics/looks_interval.hpp"
#include "statistics/sample.hpp"
#include "statistics/several.hpp"
#include "statistics/student.hpp"

namespace {

using namespace backplane::statistics;
using Scores = std::vector<double>;
using Points = std::vector<Scores>;
// Draws n scores of an arm that is better by that many standard deviations.
using Draw = std::function<Scores(bp_rng*, size_t n, double effect)>;

enum class Bar { kNone, kAtMost, kAtLeast };

bool quick = false;
int off = 0;
constexpr int kRepeats = 10'000;
constexpr size_t kSeeds = 5, kLooks = 5;

int Repeats() { return quick ? 300 : kRepeats; }

bp_rng Stream(int repeat) { return {bp_seed(20261129, BP_PURPOSE_EVAL, 0, static_cast<uint64_t>(repeat)), 0}; }

void Print(const std::string& what, Bar bar, double limit, double share, double low, double high) {
  const double slack = quick ? 3 * std::sqrt(std::max(limit * (1 - limit), 0.01) / Repeats()) : 0;
  const bool ok = bar == Bar::kNone || (bar == Bar::kAtMost ? (quick ? share : high) <= limit + slack : share >= limit - slack);
  off += !ok;
  const char* sign = bar == Bar::kAtMost ? "<=" : bar == Bar::kAtLeast ? ">=" : "  ";
  std::printf("%-66s %2s %5s %.4f (%.4f to %.4f) %s\n", what.c_str(), sign,
              bar == Bar::kNone ? "" : std::to_string(limit).substr(0, 5).c_str(), share, low, high,
              bar == Bar::kNone ? ""
              : ok              ? "ok"
                                : "OFF");
  std::fflush(stdout);
}

// Wilson's interval (1927) of `count` of `all`.
void Share(const std::string& what, Bar bar, double limit, int count, int all) {
  const double z = 1.96, n = all, share = count / n, middle = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  Print(what, bar, limit, share, middle - half, middle + half);
}

void Count(const std::string& what, Bar bar, double limit, const std::function<bool(bp_rng*, int)>& happens) {
  int count = 0;
  for (int repeat = 0; repeat < Repeats(); ++repeat) {
    bp_rng rng = Stream(repeat);
    count += happens(&rng, repeat);
  }
  Share(what, bar, limit, count, Repeats());
}

Scores Normal(bp_rng* rng, size_t n, double effect) {
  Scores out(n);
  for (double& score : out) score = effect + bp_rng_normal(rng);
  return out;
}

Scores LogNormal(bp_rng* rng, size_t n, double effect) {
  const double sd = std::sqrt((std::exp(1.0) - 1) * std::exp(1.0));
  Scores out(n);
  for (double& score : out) score = std::exp(bp_rng_normal(rng)) + effect * sd;
  return out;
}

// 500 at even odds, else 0; one standard deviation is a shift of the probability by a half.
Scores Solved(bp_rng* rng, size_t n, double effect) {
  Scores out(n);
  for (double& score : out) score = bp_rng_uniform(rng) < 0.5 + effect / 2 ? 500 : 0;
  return out;
}

struct Kind {
  const char* name;
  Draw draw;
};
const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kinds = {{"normal", Normal}, {"lognormal", LogNormal}, {"0/500", Solved}};
  return kinds;
}

// `better`: shift of the last of k points; `spreads`: ratio of the last spread to the first, in equal steps.
Points Draw10(bp_rng* rng, size_t k, size_t n, const Draw& draw, double better = 0, double spreads = 1) {
  Points points;
  for (size_t i = 0; i < k; ++i) {
    points.push_back(draw(rng, n, 0));
    const double factor = std::pow(spreads, static_cast<double>(i) / static_cast<double>(k - 1));
    for (double& score : points.back()) score = score * factor + (i + 1 == k ? better : 0);
  }
  return points;
}

size_t Best(const Points& points) {
  const auto mean = [](const Scores& scores) { return Summarise(scores).mean; };
  return static_cast<size_t>(std::ranges::max_element(points, {}, mean) - points.begin());
}

// The first point is the baseline.
std::vector<Judgement> Against(const Points& points) { return JudgeAgainst({points.begin() + 1, points.end()}, points[0]); }

bool IsSaid(const Judgement& verdict) { return verdict.verdict == Verdict::kMore || verdict.verdict == Verdict::kLess; }

size_t CountRuledOut(const Points& points) {
  const auto out = RuledOut(points, Best(points));
  return out ? static_cast<size_t>(std::ranges::count(*out, 1)) : 0;
}

void EqualPoints() {
  const auto against = [](size_t n, const Draw& draw, double spreads) {
    return [=](bp_rng* rng, int) { return std::ranges::any_of(Against(Draw10(rng, 10, n, draw, 0, spreads)), IsSaid); };
  };
  const auto best = [](size_t k, size_t n, const Draw& draw, double spreads) {
    return [=](bp_rng* rng, int) { return CountRuledOut(Draw10(rng, k, n, draw, 0, spreads)) > 0; };
  };
  for (const size_t n : {size_t{5}, size_t{10}}) {
    const std::string seeds = ", " + std::to_string(n) + " seeds";
    for (const Kind& kind : Kinds()) {
      Count(std::string("10 equal points, any verdict on the baseline, ") + kind.name + seeds, Bar::kAtMost, 0.06,
            against(n, kind.draw, 1));
      Count(std::string("10 equal points, any ruled out as the best, ") + kind.name + seeds, Bar::kAtMost, 0.06,
            best(10, n, kind.draw, 1));
      Count(std::string("2 equal points, one ruled out, ") + kind.name + seeds, Bar::kAtMost, 0.06, best(2, n, kind.draw, 1));
    }
    Count("10 equal means, spreads 1 to 5, any verdict on the baseline" + seeds, Bar::kNone, 0, against(n, Normal, 5));
    Count("10 equal means, spreads 1 to 5, any ruled out" + seeds, Bar::kNone, 0, best(10, n, Normal, 5));
  }
}

void OneBetterPoint() {
  for (const auto& [n, better, least] : {std::tuple{size_t{5}, 3.0, 0.70}, {size_t{10}, 2.0, 0.85}}) {
    const std::string what = std::to_string(better).substr(0, 1) + " s.d. better, " + std::to_string(n) + " seeds: ";
    Count(what + "better than the baseline", Bar::kAtLeast, least, [n = n, better = better](bp_rng* rng, int) {
      return Against(Draw10(rng, 10, n, Normal, better)).back().verdict == Verdict::kMore;
    });
    Count(what + "the best, all 9 others ruled out", Bar::kAtLeast, least, [n = n, better = better](bp_rng* rng, int) {
      const Points points = Draw10(rng, 10, n, Normal, better);
      return Best(points) == 9 && CountRuledOut(points) == 9;
    });
  }
}

// One comparison with looks, its interval at the stop, and the verdict of a single Welch test.
struct Stop {
  LooksTaken taken;
  bool won = false, won_once = false, covers = false, covers_once = false, disagrees = false;
  double width = 0;  // relative to Welch's
};

Stop Compare(bp_rng* rng, int repeat, const Draw& draw, double effect, double truth, double share) {
  const Scores a = draw(rng, kSeeds * kLooks, effect), b = draw(rng, kSeeds * kLooks, 0);
  const GroupSequentialTest::Plan plan{.looks = kLooks, .deals = 2'000, .seed = static_cast<uint64_t>(repeat)};
  Stop stop{TakeLooks(a, b, kSeeds, plan)};
  stop.won = stop.taken.confirmed && stop.taken.difference;
  const LooksTaken first = TakeLooks(a, b, kSeeds, plan, 1.1);  // Welch's test always agrees
  stop.won_once = first.told_apart && first.difference && first.difference->p < 1 - kLevel;
  if (!stop.taken.difference) return stop;
  const Interval interval = IntervalAt(*stop.taken.difference, share);
  stop.covers = interval.low <= truth && truth <= interval.high;
  stop.covers_once = stop.taken.difference->low <= truth && truth <= stop.taken.difference->high;
  stop.width = (interval.high - interval.low) / (stop.taken.difference->high - stop.taken.difference->low);
  stop.disagrees = stop.won && interval.low <= 0 && 0 <= interval.high;
  return stop;
}

void Looks() {
  const double share = ShareOfALook(kLooks, 1 - kLevel), lognormal = std::sqrt((std::exp(1.0) - 1) * std::exp(1.0));
  for (const Kind& kind : Kinds()) {
    for (const double effect : {0.0, 0.5, 1.0, 2.0}) {
      if (effect > 1 && std::strcmp(kind.name, "normal") != 0) continue;
      const double unit = std::strcmp(kind.name, "0/500") == 0 ? 250 : std::strcmp(kind.name, "lognormal") == 0 ? lognormal : 1;
      int all = 0, covers = 0, once = 0, won = 0, won_once = 0, lost = 0, disagrees = 0;
      Scores widths;
      for (int repeat = 0; repeat < Repeats(); ++repeat) {
        bp_rng rng = Stream(repeat);
        const Stop stop = Compare(&rng, repeat, kind.draw, effect, effect * unit, share);
        won += stop.won, won_once += stop.won_once, disagrees += stop.disagrees, lost += stop.won_once && !stop.won;
        if (!stop.taken.difference) continue;
        ++all, covers += stop.covers, once += stop.covers_once;
        widths.push_back(stop.width);
      }
      const std::string what = std::string(kind.name) + ", " + std::to_string(effect).substr(0, 3) + " s.d.: ";
      Share(what + "interval at the stop covers", effect > 1 ? Bar::kNone : Bar::kAtLeast, 0.94, covers, all);
      Share(what + "Welch's would cover", Bar::kNone, 0, once, all);
      std::ranges::sort(widths);
      const double width = widths[widths.size() / 2];
      Print(what + "median width / Welch's", Bar::kAtMost, 1.35, width, width, width);
      Share(what + "a verdict", effect == 0 ? Bar::kAtMost : Bar::kNone, 0.06, won, Repeats());
      Share(what + "a verdict, if the looks ended at the first rejection", Bar::kNone, 0, won_once, Repeats());
      Share(what + "a verdict lost because the looks continue", Bar::kAtMost, 0.0005, lost, Repeats());
      Share(what + "a verdict next to an interval with 0", Bar::kNone, 0, disagrees, Repeats());
    }
  }
}

// A task solved in nine of ten seeds: 500, else 20. `lower`: decrease of the mean in percent, by a shift or by fewer solved
// seeds.
Scores NearlySolved(bp_rng* rng, double lower, bool by_shift) {
  const double mean = 0.9 * 500 + 0.1 * 20, solved = by_shift ? 0.9 : (mean * (1 - lower / 100) - 20) / 480;
  Scores out(kSeeds * kLooks);
  for (double& score : out) score = (bp_rng_uniform(rng) < solved ? 500 : 20) - (by_shift ? mean * lower / 100 : 0);
  return out;
}

void Gates() {
  for (const auto& [what, lower, by_shift] :
       {std::tuple{"no change", 0.0, true}, {"-5 % by a shift", 5.0, true}, {"-5 % by fewer solved", 5.0, false}}) {
    int fails = 0, passes = 0, undecided = 0, early = 0, once = 0;
    for (int repeat = 0; repeat < Repeats(); ++repeat) {
      bp_rng rng = Stream(repeat);
      const Scores before = NearlySolved(&rng, 0, true), now = NearlySolved(&rng, lower, by_shift);
      const LimitTest test =
          TestScores(before, now, 0.95, {.n = kSeeds, .looks = kLooks, .deals = 2'000, .seed = static_cast<uint64_t>(repeat)});
      fails += test.side == Side::kBelow, passes += test.side == Side::kAbove, undecided += test.side == Side::kNotShown;
      early += test.side == Side::kNotShown && test.looks < kLooks;
      // The best known test for a fixed number of seeds: Welch's, one-sided per side.
      const auto fixed = WelchContrast({{now, 1}, {before, -0.95}});
      once += !fixed || fixed->p >= 0.1;
    }
    const std::string gate = std::string("gate < -5%, solved in 9 of 10, ") + what + ": ";
    Share(gate + "FAIL", lower == 0 ? Bar::kAtMost : Bar::kNone, 0.06, fails, Repeats());
    Share(gate + "PASS", lower == 0 ? Bar::kNone : Bar::kAtMost, 0.06, passes, Repeats());
    Share(gate + "undecided", Bar::kNone, 0, undecided, Repeats());
    Share(gate + "undecided by one test of 25", Bar::kNone, 0, once, Repeats());
    Share(gate + "undecided, seeds left", Bar::kAtMost, 0.0005, early, Repeats());
  }
}

// Means that differ by exactly the margin, 5 % of the first: equivalence is then an error.
void AtTheMargin() {
  const auto shown = [](double alpha, bool measured) {
    return [=](bp_rng* rng, int) {
      Scores a = Normal(rng, 25, 0), b = Normal(rng, 25, 0);
      for (double& score : a) score = 100 + 5 * score;
      for (double& score : b) score = 130 + 5 * score;
      const auto d = WelchDifference(b, a);
      return measured ? EquivalenceWithinShare(a, b, a, 0.3)->p < alpha : TwoOneSided(*d, 0.3 * Summarise(a).mean).p < alpha;
    };
  };
  Count("equivalence at a margin of 30 % of a measured mean", Bar::kAtMost, 0.06, shown(0.05, true));
  Count("the same, if the margin had no error", Bar::kNone, 0, shown(0.05, false));
}

// Times to a goal with a shape between 0.5 (many early, some late) and 2, measured at every 20th of the budget of 1, so that
// there are ties. `never`: share of trials that do not reach the goal in the budget. `slower`: factor of the times.
Arrivals Race(bp_rng* rng, size_t n, double shape, double never, double slower = 1) {
  const double scale = slower / std::pow(-std::log(never), 1 / shape);
  Arrivals arm(n);
  for (Arrival& one : arm) {
    const double time = scale * std::pow(-std::log(1 - bp_rng_uniform(rng)), 1 / shape);
    one = {std::min(std::ceil(20 * time) / 20, 1.0), time <= 1};
  }
  return arm;
}

bool AnySaid(const std::vector<Judgement>& judged) { return std::ranges::any_of(judged, IsSaid); }

// A pair of arms; false verdicts if they are equal, else right ones.
void PairOfGoals(const std::string& what, double shape, double never, double slower) {
  const Bar bar = slower == 1 ? Bar::kAtMost : Bar::kNone;
  for (const size_t n : {size_t{5}, size_t{8}})
    Count(what + "verdict on a pair, " + std::to_string(n) + " seeds", bar, 0.06, [=](bp_rng* rng, int repeat) {
      const Arrivals base = Race(rng, n, shape, never, slower);
      return AnySaid(JudgeAgainst(std::vector<Arrivals>{Race(rng, n, shape, never)}, base, static_cast<uint64_t>(repeat)));
    });
}

void LooksOfGoals(const std::string& what, double shape, double never, double slower) {
  const Bar bar = slower == 1 ? Bar::kAtMost : Bar::kNone;
  Count(what + "verdict of looks, 5 x 5 seeds", bar, 0.06, [=](bp_rng* rng, int repeat) {
    const GroupSequentialTest::Plan plan{.looks = kLooks, .deals = 1'000, .seed = static_cast<uint64_t>(repeat)};
    const Arrivals a = Race(rng, kSeeds * kLooks, shape, never), b = Race(rng, kSeeds * kLooks, shape, never, slower);
    return TakeLooks(a, b, kSeeds, plan).confirmed;
  });
  for (const Side side : {Side::kAbove, Side::kBelow})
    Count(what + (side == Side::kAbove ? "gate > 0% fails, 5 x 5 seeds" : "gate > 0% passes, 5 x 5 seeds"), bar, 0.06,
          [=](bp_rng* rng, int repeat) {
            const Arrivals a = Race(rng, kSeeds * kLooks, shape, never), b = Race(rng, kSeeds * kLooks, shape, never, slower);
            return TestArrivals(a, b, 1, {.n = kSeeds, .looks = kLooks, .deals = 1'000, .seed = static_cast<uint64_t>(repeat)})
                       .side == side;
          });
}

void TenOfGoals(const std::string& what, double shape, double never) {
  const auto draw = [=](bp_rng* rng, size_t points) {
    std::vector<Arrivals> all;
    for (size_t i = 0; i < points; ++i) all.push_back(Race(rng, kSeeds, shape, never));
    return all;
  };
  Count(what + "any verdict on the baseline, 10 points, 5 seeds", Bar::kAtMost, 0.06, [=](bp_rng* rng, int repeat) {
    std::vector<Arrivals> points = draw(rng, 9);
    return AnySaid(JudgeAgainst(points, Race(rng, kSeeds, shape, never), static_cast<uint64_t>(repeat)));
  });
  for (const size_t count : {size_t{2}, size_t{10}})
    Count(what + "any ruled out as the best, " + std::to_string(count) + " points, 5 seeds", Bar::kAtMost, 0.06,
          [=](bp_rng* rng, int repeat) {
            const std::vector<Arrivals> points = draw(rng, count);
            const auto mean = [&](const Arrivals& arm) { return MeanUpTo(arm, 1).value; };
            const size_t best = static_cast<size_t>(std::ranges::min_element(points, {}, mean) - points.begin());
            const auto out = RuledOut(points, best, static_cast<uint64_t>(repeat));
            return out && std::ranges::count(*out, 1) > 0;
          });
}

void Goals() {
  for (const double never : {0.1, 0.3, 0.6}) {
    for (const double shape : {0.5, 2.0}) {
      char what[64];
      std::snprintf(what, sizeof what, "goal, %.0f %% never, shape %g: ", 100 * never, shape);
      PairOfGoals(what, shape, never, 1);
      TenOfGoals(what, shape, never);
      if (never == 0.3) LooksOfGoals(what, shape, never, 1);
    }
  }
  PairOfGoals("goal, 10 % of one never, other 2 x slower: ", 2, 0.1, 2);
  LooksOfGoals("goal, 10 % of one never, other 2 x slower: ", 2, 0.1, 2);
  // Both means are equal: half of the trials arrive early and half never, or all arrive near the middle.
  for (const size_t n : {size_t{5}, size_t{8}})
    Count("goal, equal means, crossing curves: verdict, " + std::to_string(n) + " seeds", Bar::kNone, 0, [=](bp_rng* rng, int) {
      Arrivals half(n), middle(n);
      for (Arrival& one : half) one = bp_rng_uniform(rng) < 0.5 ? Arrival{0.1, true} : Arrival{1, false};
      for (Arrival& one : middle) one = {0.5 + 0.1 * bp_rng_uniform(rng), true};
      return AnySaid(JudgeAgainst(std::vector<Arrivals>{half}, middle));
    });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string only = argc == 2 ? argv[1] : "";
  quick = only == "quick";
  const std::pair<const char*, void (*)()> sections[] = {{"equal", EqualPoints}, {"better", OneBetterPoint}, {"looks", Looks},
                                                         {"gates", Gates},       {"margin", AtTheMargin},    {"goals", Goals}};
  const bool is_section = std::ranges::any_of(sections, [&](const auto& section) { return only == section.first; });
  if (argc > 2 || (argc == 2 && !quick && !is_section)) {
    std::fprintf(stderr, "usage: bench_verdicts [quick | equal | better | looks | gates | margin | goals]\n");
    return 2;
  }
  for (const auto& [name, print] : sections)
    if (!is_section || only == name) print();
  std::printf("%d figures are off\n", off);
  return off == 0 ? 0 : 1;
}
