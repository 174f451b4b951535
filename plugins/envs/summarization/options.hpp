// The options and their validated forms.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "backplane/plugin.hpp"
#include "dataset.hpp"
#include "rouge/scorer.hpp"

namespace backplane::rouge {

constexpr auto WordsOf(Impl) { return bp::Words<Impl>({{"google", Impl::kGoogle}, {"pltrdy", Impl::kPltrdy}}); }
constexpr auto WordsOf(Tokenizer) {
  return bp::Words<Tokenizer>(
      {{"google", Tokenizer::kGoogle}, {"whitespace", Tokenizer::kWhitespace}, {"char", Tokenizer::kChar}});
}
constexpr auto WordsOf(MultiRef) { return bp::Words<MultiRef>({{"max", MultiRef::kMax}, {"mean", MultiRef::kMean}}); }

}  // namespace backplane::rouge

namespace backplane::summarization {

constexpr auto WordsOf(Format) {
  return bp::Words<Format>({{"csv", Format::kCsv}, {"tsv", Format::kTsv}, {"jsonl", Format::kJsonLines}});
}
enum class BadRows { kFail, kSkip };
constexpr auto WordsOf(BadRows) { return bp::Words<BadRows>({{"fail", BadRows::kFail}, {"skip", BadRows::kSkip}}); }

struct Options {
  // Throws bp::Error (BP_E_CONFIG) for constraints beyond the table.
  void Check(const bp::Config& config);

  bool is_model_folder() const { return std::filesystem::is_directory(tokenizer); }

  std::filesystem::path data, tokenizer;
  std::string source_lang, target_lang, python;
  std::optional<Format> format;
  std::string source_key = "document", target_key = "summary", id_key;
  BadRows bad_rows = BadRows::kFail;
  uint64_t max_items = 0, dataloader_num_workers = 0;
  int64_t max_source_length = 128, max_target_length = 32, max_generated_length = 0;
  rouge::Impl rouge_impl = rouge::Impl::kGoogle;
  std::optional<rouge::Tokenizer> rouge_tokenizer;
  bool rouge_stem = false;
  rouge::MultiRef rouge_multi_ref = rouge::MultiRef::kMax;

  // Derived by Check.
  ReadOptions reading;
  Caps caps;
  rouge::Options rouge;
  std::string rouge_text;  // the ROUGE that is meant, for records
};

inline constexpr bp::OptionTable kOptions{
    bp::Opt("data", &Options::data, "File of documents and summaries in UTF-8, read whole when the trial starts.",
            {.flags = BP_PARAM_REQUIRED | BP_PARAM_DATA, .aliases = "train_file,validation_file"}),
    bp::Opt("format", &Options::format, "Format of the file; auto: by its extension."),
    bp::Opt("source_key", &Options::source_key, "Column of the documents.", {.aliases = "text_column"}),
    bp::Opt("target_key", &Options::target_key,
            "Column of the summary. Separate several with commas: the first is learned, all count as references.",
            {.aliases = "summary_column"}),
    bp::Opt("id_key", &Options::id_key, "Column that names rows in messages; empty: none."),
    bp::Opt("bad_rows", &Options::bad_rows, "Action for an unusable row: an error, or a skip with a warning."),
    bp::Opt("max_items", &Options::max_items, "[0,)", "Rows to use, from the first; 0: all. For quick trials.",
            {.aliases = "max_train_samples,max_eval_samples"}),
    bp::Opt("dataloader_num_workers", &Options::dataloader_num_workers, "[0,256]",
            "Threads that encode the texts ahead of the first update, in less time for more memory; 0: one thread as it reads. "
            "Never changes the tokens.",
            {.flags = BP_PARAM_LATER}),
    bp::Opt("tokenizer", &Options::tokenizer,
            "SentencePiece model with <s>, </s> and <pad>, or a model's folder of Hugging Face with tokenizer.json.",
            {.flags = BP_PARAM_REQUIRED | BP_PARAM_DATA}),
    bp::Opt("source_lang", &Options::source_lang, "Language of the documents for a folder of mBART; empty: the folder's.",
            {.flags = BP_PARAM_LATER}),
    bp::Opt("target_lang", &Options::target_lang,
            "Language of the summaries for a folder of mBART; empty: the folder's, else source_lang.",
            {.flags = BP_PARAM_LATER}),
    bp::Opt(
        "python", &Options::python,
        "Interpreter with the package tokenizers for a model's folder; empty: the active virtual environment's, else python3.",
        {.flags = BP_PARAM_LATER}),
    bp::Opt("max_source_length", &Options::max_source_length, "[3,65536]",
            "Maximum tokens of a document; the rest is cut. Time and memory grow with it.", {.aliases = "encoder_max_len"}),
    bp::Opt("max_target_length", &Options::max_target_length, "[3,65536]",
            "Maximum tokens of a summary in training; the rest is cut.", {.aliases = "decoder_max_len"}),
    bp::Opt("max_generated_length", &Options::max_generated_length, "[0,65536]",
            "Maximum tokens of a generated summary; 0: max_target_length.",
            {.aliases = "generation_max_length,generate_max_length"}),
    bp::Opt("rouge_impl", &Options::rouge_impl, "ROUGE implementation: rouge_score, or PyPI's rouge. Never compare the two."),
    bp::Opt("rouge_tokenizer", &Options::rouge_tokenizer,
            "Words of ROUGE: only a-z and 0-9 (google), by whitespace, or single characters; auto: as in rouge_impl."),
    bp::Opt("rouge_stem", &Options::rouge_stem, "Compares stems instead of words, for English.", {.aliases = "use_stemmer"}),
    bp::Opt("rouge_multi_ref", &Options::rouge_multi_ref, "Score with several references: the best, or the mean."),
};

}  // namespace backplane::summarization
