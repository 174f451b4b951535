// Runs a fuzz target on a corpus, then on mutations of it. Inputs that reach new code are kept and mutated further.
//
// A target is one function, LLVMFuzzerTestOneInput, as libFuzzer wants it: clang++ -fsanitize=fuzzer,address TARGET_fuzz.cpp
// ... runs the same target without this file. A target may also have LLVMFuzzerInitialize and LLVMFuzzerCustomMutator, which
// may call LLVMFuzzerMutate.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "coverage.hpp"
#include "mutate.hpp"
#include "watch.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" __attribute__((weak)) int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned int seed);

namespace backplane::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUsage = R"(usage: %s [OPTIONS] [FILE...]

Replays the corpus, then makes inputs out of it. With files: replays these and nothing else.

  --corpus DIR      inputs to begin with; may be given several times
  --dictionary FILE words to put into inputs, in libFuzzer's form
  --runs N          inputs to make (0: only replay; default)
  --seconds N       end after so many seconds, whichever comes first
  --seed S          of the random numbers (1)
  --max-bytes N     longest input (65536)
  --keep DIR        inputs that reached new code are written here
  --failures DIR    an input that fails is written here (.)
  --limit-s N       seconds of the processor for one input (5)
)";

struct Options {
  std::vector<std::string> corpus, files;
  std::string dictionary, keep, failures = ".";
  uint64_t runs = 0, seconds = 0, seed = 1, max_bytes = 65536, limit_s = 5;
};

uint64_t Number(const std::string& option, const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::runtime_error(option + ": wanted a number, found '" + text + "'");
  return value;
}

Options ReadOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (!word.starts_with("--")) {
      options.files.push_back(word);
      continue;
    }
    if (i + 1 == argc) throw std::runtime_error(word + ": a value is missing, or there is no such option");
    const std::string value = argv[++i];
    if (word == "--corpus")
      options.corpus.push_back(value);
    else if (word == "--dictionary")
      options.dictionary = value;
    else if (word == "--keep")
      options.keep = value;
    else if (word == "--failures")
      options.failures = value;
    else if (word == "--runs")
      options.runs = Number(word, value);
    else if (word == "--seconds")
      options.seconds = Number(word, value);
    else if (word == "--seed")
      options.seed = Number(word, value);
    else if (word == "--max-bytes")
      options.max_bytes = Number(word, value);
    else if (word == "--limit-s")
      options.limit_s = Number(word, value);
    else
      throw std::runtime_error("no option " + word);
  }
  return options;
}

Bytes ReadInput(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Sorted by name, so that every run has the same order.
std::vector<fs::path> FilesOf(const std::string& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::unique_ptr<Mutator> mutator;
Random random_numbers;  // NOLINT(bugprone-random-generator-seed): seeded in Main

class Fuzzer {
 public:
  explicit Fuzzer(const Options& options)
      : options_(options), watch_({static_cast<double>(options.limit_s)}, options.failures) {
    if (!options.keep.empty()) fs::create_directories(options.keep);
  }

  void Replay(const fs::path& file) {
    Bytes input = ReadInput(file);
    Run(input, file.string());
    corpus_.push_back(std::move(input));  // even without coverage of new code
    ++replayed_;
  }

  void Fuzz() {
    if (corpus_.empty()) corpus_.emplace_back();
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::seconds(options_.seconds);
    for (made_ = 0; options_.runs == 0 ? options_.seconds > 0 : made_ < options_.runs; ++made_) {
      if (options_.seconds > 0 && Clock::now() >= end) break;
      Bytes input = Make();
      if (!Run(input, "")) continue;
      Keep(input);
      corpus_.push_back(std::move(input));
    }
  }

  void Report(double seconds) const {
    std::printf(
        "%zu replayed, %llu made in %.1f s (%.0f a second), %zu edges, %zu inputs kept, slowest %.3f s, peak memory %zu MiB\n",
        replayed_, static_cast<unsigned long long>(made_), seconds, static_cast<double>(made_) / std::max(seconds, 1e-3),
        EdgesSeen(), corpus_.size(), slowest_s_, Watch::PeakMemoryBytes() >> 20);
  }

 private:
  // True if it reached new code.
  bool Run(const Bytes& input, const std::string& from) {
    // An exact copy, so that the sanitizer sees a read past its end.
    const std::unique_ptr<uint8_t[]> copy(new uint8_t[input.size()]);
    std::memcpy(copy.get(), input.data(), input.size());
    watch_.Begin(copy.get(), input.size(), from);
    BeginCoverage();
    // An exception that leaves the target is a fault like a crash; its input is kept.
    [&]() noexcept { LLVMFuzzerTestOneInput(copy.get(), input.size()); }();
    slowest_s_ = std::max(slowest_s_, watch_.End());
    return NewCoverage() > 0;
  }

  // Half of the inputs come from the newest eighth, because most new code is found there.
  const Bytes& Pick() const {
    const size_t recent = std::max<size_t>(1, corpus_.size() / 8);
    const size_t from = Below(&random_numbers, 2) == 0 ? corpus_.size() - recent : 0;
    return corpus_[from + Below(&random_numbers, corpus_.size() - from)];
  }

  Bytes Make() const {
    const Bytes& first = Pick();
    other = Pick();
    if (!LLVMFuzzerCustomMutator) return mutator->Mutate(first, other, &random_numbers);
    Bytes input = first;
    const size_t size = std::min<size_t>(input.size(), options_.max_bytes);
    input.resize(options_.max_bytes);
    input.resize(LLVMFuzzerCustomMutator(reinterpret_cast<uint8_t*>(input.data()), size, input.size(),
                                         static_cast<unsigned>(random_numbers())));
    return input;
  }

  // Named by its content, so that several runs can share a folder.
  void Keep(const Bytes& input) const {
    if (options_.keep.empty()) return;
    uint64_t hash = 0xcbf29ce484222325;
    for (const char byte : input) hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
    char name[17];
    std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(hash));
    std::ofstream(fs::path(options_.keep) / name, std::ios::binary) << input;
  }

  Options options_;
  Watch watch_;
  std::vector<Bytes> corpus_;
  size_t replayed_ = 0;
  uint64_t made_ = 0;
  double slowest_s_ = 0;

 public:
  static inline Bytes other;  // LLVMFuzzerMutate copies parts from it
};

int Main(int argc, char** argv) {
  const Options options = ReadOptions(argc, argv);
  if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&argc, &argv);
  random_numbers.seed(options.seed);
  mutator = std::make_unique<Mutator>(options.dictionary.empty() ? std::vector<Bytes>() : ReadDictionary(options.dictionary),
                                      options.max_bytes);
  Fuzzer fuzzer(options);
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& file : options.files) fuzzer.Replay(file);
  if (options.files.empty()) {
    for (const std::string& folder : options.corpus) {
      for (const fs::path& file : FilesOf(folder)) fuzzer.Replay(file);
    }
    fuzzer.Fuzz();
  }
  fuzzer.Report(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return 0;
}

}  // namespace
}  // namespace backplane::fuzz

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most) {
  using namespace backplane::fuzz;
  const Bytes input = mutator->Mutate(Bytes(reinterpret_cast<const char*>(data), size), Fuzzer::other, &random_numbers);
  const size_t written = std::min(input.size(), most);
  std::memcpy(data, input.data(), written);  // NOLINT(bugprone-not-null-terminated-result): bytes
  return written;
}

int main(int argc, char** argv) {
  try {
    return backplane::fuzz::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    std::fprintf(stderr, backplane::fuzz::kUsage, argv[0]);
    return 2;
  }
}
