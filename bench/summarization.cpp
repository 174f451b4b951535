// Measures the time of env.summarization to load a file: bench_summarization DATA.tsv SPM.model TIMES. The columns are as
// plugins/envs/summarization/build_corpus writes them.
//
// Prints items, tokens, and the CPU seconds of reading and of reading with tokenising (minimum of TIMES), and the seconds of
// the latter with 0, 2 and 4 threads (dataloader_num_workers). Also prints ROUGE-1 and ROUGE-L between summaries and their
// decoded tokens: the ceiling of a learner's score.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>

#include "dataset.hpp"
#include "rouge/aggregate.hpp"

namespace {

template <class Body>
double CpuSeconds(const Body& body) {
  timespec start, end;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
  body();
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
  return static_cast<double>(end.tv_sec - start.tv_sec) + 1e-9 * static_cast<double>(end.tv_nsec - start.tv_nsec);
}

template <class Body>
double WallSeconds(const Body& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace backplane::summarization;
  namespace rouge = backplane::rouge;
  if (argc != 4) {
    std::cerr << "usage: bench_summarization DATA.tsv SPM.model TIMES\n";
    return 2;
  }
  const ReadOptions options{.format = Format::kTsv, .columns = {"document", {"summary"}, ""}};
  const Vocabulary vocabulary(argv[2]);
  double reading = 1e9, loading = 1e9;
  for (int i = 0; i < std::stoi(argv[3]); ++i) {
    reading = std::min(reading, CpuSeconds([&] { ReadRecords(argv[1], options, [](const Record&) {}); }));
    loading = std::min(loading, CpuSeconds([&] { Dataset(argv[1], options, vocabulary, {128, 32}); }));
  }

  nlohmann::json seconds;
  for (const uint64_t workers : {0, 2, 4}) {
    ReadOptions ahead = options;
    ahead.workers = workers;
    double least = 1e9;
    for (int i = 0; i < std::stoi(argv[3]); ++i)
      least = std::min(least, WallSeconds([&] { Dataset(argv[1], ahead, vocabulary, {128, 32}); }));
    seconds[std::to_string(workers)] = least;
  }

  const Dataset data(argv[1], options, vocabulary, {128, 32});
  const rouge::Scorer scorer({});
  uint64_t tokens = 0;
  std::vector<rouge::Scores> scores;
  for (uint64_t item = 0; item < data.size(); ++item) {
    tokens += data.Source(item).size() + data.Target(item).size();
    scores.push_back(scorer.Score(vocabulary.Decode(data.Target(item)), data.References(item)));
  }
  const rouge::Scores mean = rouge::Summarize(scores, {.resamples = 1}).mean;
  std::cout << nlohmann::json{{"items", data.size()},         {"tokens", tokens},
                              {"read_cpu_s", reading},        {"load_cpu_s", loading},
                              {"load_s_by_workers", seconds}, {"rouge1", mean.rouge1.f},
                              {"rougeL", mean.rougeL.f}}
            << "\n";
}
