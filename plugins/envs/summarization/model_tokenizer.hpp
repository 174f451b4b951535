// The tokenizer in a model's folder of HuggingFace. The library `tokenizers` itself encodes and decodes, in a process that runs
// the program in worker/.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "python_env/workers.hpp"

namespace backplane::summarization {

// Maximum numbers of tokens per text, template included.
struct Caps {
  int64_t source = 0, target = 0;
};

struct ModelFolder {
  std::string folder, python, source_lang, target_lang;
};

class ModelTokenizer {
 public:
  // Throws bp::Error, as all calls do.
  ModelTokenizer(const bp_host* host, const ModelFolder& folder, Caps caps);

  int32_t size() const { return size_; }
  int32_t eos() const { return eos_; }
  int32_t pad() const { return pad_; }
  const std::string& version() const { return version_; }  // of the library

  // Encodes a text, after all earlier ones, as soon as enough texts wait: sources and targets in turns.
  void Add(std::string_view text);
  struct Encoded {
    std::span<const int32_t> tokens;  // of all texts, in order; valid as long as this object
    struct Text {
      uint32_t tokens, own;  // own: without the template's
    };
    std::vector<Text> texts;
    uint64_t unknown = 0;  // tokens that stand for something unknown
  };
  // Encodes the rest and maps the file of the tokens. Called once.
  Encoded Finish();

  // Thread-safe. Leaves out special tokens.
  std::vector<std::string> Decode(const std::vector<std::vector<int32_t>>& texts) const;

 private:
  void Send();

  mutable std::mutex decoding_;
  mutable python_env::Workers process_;
  int32_t size_, eos_, pad_;
  std::string version_;
  std::string waiting_ = "E";  // a message
  Encoded encoded_;
};

}  // namespace backplane::summarization
