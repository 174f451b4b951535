// Measures an update of learner.seq2seq in several modes: bench_seq2seq DATA.tsv SPM.model [ROUNDS].
// The file's columns are those that plugins/envs/summarization/build_corpus writes.
//
// Each mode has a model of the default size (7.6 M parameters) with the same first weights. In each round every mode updates on
// the same 64 items, so ratios compare neighbours in time. Medians and ranges exclude the first round. Modes with two threads
// use wall time, all others CPU time, which other programs disturb less.
#include <ATen/Parallel.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <memory>
#include <numeric>
#include <string>
#include <thread>

#include "dataset.hpp"
#include "plugins/learners/seq2seq/texts.hpp"
#include "pretrained.hpp"
#include "torch/budget.hpp"

namespace {

using namespace backplane;
using seq2seq::testing::Group;
using seq2seq::testing::Text;

constexpr uint64_t kItems = 64;
constexpr int64_t kSource = 128, kTarget = 32;
constexpr double kLearningRate = 5e-4;

// A host without extensions, and so without timing.
const bp_host& QuietHost() {
  static const bp_host host = [] {
    bp_host h{sizeof(bp_host)};
    h.get_extension = [](const bp_host*, const char*) -> const void* { return nullptr; };
    return h;
  }();
  return host;
}

double Seconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Way {
  const char* name;
  int64_t micro_batch;
  bool sort;
  double dropout = 0;
  seq2seq::ModelOptions options{};

  std::unique_ptr<seq2seq::Model> model{};
  std::vector<double> cpu_s{}, wall_s{}, busiest_s{}, losses{}, peak_mb{};  // per round; busiest: CPU time without idle threads
  double real = 0, padded = 0;                                              // tokens of all rounds but the first
  std::vector<float> gradient{};                                            // of the first round

  void Make(int32_t vocabulary) {
    seq2seq::BartConfig config;
    config.vocab_size = vocabulary, config.d_model = 256, config.encoder_ffn_dim = config.decoder_ffn_dim = 1024;
    config.encoder_layers = config.decoder_layers = 3, config.encoder_attention_heads = config.decoder_attention_heads = 4;
    config.max_position_embeddings = kSource, config.dropout = dropout;
    model = seq2seq::MakeModel(config, options, &QuietHost());
    seq2seq::InitWeights(config, model->layout(), 1, model->weights());
  }

  void Update(const std::vector<Text>& texts) {
    const Group group(texts, micro_batch, sort);
    const uint64_t round = model->updates();
    torch_common::ResetCpuPeak();
    const uint64_t live = torch_common::CpuMemory().live_bytes;
    const double cpu = Seconds(CLOCK_PROCESS_CPUTIME_ID), wall = Seconds(CLOCK_MONOTONIC);
    std::vector<double> loss(group.batches.size()), thread_s(static_cast<size_t>(options.workers));
    const auto work = [&](int64_t worker) {
      at::set_num_threads(1);
      const double begin = Seconds(CLOCK_THREAD_CPUTIME_ID);
      for (size_t k = static_cast<size_t>(worker); k < loss.size(); k += static_cast<size_t>(options.workers))
        loss[k] = model->Backward(worker, group.batches[k], group.weight, round * 100 + k);
      thread_s[static_cast<size_t>(worker)] = Seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
    };
    std::vector<std::thread> others;
    for (int64_t worker = 1; worker < options.workers; ++worker) others.emplace_back(work, worker);
    work(0);
    for (std::thread& other : others) other.join();
    model->Step(kLearningRate);
    cpu_s.push_back(Seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu), wall_s.push_back(Seconds(CLOCK_MONOTONIC) - wall);
    busiest_s.push_back(cpu_s.back() - std::accumulate(thread_s.begin(), thread_s.end(), 0.0) +
                        *std::max_element(thread_s.begin(), thread_s.end()));
    peak_mb.push_back(static_cast<double>(torch_common::CpuMemory().peak_bytes - live) / 1e6);
    losses.push_back(0);
    for (const double each : loss) losses.back() += each;
    for (const seq2seq::MicroBatch& batch : group.batches) {
      if (round == 0) continue;
      real += static_cast<double>(batch.RealTokens());
      padded += static_cast<double>(model->pads() ? batch.PaddedTokens() : batch.RealTokens());
    }
    if (round == 0) gradient.assign(model->first_moment(), model->first_moment() + model->layout().trained());
  }
};

struct Spread {
  explicit Spread(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    least = v.front(), most = v.back(), median = .5 * (v[v.size() / 2] + v[(v.size() - 1) / 2]);
  }
  double median, least, most;
};

std::vector<double> Later(const std::vector<double>& rounds) { return {rounds.begin() + 1, rounds.end()}; }

void PrintRatio(const char* what, const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (size_t i = 1; i < a.size(); ++i) ratios.push_back(a[i] / b[i]);
  const Spread s(ratios);
  std::printf("%s %.3f (%.3f to %.3f)\n", what, s.median, s.least, s.most);
}

double Distance(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) difference += std::pow(double{a[i]} - b[i], 2), size += std::pow(double{b[i]}, 2);
  return std::sqrt(difference / size);
}

