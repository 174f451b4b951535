#include "options.hpp"

#include <algorithm>
#include <filesystem>

namespace backplane::summarization {
namespace {

void RequireFile(const bp::Config& config, const char* option) {
  const std::filesystem::path file = config.Str(option);
  if (std::filesystem::is_regular_file(file)) return;
  const std::filesystem::path folder = file.parent_path();
  throw bp::ConfigError(std::string(option) + ": '" + file.string() +
                        "' is no file; the corpus of package descriptions and its tokenizer are made by: "
                        "plugins/envs/summarization/build_corpus --out " +
                        (folder.empty() ? "." : folder.string()));
}

Format FormatOf(const bp::Config& config) {
  std::string name = config.Str("format");
  if (name == "auto") {
    const std::filesystem::path file = config.Str("data");
    name = file.extension().string();
    name = name.empty() ? name : name.substr(1);
  }
  if (name == "csv") return Format::kCsv;
  if (name == "tsv") return Format::kTsv;
  if (name == "jsonl") return Format::kJsonLines;
  throw bp::ConfigError("data: '" + config.Str("data") + "' should end in .csv, .tsv or .jsonl; or set `format`");
}

std::vector<std::string> SplitAtCommas(const std::string& names) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    const size_t first = names.find_first_not_of(' ', begin), last = names.find_last_not_of(' ', end == 0 ? 0 : end - 1);
    if (first >= end) throw bp::ConfigError("target_key: '" + names + "' should be names of columns, separated by commas");
    out.push_back(names.substr(first, last - first + 1));
    begin = end + 1;
  }
  return out;
}

rouge::Options RougeOf(const bp::Config& config) {
  rouge::Options options;
  options.impl = config.Str("rouge_impl") == "google" ? rouge::Impl::kGoogle : rouge::Impl::kPltrdy;
  const std::string tokenizer = config.Str("rouge_tokenizer");
  if (tokenizer == "google") options.tokenizer = rouge::Tokenizer::kGoogle;
  if (tokenizer == "whitespace") options.tokenizer = rouge::Tokenizer::kWhitespace;
  if (tokenizer == "char") options.tokenizer = rouge::Tokenizer::kChar;
  options.stem = config.Bool("rouge_stem");
  options.multi_ref = config.Str("rouge_multi_ref") == "max" ? rouge::MultiRef::kMax : rouge::MultiRef::kMean;
  try {
    const auto words = *rouge::Scorer(options).options().tokenizer;
    options.tokenizer = words;
  } catch (const std::invalid_argument& e) {
    throw bp::ConfigError(std::string("rouge_*: ") + e.what());
  }
  return options;
}

std::string TextOf(const rouge::Options& options) {
  const char* const words[] = {"google", "whitespace", "char"};
  return std::string("impl ") + (options.impl == rouge::Impl::kGoogle ? "google" : "pltrdy") + ", tokenizer " +
         words[static_cast<int>(*options.tokenizer)] + (options.stem ? ", stem" : ", no stem") + ", multi_ref " +
         (options.multi_ref == rouge::MultiRef::kMax ? "max" : "mean");
}

}  // namespace

Options::Options(const bp::Config& config)
    : data(config.Str("data")),
      tokenizer(config.Str("tokenizer")),
      caps{config.I64("max_source_length"), config.I64("max_target_length")},
      max_generated_length(config.I64("max_generated_length")),
      rouge(RougeOf(config)),
      rouge_text(TextOf(rouge)) {
  if (max_generated_length == 0) max_generated_length = caps.target;
  RequireFile(config, "data");
  RequireFile(config, "tokenizer");
  reading.format = FormatOf(config);
  reading.columns = {config.Str("source_key"), SplitAtCommas(config.Str("target_key")), config.Str("id_key")};
  reading.skip_bad_rows = config.Str("bad_rows") == "skip";
  reading.max_items = config.I64("max_items");
}

}  // namespace backplane::summarization
