// A network that reads, and what each thread has read last: an evaluation asks for the loss of a text's label right after the
// text was written, and reading it again would take as long as all the rest of the loss.
#pragma once

#include <map>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "inference.hpp"

namespace backplane::seq2seq {

// Texts with their encoded forms.
class EncodedTexts {
 public:
  EncodedTexts() = default;
  EncodedTexts(const Inference& network, const std::vector<std::span<const int32_t>>& texts);
  const std::vector<Inference::Source>& sources() const { return sources_; }
  // NULL: not among them.
  const Inference::Source* Find(std::span<const int32_t> text) const;

 private:
  std::vector<std::vector<int32_t>> texts_;
  std::vector<Inference::Source> sources_;
};

class TextReader {
 public:
  TextReader(const BartConfig& config, const Layout& layout, const float* weights) : network_(config, layout, weights) {}
  const Inference& network() const { return network_; }

  // This thread's, in the place of what it kept before. [any]
  void Keep(EncodedTexts texts);
  // Summed cross-entropy of each text's label. Texts that this thread keeps are not read again; it then keeps none. [any]
  std::vector<double> LabelLosses(const std::vector<std::span<const int32_t>>& texts,
                                  const std::vector<std::span<const int32_t>>& labels);

 private:
  EncodedTexts TakeOwn();

  const Inference network_;
  std::mutex mutex_;
  std::map<std::thread::id, EncodedTexts> kept_;
};

}  // namespace backplane::seq2seq
