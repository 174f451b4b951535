#include "rouge/scorer.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "rouge/measures.hpp"
#include "rouge/tokens.hpp"

namespace backplane::rouge {
namespace {

constexpr size_t kKeptBytes = 8 << 20;  // a scratch that has grown beyond this is not kept for the next call
constexpr double kManyForeign = 0.2;

Options Resolved(Options options) {
  if (!options.tokenizer) options.tokenizer = options.impl == Impl::kGoogle ? Tokenizer::kGoogle : Tokenizer::kWhitespace;
  if (options.stem && *options.tokenizer != Tokenizer::kGoogle)
    throw std::invalid_argument("rouge: stem: expected the tokenizer google, whose words the English stemmer needs, got " +
                                std::string(*options.tokenizer == Tokenizer::kChar ? "char" : "whitespace"));
  return options;
}

Score Best(std::span<const Score> scores) {
  return *std::max_element(scores.begin(), scores.end(), [](const Score& a, const Score& b) { return a.f < b.f; });
}

Score Mean(std::span<const Score> scores) {
  Score sum;
  for (const Score& s : scores) sum.precision += s.precision, sum.recall += s.recall, sum.f += s.f;
  const auto n = static_cast<double>(scores.size());
  return {sum.precision / n, sum.recall / n, sum.f / n};
}

Score Combine(MultiRef multi_ref, std::span<const Score> scores) {
  return multi_ref == MultiRef::kMax ? Best(scores) : Mean(scores);
}

}  // namespace

struct Scorer::Scratch {
  explicit Scratch(const Options& options) : reader(options), measures(options.impl) {}

  size_t bytes() const {
    return reader.vocabulary().bytes() + measures.bytes() +
           (prediction.tokens.capacity() + reference.tokens.capacity()) * sizeof(Id);
  }

  Reader reader;
  Measures measures;
  Text prediction, reference;
};

// A scratch for one call, handed back at its end.
class Scorer::Lease {
 public:
  explicit Lease(const Scorer* scorer) : scorer_(scorer) {
    {
      const std::lock_guard lock(scorer->mutex_);
      if (!scorer->idle_.empty()) {
        scratch_ = std::move(scorer->idle_.back());
        scorer->idle_.pop_back();
      }
    }
    if (!scratch_) scratch_ = std::make_unique<Scratch>(scorer->options_);
  }
  ~Lease() {
    if (scratch_->bytes() > kKeptBytes) return;
    const std::lock_guard lock(scorer_->mutex_);
    scorer_->idle_.push_back(std::move(scratch_));
  }
  Lease(const Lease&) = delete;

  // Calls score(prediction, reference) for each reference.
  template <typename F>
  void ForEach(std::string_view prediction, std::span<const std::string_view> references, F score) {
    if (references.empty()) throw std::invalid_argument("rouge: expected at least one reference per prediction, got none");
    Read(prediction, "prediction", &scratch_->prediction);
    for (const std::string_view reference : references) {
      Read(reference, "reference", &scratch_->reference);
      score(scratch_->prediction, scratch_->reference);
    }
  }
  Measures& measures() { return scratch_->measures; }

 private:
  void Read(std::string_view text, const char* which, Text* out) {
    scratch_->reader.Read(text, out);
    if (scorer_->options_.impl == Impl::kPltrdy && out->ends.empty())
      throw EmptyText("rouge: pltrdy: expected a word in each text, got a " + std::string(which) +
                      " that is empty or has only dots");
  }

  const Scorer* scorer_;
  std::unique_ptr<Scratch> scratch_;
};

Scorer::Scorer(const Options& options) : options_(Resolved(options)) {}
Scorer::~Scorer() = default;

Scores Scorer::Score(std::string_view prediction, std::span<const std::string_view> references) const {
  Lease lease(this);
  std::vector<rouge::Score> by_type[std::size(kTypes)];
  lease.ForEach(prediction, references, [&](const Text& p, const Text& r) {
    const Scores scores = lease.measures().All(p, r);
    for (size_t type = 0; type < std::size(kTypes); ++type) by_type[type].push_back(scores.*kTypes[type]);
  });
  Scores out;
  for (size_t type = 0; type < std::size(kTypes); ++type) out.*kTypes[type] = Combine(options_.multi_ref, by_type[type]);
  return out;
}

rouge::Score Scorer::ScoreN(int n, std::string_view prediction, std::span<const std::string_view> references) const {
  if (n < 1) throw std::invalid_argument("rouge: n of ROUGE-n: expected 1 or more, got " + std::to_string(n));
  Lease lease(this);
  std::vector<rouge::Score> scores;
  lease.ForEach(prediction, references,
                [&](const Text& p, const Text& r) { scores.push_back(lease.measures().Gram(n, p, r)); });
  return Combine(options_.multi_ref, scores);
}

bool MissesLetters(const Options& options, const Letters& references) {
  return Resolved(options).tokenizer == Tokenizer::kGoogle && references.foreign_share() > kManyForeign;
}

}  // namespace backplane::rouge
