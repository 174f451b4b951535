// Mutates inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace backplane::fuzz {

using Bytes = std::string;
using Random = std::mt19937_64;  // gives the same numbers with every standard library

// A number below `n`, or 0 if n is 0.
size_t Below(Random* random, size_t n);

class Mutator {
 public:
  Mutator(std::vector<Bytes> words, size_t most_bytes) : words_(std::move(words)), most_bytes_(most_bytes) {}

  // Applies one to eight changes of bytes, numbers, words and lines; sometimes inserts a part of `other`.
  Bytes Mutate(Bytes input, const Bytes& other, Random* random) const;

 private:
  void ChangeOnce(Bytes* input, const Bytes& other, Random* random) const;

  std::vector<Bytes> words_;
  size_t most_bytes_;
};

// Words of a dictionary in libFuzzer's form: one per line, name="bytes" or "bytes", with \xAB, \\ and \". '#' begins a comment.
// Throws std::runtime_error that names an invalid line.
std::vector<Bytes> ReadDictionary(const std::string& file);

}  // namespace backplane::fuzz
