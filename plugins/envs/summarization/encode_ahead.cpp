#include "encode_ahead.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace backplane::summarization {
namespace {

constexpr uint64_t kBlock = 64;  // texts that a thread takes at a time

}  // namespace

EncodedAhead::EncodedAhead(const std::string& path, const ReadOptions& options, const Vocabulary& vocabulary,
                           int64_t source_cap, int64_t target_cap) {
  if (options.workers == 0) return;
  ReadRecords(path, options, [&](const Record& record) {
    place_.emplace(record.place.row, texts_.size());
    texts_.push_back({record.source, {}, source_cap});
    texts_.push_back({record.targets[0], {}, target_cap});
  });
  Encode(vocabulary, options.workers);
}

void EncodedAhead::Encode(const Vocabulary& vocabulary, uint64_t workers) {
  std::atomic<uint64_t> next = 0;
  std::mutex mutex;
  std::exception_ptr error;
  const auto work = [&] {
    try {
      for (uint64_t begin; (begin = next.fetch_add(kBlock)) < texts_.size();) {
        for (uint64_t i = begin; i < std::min<uint64_t>(begin + kBlock, texts_.size()); ++i) {
          Text& text = texts_[i];
          if (vocabulary.Encode(text.text, text.cap, &text.tokens) == 0) text.tokens.clear();
          text.text = std::string();
        }
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      error = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (uint64_t i = 1; i < workers; ++i) threads.emplace_back(work);
    work();  // this thread is one of them
  }
  if (error) std::rethrow_exception(error);
}

bool EncodedAhead::Append(uint64_t row, Part part, std::vector<int32_t>* tokens) const {
  const auto found = place_.find(row);
  if (found == place_.end()) return false;
  const std::vector<int32_t>& known = texts_[found->second + (part == Part::kTarget ? 1 : 0)].tokens;
  tokens->insert(tokens->end(), known.begin(), known.end());
  return !known.empty();
}

}  // namespace backplane::summarization
