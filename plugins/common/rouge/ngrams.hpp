// Numbers for the n-grams of a pair of texts, 0, 1, 2, ..., so that counts and bit masks can be arrays.
#pragma once

#include <cstdint>
#include <vector>

#include "rouge/tokens.hpp"

namespace backplane::rouge {

// Gives each distinct 64-bit key the next number. Open addressing; no key may be 2^64 - 1.
class Numbering {
 public:
  // Forgets all keys; room for so many.
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

// How many n-grams two texts have, and how many they share.
struct Overlap {
  size_t prediction, reference, shared;
};

// Where numbers of the n-grams of both sides stand. Starts with tokens; each Extend makes n larger by one.
class Ngrams {
 public:
  void Start(Ids prediction, Ids reference);
  void Extend();
  // Counts every n-gram as often as it occurs, shared ones as often as on the side that has fewer.
  Overlap CountAll();
  // Counts distinct ones.
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
