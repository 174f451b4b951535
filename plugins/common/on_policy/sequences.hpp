// Samples of nets with a memory: cut into sequences, which a minibatch contains whole, and packed into blocks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nn/gru.hpp"

namespace backplane::on_policy {

// The sequences of an iteration: samples of one row, or of one agent, in time.
struct SequenceSet {
  int64_t n() const { return static_cast<int64_t>(begins.size()) - 1; }
  int64_t Length(int64_t sequence) const { return begins[sequence + 1] - begins[sequence]; }
  void Clear(int64_t most) { longest = most, begins.assign(1, 0), samples.clear(); }
  // Adds a sequence of the samples that were added to `samples` since the last one.
  void End() { begins.push_back(static_cast<int64_t>(samples.size())); }

  int64_t longest = 1;          // samples that a sequence may have
  std::vector<int64_t> begins;  // [n + 1] in `samples`
  std::vector<int64_t> samples;
  std::vector<uint8_t> fresh;  // by sample: 1 if the memory is 0 before it
};

// Sequences of a minibatch, in blocks whose activations stay in a core's second-level cache. No block depends on the threads or
// shards that compute it, and none contains padding: shorter sequences end earlier (nn/gru.hpp).
class SequenceBlocks {
 public:
  struct Block {
    int64_t begin, rows;        // samples [begin, begin + rows) of the minibatch
    nn::Sequences sequences;    // of these samples
    const int64_t* first_rows;  // [entries[0]]: the sequences of the first entry's rows
  };

  // Packs the sequences with these numbers. Valid until the next call.
  void Pack(const SequenceSet& set, std::span<const int64_t> numbers);

  int64_t n() const { return static_cast<int64_t>(index_.size()); }
  int64_t most_rows() const { return most_rows_; }
  // [n]: the samples in the order of the blocks.
  const int64_t* index() const { return index_.data(); }
  // Calls body(block) for each block that begins in samples [begin, end) of the minibatch.
  template <class Body>
  void ForEach(int64_t begin, int64_t end, Body&& body) const {
    for (const Place& place : places_) {
      if (place.begin < begin || place.begin >= end) continue;
      const std::span<const int64_t> entries(entries_.data() + place.entry, place.entries);
      body(Block{place.begin, place.rows, {entries, fresh_.data() + place.begin}, sequences_.data() + place.sequence});
    }
  }

 private:
  struct Place {
    int64_t begin, rows;
    size_t entry, entries, sequence;
  };
  void PackBlock(const SequenceSet& set, std::span<const int64_t> numbers);

  int64_t most_rows_ = 0;
  std::vector<Place> places_;
  std::vector<int64_t> index_, entries_, sequences_;
  std::vector<uint8_t> fresh_;  // [n]
};

}  // namespace backplane::on_policy
