#include "record/compare_bits.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace backplane {
namespace {

namespace fs = std::filesystem;

const uint64_t* HashIn(const Fingerprint& fingerprint, const FingerprintColumn& column) {
  const auto found = std::ranges::find(*fingerprint.columns, column);
  return found == fingerprint.columns->end() ? nullptr : &fingerprint.hashes[found - fingerprint.columns->begin()];
}

// Compares an iteration of both. A tensor that only one has is a difference, but not of bits.
class IterationBits {
 public:
  IterationBits(uint64_t iteration, const Fingerprint& a, const Fingerprint& b, ComparedBits* out) : out_(out) {
    for (const char* phase : {kObserved, kActed, kRewarded, kLearned}) {
      for (size_t i = 0; i < a.hashes.size(); ++i)
        if ((*a.columns)[i].phase == phase) Compare(iteration, (*a.columns)[i], a.hashes[i], HashIn(b, (*a.columns)[i]));
    }
    for (const FingerprintColumn& column : *b.columns)
      if (HashIn(a, column) == nullptr) Note(column, "b");
  }

 private:
  void Compare(uint64_t iteration, const FingerprintColumn& column, uint64_t a, const uint64_t* b) {
    if (b == nullptr) return Note(column, "a");
    std::optional<BitsDifference>& first = out_->first_difference;
    if (a == *b) {
      out_->hashes += first ? 0 : 1;
    } else if (!first) {
      first = BitsDifference{iteration, column.phase, column.tensor, {}};
    } else {
      first->also.push_back(column.phase + " " + column.tensor);
    }
  }
  void Note(const FingerprintColumn& column, const char* side) {
    std::string note = fmt::format("only {} has {} {}", side, column.phase, column.tensor);
    if (std::ranges::find(out_->notes, note) == out_->notes.end()) out_->notes.push_back(std::move(note));
  }

  ComparedBits* out_;
};

}  // namespace

RecordedBits::RecordedBits(const fs::path& folder) {
  const auto add = [this](const AttemptFolder& attempt) {
    std::optional<FingerprintFile> file = ReadFingerprints(attempt.fingerprints());
    if (!file) return;
    if (file->problem) damaged = true, notes.push_back(*file->problem + ": the rest is not compared");
    Continue(std::move(*file));
  };
  add(AttemptFolder(folder));
  const TrialFolder trial{folder};
  for (unsigned number = 1; number <= trial.LastAttempt(); ++number) add(trial.attempt(number));
}

ComparedBits CompareBits(const RecordedBits& a, const RecordedBits& b) {
  ComparedBits compared;
  compared.damaged = a.damaged || b.damaged;
  compared.notes = a.notes;
  compared.notes.insert(compared.notes.end(), b.notes.begin(), b.notes.end());
  for (const auto& [side, other] : {std::pair(&a, "a"), std::pair(&b, "b")})
    if (side->iterations.empty() && !side->damaged)
      compared.notes.push_back(fmt::format(
          "{} has no fingerprints: the trial ran without output.fingerprints, or ended before its first iteration", other));
  for (const auto& [iteration, fingerprint] : a.iterations) {
    const auto other = b.iterations.find(iteration);
    if (other == b.iterations.end()) {
      ++compared.only_a;
    } else if (!compared.first_difference) {
      IterationBits(iteration, fingerprint, other->second, &compared);
      compared.iterations += compared.first_difference ? 0 : 1;
    }
  }
  for (const auto& [iteration, fingerprint] : b.iterations) compared.only_b += a.iterations.contains(iteration) ? 0 : 1;
  return compared;
}

std::string ComparedBits::Sentence() const {
  const std::string both = fmt::format("{} iterations, {} hashes", iterations, hashes);
  std::string sentence = fmt::format("equal bit for bit: {}", both);
  if (first_difference) {
    const BitsDifference& d = *first_difference;
    sentence = fmt::format("the first difference is in iteration {}: {}, tensor {}", d.iteration, d.phase, d.tensor);
    if (!d.also.empty()) sentence += fmt::format(" (and {} more differences in that iteration)", d.also.size());
    return sentence + fmt::format("; {} iterations and {} hashes before it are equal", iterations, hashes);
  }
  if (iterations == 0) return fmt::format("nothing to compare: {} iterations in a, {} in b, none in both", only_a, only_b);
  if (hashes == 0) return fmt::format("nothing to compare: {} iterations without a common hash", iterations);
  if (damaged) sentence = fmt::format("a file is damaged; what could be read is equal: {}", both);
  if (only_a + only_b > 0) sentence += fmt::format("; only in a: {} iterations, only in b: {}", only_a, only_b);
  return sentence;
}

}  // namespace backplane
