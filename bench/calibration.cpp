// Measures the error rates and the power of host/libs/statistics: bench_calibration [quick].
//
// Simulates comparisons of known arms and prints a line per figure: name, expected value (from an independent simulation),
// measured value, tolerance, ok or OFF. Exits with 1 if one is off. `quick` runs few repeats and widens each tolerance by three
// standard errors, so that it only detects broken rules.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>

#include "backplane/rng.h"
#include "statistics/blocks.hpp"
#include "statistics/bootstrap.hpp"
#include "statistics/difference.hpp"
#include "statistics/equivalence.hpp"
#include "statistics/limit.hpp"
#include "statistics/sequential.hpp"

namespace {

using namespace backplane::statistics;
using Scores = std::vector<double>;

bool quick = false;
int off = 0;

bp_rng Stream(int repeat) { return {bp_seed(20261124, BP_PURPOSE_EVAL, 0, static_cast<uint64_t>(repeat)), 0}; }

// Compares the share of repeats in which `happens` is true with `expected`.
void Share(const std::string& what, double expected, double tolerance, int repeats,
           const std::function<bool(bp_rng*, int)>& happens) {
  if (quick) repeats = std::min(repeats, 400);
  int count = 0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    bp_rng rng = Stream(repeat);
    count += happens(&rng, repeat);
  }
  const double share = static_cast<double>(count) / repeats;
  if (quick) tolerance += 3 * std::sqrt(std::max(expected * (1 - expected), 0.25 / repeats) / repeats);
  const bool ok = std::abs(share - expected) <= tolerance;
  off += !ok;
  std::printf("%-72s %7.3f %7.3f +-%.3f %s\n", what.c_str(), expected, share, tolerance, ok ? "ok" : "OFF");
  std::fflush(stdout);
}

Scores Normal(bp_rng* rng, size_t n, double mean = 0, double sd = 1) {
  Scores out(n);
  for (double& score : out) score = mean + sd * bp_rng_normal(rng);
  return out;
}

Scores LogNormal(bp_rng* rng, size_t n) {
  Scores out = Normal(rng, n);
  for (double& score : out) score = std::exp(score);
  return out;
}

using Arm = std::function<Scores(bp_rng*, size_t)>;

Arm Of(double mean, double sd = 1) {
  return [=](bp_rng* rng, size_t n) { return Normal(rng, n, mean, sd); };
}

bool Differ(bp_rng* rng, int repeat, size_t n, size_t looks, int deals, const Arm& a, const Arm& b) {
  GroupSequentialTest test({.looks = looks, .deals = deals, .seed = static_cast<uint64_t>(repeat)});
  while (test.Look(a(rng, n), b(rng, n))) continue;
  return test.different();
}

std::string Plan(size_t n, size_t looks) { return std::to_string(n) + " seeds x " + std::to_string(looks) + " looks"; }