bool SameWeights(const Way& a, const Way& b) {
  return std::equal(a.model->weights(), a.model->weights() + a.model->layout().size(), b.model->weights());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: bench_seq2seq DATA.tsv SPM.model [ROUNDS]\n"), 2;
  const std::string wanted = argc > 3 ? argv[3] : "5";
  uint64_t rounds = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), rounds);
  if (error != std::errc() || end != wanted.data() + wanted.size() || rounds == 0)
    return std::fprintf(stderr, "ROUNDS: expected a number of 1 or more, got '%s'\n", wanted.c_str()), 2;
  ++rounds;  // the first warms up
  const summarization::Vocabulary vocabulary(argv[2]);
  const summarization::Dataset data(argv[1], {.format = summarization::Format::kTsv, .columns = {"document", {"summary"}, ""}},
                                    vocabulary, {kSource, kTarget});
  at::set_num_threads(1);
  torch_common::MeterCpuMemory();

  constexpr double kDropout = .1;
  Way whole{"64, not sorted", 64, false}, whole_sorted{"64, sorted", 64, true}, quarter{"16, not sorted", 16, false},
      quarter_sorted{"16, sorted", 16, true}, small{"8, not sorted", 8, false}, sorted{"8, sorted", 8, true},
      two{"8, sorted, 2 at a time", 8, true, 0, {.workers = 2}}, again{"the same again", 8, true, 0, {.workers = 2}},
      bf16{"8, sorted, bf16", 8, true, 0, {.bf16 = true}}, dropped{"8, sorted, dropout 0.1", 8, true, kDropout},
      recomputed{"the same, checkpointing", 8, true, kDropout, {.recompute = true}};
  Way* const ways[] = {&whole, &whole_sorted, &quarter, &quarter_sorted, &small,     &sorted,
                       &two,   &again,        &bf16,    &dropped,        &recomputed};
  for (Way* way : ways) way->Make(vocabulary.size());

  summarization::EpochOrder order(data.size());
  const std::vector<uint32_t>& items = order.Of(1);
  for (uint64_t round = 0; round < rounds; ++round) {
    std::vector<Text> texts;
    for (uint64_t i = 0; i < kItems; ++i) {
      const auto source = data.Source(items.at(round * kItems + i)), target = data.Target(items.at(round * kItems + i));
      texts.push_back({{source.begin(), source.end()}, {target.begin(), target.end()}});
    }
    for (Way* way : ways) way->Update(texts);
  }

  std::printf("%-24s %8s %8s %12s %9s %9s %9s\n", "micro-batch", "CPU s", "wall s", "tok/CPU s", "not pad", "peak MB",
              "last loss");
  for (const Way* way : ways) {
    const double cpu = Spread(Later(way->cpu_s)).median, real = way->real / static_cast<double>(rounds - 1);
    std::printf("%-24s %8.3f %8.3f %12.0f %9.3f %9.1f %9.5f\n", way->name, cpu, Spread(Later(way->wall_s)).median, real / cpu,
                way->real / way->padded, Spread(way->peak_mb).most, way->losses.back());
  }
  std::printf("ratios within a round, median (range) over %llu rounds\n", static_cast<unsigned long long>(rounds - 1));
  PrintRatio("real tokens per CPU second, 8 sorted / 64 not sorted", whole.cpu_s, sorted.cpu_s);
  std::printf("gradient of 8 sorted against 64 not sorted, relative: %.1e\n", Distance(sorted.gradient, whole.gradient));
  PrintRatio("CPU time with checkpointing / without", recomputed.cpu_s, dropped.cpu_s);
  std::printf("activation peak %.3f, loss differs by %.1e, gradient by %.1e, relative\n",
              Spread(recomputed.peak_mb).most / Spread(dropped.peak_mb).most,
              std::abs(recomputed.losses[0] / dropped.losses[0] - 1), Distance(recomputed.gradient, dropped.gradient));
  PrintRatio("wall time of one thread / of two", sorted.wall_s, two.wall_s);
  PrintRatio("CPU time of one thread / of the busier of two: the same on idle cores", sorted.busiest_s, two.busiest_s);
  std::printf("gradient of two against one, relative: %.1e; two runs of two: %s\n", Distance(two.gradient, sorted.gradient),
              SameWeights(two, again) ? "the same bits" : "DIFFERENT BITS");
  PrintRatio("CPU time in float32 / in bfloat16", sorted.cpu_s, bf16.cpu_s);
  std::printf("loss of the last round: %.5f and %.5f\n", sorted.losses.back(), bf16.losses.back());
}
