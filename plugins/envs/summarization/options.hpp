// The options, declared once, and as what they are read.
#pragma once

#include <string>

#include "backplane/plugin.hpp"
#include "dataset.hpp"
#include "rouge/scorer.hpp"

namespace backplane::summarization {

inline constexpr bp_param kOptions[] = {
    bp::Path("data", nullptr, "File of documents and summaries in UTF-8, read whole when the trial starts.",
             {.flags = BP_PARAM_REQUIRED | BP_PARAM_DATA, .aliases = "train_file,validation_file"}),
    bp::Enum("format", "auto", "auto|csv|tsv|jsonl", "How the file is written; auto goes by its extension.", {.flags = 0}),
    bp::Str("source_key", "document", "Column of what is to be summarised.", {.flags = 0, .aliases = "text_column"}),
    bp::Str("target_key", "summary",
            "Column of the summary; several, separated by commas: the first is learned, all are scored against.",
            {.flags = 0, .aliases = "summary_column"}),
    bp::Str("id_key", "''", "Column that names rows in messages; empty: none.", {.flags = 0}),
    bp::Enum("bad_rows", "fail", "fail|skip",
             "What follows from a row that cannot be used: an error, or a row less and a warning.", {.flags = 0}),
    bp::I64("max_items", "0", "[0,)", "Rows to use, from the first; 0: all. For quick trials.",
            {.aliases = "max_train_samples,max_eval_samples"}),
    bp::Path("tokenizer", nullptr, "SentencePiece model with <s>, </s> and <pad>.",
             {.flags = BP_PARAM_REQUIRED | BP_PARAM_DATA | BP_PARAM_AFFECTS_SPEC}),
    bp::I64("max_source_length", "128", "[3,65536]",
            "Longer documents are cut to so many tokens; time and memory grow with it.",
            {.flags = BP_PARAM_TUNABLE | BP_PARAM_AFFECTS_SPEC, .aliases = "encoder_max_len"}),
    bp::I64("max_target_length", "32", "[3,65536]", "Longer summaries are cut to so many tokens, for learning only.",
            {.flags = BP_PARAM_TUNABLE | BP_PARAM_AFFECTS_SPEC, .aliases = "decoder_max_len"}),
    bp::I64("max_generated_length", "0", "[0,65536]", "Tokens a generated summary may have; 0: as max_target_length.",
            {.flags = BP_PARAM_TUNABLE | BP_PARAM_AFFECTS_SPEC, .aliases = "generation_max_length,generate_max_length"}),
    bp::Enum("rouge_impl", "google", "google|pltrdy",
             "Whose ROUGE: rouge_score's, or that of PyPI's rouge. Never compare the two.", {.flags = 0}),
    bp::Enum("rouge_tokenizer", "auto", "auto|google|whitespace|char",
             "Words of ROUGE: a-z and 0-9 alone (google), by whitespace, or single characters; auto: as the impl does.",
             {.flags = 0}),
    bp::Bool("rouge_stem", "false", "Compares stems of words instead of words, for English.",
             {.flags = 0, .aliases = "use_stemmer"}),
    bp::Enum("rouge_multi_ref", "max", "max|mean", "Of several references the best score, or the mean.", {.flags = 0}),
};

struct Options {
  // Throws bp::Error (BP_E_CONFIG) for what the table cannot express.
  explicit Options(const bp::Config& config);

  std::string data, tokenizer;
  ReadOptions reading;
  Caps caps;
  int64_t max_generated_length;
  rouge::Options rouge;
  std::string rouge_text;  // the ROUGE that is meant, for records
};

}  // namespace backplane::summarization
