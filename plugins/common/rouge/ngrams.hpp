// Numbers the n-grams of a pair of texts 0, 1, 2, ..., so that counts and bit masks can be arrays.
#pragma once

#include <cstdint>
#include <vector>

#include "rouge/tokens.hpp"

namespace backplane::rouge {

// Assigns consecutive numbers to distinct 64-bit keys. Open addressing; no key may be 2^64 - 1.
class Numbering {
 public:
  // Removes all keys and reserves room for `keys` keys.
  void Reset(size_t keys);
  Id Number(uint64_t key);
  Id size() const { return size_; }
  size_t bytes() const { return slots_.capacity() * sizeof(Slot); }

 private:
  struct Slot {
    uint64_t key;
    Id number;
  };
  std::vector<Slot> slots_;
  int shift_ = 0;
  Id size_ = 0;
};

// The n-grams in two texts, and the shared ones.
struct Overlap {
  size_t prediction, reference, shared;
};

// The n-gram numbers of both sides in text order. Starts with tokens; each Extend increases n by one.
class Ngrams {
 public:
  void Start(Ids prediction, Ids reference);
  void Extend();
  // Counts every occurrence; a shared n-gram counts as often as on the side with fewer.
  Overlap CountAll();
  // Counts distinct n-grams.
  Overlap CountDistinct();

  // Numbers of the n-grams in the order of the text, below `distinct()`.
  Ids prediction() const { return sides_[0]; }
  Ids reference() const { return sides_[1]; }
  Id distinct() const { return numbering_.size(); }
  size_t bytes() const { return numbering_.bytes() + counts_.capacity() * sizeof(Counts); }

 private:
  struct Counts {
    Id prediction = 0, reference = 0;
  };
  void Count();

  Numbering numbering_;
  std::vector<Id> tokens_[2], sides_[2];
  std::vector<Counts> counts_;
  size_t n_ = 0;
};

}  // namespace backplane::rouge
