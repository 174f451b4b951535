// Measures the speed of plugins/common/rouge: bench_rouge PAIRS.json SECONDS. Run by rouge_speed.py.
//
// PAIRS.json holds [[prediction, reference], ...]. Scores all pairs repeatedly, each time with a new scorer, so that stems are
// not cached. Prints pairs per CPU second and the means of F over the pairs, in the order of Scores.
#include <ctime>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "rouge/aggregate.hpp"

namespace {

double CpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace backplane::rouge;
  if (argc != 3) {
    std::cerr << "usage: bench_rouge PAIRS.json SECONDS\n";
    return 2;
  }
  std::ifstream file(argv[1]);
  const auto pairs = nlohmann::json::parse(file).get<std::vector<std::pair<std::string, std::string>>>();

  std::vector<Scores> scores(pairs.size());
  size_t scored = 0;
  const double start = CpuSeconds(), enough = std::stod(argv[2]);
  double spent = 0;
  for (; spent < enough; spent = CpuSeconds() - start) {
    const Scorer scorer({.stem = true});
    for (size_t i = 0; i < pairs.size(); ++i) scores[i] = scorer.Score(pairs[i].first, pairs[i].second);
    scored += pairs.size();
  }

  nlohmann::json f = nlohmann::json::array();
  const Scores mean = Summarize(scores, {.resamples = 1}).mean;
  for (const auto type : kTypes) f.push_back((mean.*type).f);
  std::cout << nlohmann::json{{"pairs_per_s", static_cast<double>(scored) / spent}, {"f", f}} << "\n";
}
