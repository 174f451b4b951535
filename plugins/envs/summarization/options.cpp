#include "options.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace backplane::summarization {
namespace {

void RequireFile(const char* option, const std::filesystem::path& file) {
  if (std::filesystem::is_regular_file(file)) return;
  const std::filesystem::path folder = file.parent_path();
  throw bp::ConfigError(std::string(option) + ": '" + file.string() +
                        "' does not exist; to make the corpus of package descriptions and its tokenizer: "
                        "$(backplane sdk --sharedir)/build_corpus --out " +
                        (folder.empty() ? "." : folder.string()));
}

void RequireTokenizer(const std::filesystem::path& folder) {
  if (std::filesystem::is_regular_file(folder / "tokenizer.json")) return;
  throw bp::ConfigError("tokenizer: expected tokenizer.json in '" + folder.string() +
                        "', got none; write it with `save_pretrained` of a fast tokenizer of transformers");
}

Format FormatOf(const std::filesystem::path& data) {
  const std::string extension = data.extension().string();
  for (const bp::Word<Format>& each : WordsOf(Format()))
    if (extension == std::string(".") + each.word) return each.value;
  throw bp::ConfigError("data: expected a name that ends in .csv, .tsv or .jsonl, got '" + data.string() +
                        "'; or set `format`");
}

std::vector<std::string> SplitAtCommas(const std::string& names) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    const size_t first = names.find_first_not_of(' ', begin), last = names.find_last_not_of(' ', end == 0 ? 0 : end - 1);
    if (first >= end) throw bp::ConfigError("target_key: expected names of columns, separated by commas, got '" + names + "'");
    out.push_back(names.substr(first, last - first + 1));
    begin = end + 1;
  }
  return out;
}

rouge::Options RougeOf(const Options& o) {
  rouge::Options options{o.rouge_impl, o.rouge_tokenizer, o.rouge_stem, o.rouge_multi_ref};
  try {
    options.tokenizer = rouge::Scorer(options).options().tokenizer;
  } catch (const std::invalid_argument& e) {
    throw bp::ConfigError(std::string("rouge_*: ") + e.what());
  }
  return options;
}

std::string TextOf(const rouge::Options& options) {
  return "impl " + bp::WordOf(options.impl) + ", tokenizer " + bp::WordOf(*options.tokenizer) +
         (options.stem ? ", stem" : ", no stem") + ", multi_ref " + bp::WordOf(options.multi_ref);
}

}  // namespace

void Options::Check(const bp::Config&) {
  rouge = RougeOf(*this);
  rouge_text = TextOf(rouge);
  caps = {max_source_length, max_target_length};
  if (max_generated_length == 0) max_generated_length = caps.target;
  RequireFile("data", data);
  if (is_model_folder()) {
    RequireTokenizer(tokenizer);
  } else {
    RequireFile("tokenizer", tokenizer);
  }
  for (const std::string* lang : {&source_lang, &target_lang})
    if (!lang->empty() && !is_model_folder())
      throw bp::ConfigError("source_lang, target_lang: expected a model's folder as tokenizer, got '" + tokenizer.string() +
                            "'");
  if (const char* const active = std::getenv("VIRTUAL_ENV"); python.empty())
    python = active != nullptr && *active != '\0' ? std::string(active) + "/bin/python" : "python3";
  reading.format = format ? *format : FormatOf(data);
  reading.columns = {source_key, SplitAtCommas(target_key), id_key};
  reading.skip_bad_rows = bad_rows == BadRows::kSkip;
  reading.max_items = max_items;
  reading.workers = dataloader_num_workers;
}

}  // namespace backplane::summarization
