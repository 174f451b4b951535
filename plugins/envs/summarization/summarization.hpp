// A file of documents and summaries as an env: a data set for learning, and episodes of one step that generates a summary.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/env.hpp"
#include "dataset.hpp"
#include "options.hpp"
#include "rouge/scorer.hpp"

namespace backplane::summarization {

class Summarization {
 public:
  static constexpr bp::About kAbout{"env.summarization", "1.0.0",
                                    "Data set of documents with summaries; scores generated summaries by ROUGE."};
  static constexpr auto& kOptions = summarization::kOptions;

  Summarization(const bp_host* host, const Options& options, uint64_t rows);
  bp::EnvSpec Spec() const { return channels_.spec; }

  // Row r plays item r, then r + rows, r + 2 rows, ... modulo the items; a reset without mask restarts at item r. Seeds are
  // ignored, so all evaluations use the same items.
  void Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds);
  // Allocates, because texts have no fixed size. Throws bp::Error (BP_E_INVALID_ARG) for an invalid id.
  void Step(const bp::Slot& slot, uint64_t begin, uint64_t end);

  uint64_t Items() const { return data_.size(); }
  void Read(uint64_t seed, uint64_t first, uint64_t n, const bp::Slot& slot);

  uint64_t StateBytes() const { return sizeof(uint64_t); }
  void Save(uint64_t row, void* out) const;
  void Load(uint64_t row, const void* data);
  uint64_t StateKey() const { return data_.Fingerprint(); }

 private:
  struct Channels {
    Channels(const Options& options, int32_t vocabulary);
    bp::EnvSpec spec;  // in this order
    bp::Handle<int32_t> obs, obs_length, label, label_length;
    bp::Handle<float> weight;
    bp::Handle<const int32_t> action;
    bp::Handle<float> reward;
    bp::Handle<uint8_t> terminated;
    bp::Handle<float> rouge1, rouge2, rougeL, rougeLsum, tokens;
  };

  void Show(const bp::Slot& slot, uint64_t row, uint64_t item) const;    // the reset's part
  void Answer(const bp::Slot& slot, uint64_t row, uint64_t item) const;  // the step's part: labels and weight
  // The generated ids of a row: up to the first eos or padding, without bos.
  std::vector<int32_t> Generated(const bp::Slot& slot, uint64_t row) const;
  std::vector<std::string> Decode(const std::vector<std::vector<int32_t>>& texts) const;
  rouge::Scores Score(const std::string& generated, uint64_t item) const;

  // Either of the two is null.
  struct Tokenizer {
    Tokenizer(const bp_host* host, const Options& options);
    std::unique_ptr<Vocabulary> vocabulary;
    std::unique_ptr<ModelTokenizer> model;
    int32_t size, eos, pad, bos;  // bos: -1: none that texts lack
  };

  Options options_;
  Tokenizer tokenizer_;
  Dataset data_;
  rouge::Scorer scorer_;
  EpochOrder order_;
  Channels channels_;
  std::vector<uint64_t> item_;  // [rows] current item
};

}  // namespace backplane::summarization