void Sequential() {
  struct Row {
    size_t n, looks;
    double normal, lognormal;
  };
  for (const Row& row : {Row{5, 1, 0.046, 0.046}, Row{5, 5, 0.051, 0.049}, Row{6, 6, 0.050, 0.049}, Row{10, 3, 0.048, 0.048}}) {
    const auto equals = [&](const Arm& arm) {
      return [&row, arm](bp_rng* rng, int repeat) { return Differ(rng, repeat, row.n, row.looks, 1000, arm, arm); };
    };
    Share("false positives, " + Plan(row.n, row.looks) + ", normal", row.normal, 0.01, 10'000, equals(Of(0)));
    Share("false positives, " + Plan(row.n, row.looks) + ", lognormal", row.lognormal, 0.01, 10'000, equals(LogNormal));
  }
  for (const Row& row : {Row{5, 1, 0.071, 0}, Row{5, 5, 0.062, 0}, Row{10, 3, 0.068, 0}})
    Share("equal means, spreads 1 and 3, " + Plan(row.n, row.looks), row.normal, 0.01, 4'000,
          [&](bp_rng* rng, int repeat) { return Differ(rng, repeat, row.n, row.looks, 2'000, Of(0), Of(0, 3)); });
  for (const auto& [effect, power] : {std::pair{0.5, 0.35}, {1.0, 0.89}, {1.5, 1.0}, {2.0, 1.0}})
    Share("power at " + std::to_string(effect).substr(0, 3) + " s.d., " + Plan(5, 5), power, 0.02, 4'000,
          [&](bp_rng* rng, int repeat) { return Differ(rng, repeat, 5, 5, 2'000, Of(0), Of(effect)); });
}

void Welch() {
  const auto found = [](size_t n, double effect, double sd = 1) {
    return [=](bp_rng* rng, int) {
      const auto difference = WelchDifference(Normal(rng, n, effect, sd), Normal(rng, n));
      return difference && difference->p < 0.05;
    };
  };
  for (const auto& [n, share] : {std::pair{3, 0.032}, {5, 0.045}, {10, 0.051}})
    Share("Welch, false positives, n = " + std::to_string(n), share, 0.01, 20'000, found(static_cast<size_t>(n), 0));
  Share("Welch, equal means, spreads 1 and 3, n = 5", 0.055, 0.01, 20'000, found(5, 0, 3));
  // Student's test, which assumes equal spreads, has 0.80 at these effects. Welch's, by SciPy, 400,000 repeats:
  struct Row {
    size_t n;
    double effect, power;
  };
  for (const Row& row : {Row{3, 3.07, 0.695}, Row{5, 2.02, 0.776}, Row{10, 1.32, 0.794}, Row{20, 0.91, 0.800}})
    Share("Welch, power at " + std::to_string(row.effect).substr(0, 4) + " s.d., n = " + std::to_string(row.n), row.power, 0.02,
          20'000, found(row.n, row.effect));
}

void Bootstrap() {
  const auto mean = [](const Tasks& drawn) {
    double sum = 0;
    for (const double score : drawn[0]) sum += score;
    return sum / static_cast<double>(drawn[0].size());
  };
  const auto iqm = [](const Tasks& drawn) { return InterquartileMean(drawn); };
  const auto difference = [](const Tasks& drawn) { return InterquartileMean(drawn[0]) - InterquartileMean(drawn[1]); };
  const auto covers = [](size_t strata, size_t n, const std::function<double(const Tasks&)>& figure) {
    return [=](bp_rng* rng, int repeat) {
      Tasks tasks;
      for (size_t s = 0; s < strata; ++s) tasks.push_back(Normal(rng, n));
      const auto interval = StratifiedBootstrap(tasks, figure, static_cast<uint64_t>(repeat), 1000);
      return interval && interval->low <= 0 && interval->high >= 0;
    };
  };
  struct Row {
    size_t n;
    double mean, iqm, difference;
  };
  for (const Row& row :
       {Row{3, 0.77, 0.76, 0.80}, Row{5, 0.83, 0.905, 0.94}, Row{10, 0.89, 0.93, 0.95}, Row{20, 0.92, 0.935, 0.95}}) {
    const std::string n = ", n = " + std::to_string(row.n);
    Share("bootstrap interval holds the mean" + n, row.mean, 0.03, 2'000, covers(1, row.n, mean));
    Share("bootstrap interval holds the IQM" + n, row.iqm, 0.03, 2'000, covers(1, row.n, iqm));
    Share("bootstrap interval holds the difference of two IQMs" + n, row.difference, 0.03, 2'000, covers(2, row.n, difference));
  }
  for (const auto& [n, share] : {std::pair{3, 0.87}, {5, 0.92}, {10, 0.935}})
    Share("stratified interval holds the IQM of five tasks, n = " + std::to_string(n), share, 0.03, 2'000,
          covers(5, static_cast<size_t>(n), iqm));
}

// Blocks of timings with noise, on a machine that gets slower by `drift` from the first to the last.
std::vector<Block> Timings(bp_rng* rng, size_t blocks, double drift, double faster) {
  std::vector<Block> out(blocks);
  const double last = static_cast<double>(4 * blocks - 1);
  size_t at = 0;
  for (Block& block : out) {
    for (size_t place = 0; place < 4; ++place, ++at) {
      const bool is_b = place == 1 || place == 2;
      block[place] =
          100 * (1 - drift * static_cast<double>(at) / last) * (is_b ? 1 + faster : 1) * (1 + 0.02 * bp_rng_normal(rng));
    }
  }
  return out;
}

void Speed() {
  const auto told = [](size_t blocks, double drift, double faster) {
    return [=](bp_rng* rng, int) {
      const auto difference = BlockDifference(Timings(rng, blocks, drift, faster));
      return difference && difference->p < 0.05;
    };
  };
  struct Row {
    size_t blocks;
    double drift, more_drift, three, five;
  };
  for (const Row& row :
       {Row{3, 0.049, 0.050, 0.31, 0.60}, Row{5, 0.053, 0.049, 0.70, 0.98}, Row{10, 0.052, 0.049, 0.98, 1.00}}) {
    const std::string n = ", " + std::to_string(row.blocks) + " blocks";
    Share("ABBA, drift 5 %, false positives" + n, row.drift, 0.01, 20'000, told(row.blocks, 0.05, 0));
    Share("ABBA, drift 20 %, false positives" + n, row.more_drift, 0.01, 20'000, told(row.blocks, 0.20, 0));
    Share("ABBA, drift 5 %, power at 3 %" + n, row.three, 0.02, 20'000, told(row.blocks, 0.05, 0.03));
    Share("ABBA, drift 5 %, power at 5 %" + n, row.five, 0.02, 20'000, told(row.blocks, 0.05, 0.05));
  }
}

void Equal() {
  const auto of_blocks = [](double faster) {
    return [=](bp_rng* rng, int) {
      const auto difference = BlockDifference(Timings(rng, 5, 0.05, faster));
      return difference && TwoOneSided(*difference, std::log(1.05)).shown();
    };
  };
  Share("equivalence of speeds, margin 5 %, 5 blocks, equals", 0.994, 0.01, 20'000, of_blocks(0));
  Share("equivalence of speeds, margin 5 %, 5 blocks, at the margin", 0.047, 0.01, 20'000, of_blocks(0.05));
  for (const auto& [n, share] : {std::pair{5, 0.06}, {10, 0.39}, {20, 0.86}, {25, 0.93}})
    Share("equivalence of returns, margin 1 s.d., n = " + std::to_string(n), share, 0.02, 20'000, [n = n](bp_rng* rng, int) {
      const auto difference = WelchDifference(Normal(rng, static_cast<size_t>(n)), Normal(rng, static_cast<size_t>(n)));
      return difference && TwoOneSided(*difference, 1).shown();
    });
}

// `gate`: the plan of a baseline of 25 seeds, each side at 5 %.
LimitPlan PlanOfGate(int repeat) { return {.n = 5, .looks = 5, .deals = 2'000, .seed = static_cast<uint64_t>(repeat)}; }

void GateOfReturns() {
  const auto ends = [](Side side, double change, double factor, bool lognormal = false) {
    return [=](bp_rng* rng, int repeat) {
      const auto draw = [&](double mean) {
        Scores scores = Normal(rng, 25, mean, lognormal ? 1 : 10);
        if (lognormal)
          for (double& score : scores) score = std::exp(score);
        return scores;
      };
      const Scores before = draw(lognormal ? 0 : 100);
      return TestScores(before, draw(lognormal ? 0 : 100 + change), factor, PlanOfGate(repeat)).side == side;
    };
  };
  Share("gate, return < 0%, no change: fails", 0.044, 0.01, 4'000, ends(Side::kBelow, 0, 1));
  Share("gate, return < 0%, no change, lognormal: fails", 0.032, 0.01, 4'000, ends(Side::kBelow, 0, 1, true));
  Share("gate, return < 0%, a loss of 1 s.d. within 25 seeds: fails", 0.93, 0.02, 4'000, ends(Side::kBelow, -10, 1));
  Share("gate, return < -5%, a loss of 5 %: fails", 0.05, 0.01, 4'000, ends(Side::kBelow, -5, 0.95));
  Share("gate, return < -5%, a loss of 5 %: passes", 0.05, 0.01, 4'000, ends(Side::kAbove, -5, 0.95));
  Share("gate, return < -10%, no change, s.d. 10 %: passes", 0.96, 0.02, 4'000, ends(Side::kAbove, 0, 0.9));
}

void GateOfSpeeds() {
  const auto ends = [](Side side, double faster, double ratio, size_t within) {
    return [=](bp_rng* rng, int repeat) {
      const std::vector<Block> blocks = Timings(rng, 25, 0.05, faster);
      std::vector<std::vector<Block>> looks(5);
      for (size_t i = 0; i < blocks.size(); ++i) looks[i / 5].push_back(blocks[i]);
      const LimitTest test = TestBlocks(looks, ratio, PlanOfGate(repeat));
      return test.side == side && test.n <= within;
    };
  };
  Share("gate, SPS < 0%, no change: fails", 0.035, 0.01, 20'000, ends(Side::kBelow, 0, 1, 25));
  Share("gate, SPS < 0%, 5 % slower, within 10 blocks: fails", 1, 0.01, 20'000, ends(Side::kBelow, -0.05, 1, 10));
  Share("gate, SPS < -5%, no change, within 10 blocks: passes", 1, 0.01, 20'000, ends(Side::kAbove, 0, 0.95, 10));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 || (argc == 2 && std::strcmp(argv[1], "quick") != 0)) {
    std::fprintf(stderr, "usage: bench_calibration [quick]\n");
    return 2;
  }
  quick = argc == 2;
  std::printf("%-72s %7s %7s\n", "alpha 0.05, two arms", "was", "is");
  Sequential();
  Welch();
  Bootstrap();
  Speed();
  Equal();
  GateOfReturns();
  GateOfSpeeds();
  std::printf("%d figures are off\n", off);
  return off == 0 ? 0 : 1;
}
