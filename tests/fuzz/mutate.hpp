// Makes inputs out of inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace backplane::fuzz {

using Bytes = std::string;
using Random = std::mt19937_64;  // the same numbers with every standard library

// A number below `n`; 0 where n is 0.
size_t Below(Random* random, size_t n);

class Mutator {
 public:
  Mutator(std::vector<Bytes> words, size_t most_bytes) : words_(std::move(words)), most_bytes_(most_bytes) {}

  // One to eight changes of bytes, numbers, words and lines; at times a part of `other` in between.
  Bytes Mutate(Bytes input, const Bytes& other, Random* random) const;

 private:
  void ChangeOnce(Bytes* input, const Bytes& other, Random* random) const;

  std::vector<Bytes> words_;
  size_t most_bytes_;
};

// Words of a dictionary in libFuzzer's form: a line for each, name="bytes" or "bytes", with \xAB, \\ and \"; '#' begins a
// comment. Throws std::runtime_error with the line that is none.
std::vector<Bytes> ReadDictionary(const std::string& file);

}  // namespace backplane::fuzz
