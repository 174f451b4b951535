// The learner's options as read from the experiment file, and what it needs to know of the env.
#pragma once

#include <string>

#include "backplane/learner.hpp"
#include "bart_config.hpp"
#include "generation_config.hpp"
#include "model.hpp"
#include "schedule.hpp"

namespace backplane::seq2seq {

// Items of an update and of a micro-batch. Any two of effective_batch_size, per_device_train_batch_size and
// gradient_accumulation_steps give the third; throws bp::ConfigError for a contradiction.
struct BatchSizes {
  explicit BatchSizes(const bp::Config& config);
  uint64_t group, micro;  // micro 0: the most that fit, which the host finds out
};

struct EnvShape {
  explicit EnvShape(const bp_env_spec* env);  // throws bp::Unsupported with a sentence
  std::string source, source_length, label, label_length, action;
  int64_t vocabulary, max_source, max_label, max_generated;
  bp_channel action_channel;  // borrowed, for the constructor only
};

struct Options {
  // `has_cuda`: there is a GPU to compute on. Throws bp::ConfigError for what the device cannot do.
  Options(const bp::Config& config, bool has_cuda);
  BatchSizes sizes;
  ModelOptions model;
  Schedule schedule;
  double learning_rate, warmup_steps;
  bool mean_of_means, sort, drop_last;
  uint64_t eval_batch_size;
  std::string pretrained, save_pretrained;  // folders; empty: none
};

// The network, and what its folder says about writing.
struct Chosen {
  BartConfig network;
  GenerationConfig generation;
};
// Of the folder, or by the options' sizes. Throws bp::ConfigError where they do not fit the env's texts.
Chosen ChooseConfig(const bp::Config& config, const Options& options, const EnvShape& shape);

// How texts are written: by the options, where these say `auto` by the folder, else by transformers' defaults and as long as
// the env takes. Throws bp::ConfigError where the env does not take as many tokens as an option wants.
GenerateOptions ChooseGeneration(const bp::Config& config, const GenerationConfig& folder, const EnvShape& shape);

// Where a folder named by save_pretrained lies: inside the trial's own, so that the trials of a sweep do not write over each
// other. '' stays. Throws bp::ConfigError for one that would lie elsewhere or among the host's files.
std::string InTrialFolder(const bp_host* host, const std::string& name);

// Says so, once for each, where options were set that other trainers have and that change nothing here.
void TellIgnored(const bp_host* host, const bp::Config& config);

// Options of other trainers that are accepted and ignored; what each one says of itself is the reason.
inline constexpr bp_param kIgnored[] = {
    bp::Enum("train_sampling_strategy", "random", "random|group_by_length",
             "Ignored, as items come in random order, and sort_within_update sorts within an update", {.flags = 0}),
    bp::Str("report_to", "''", "Ignored, as monitors are named under monitors", {.flags = 0}),
    bp::Str("logging_dir", "''", "Ignored, as results lie in output.dir", {.flags = 0}),
    bp::Str("logging_strategy", "''", "Ignored, as every update is recorded", {.flags = 0}),
    bp::F64("logging_steps", "0", "[0,)", "Ignored, as every update is recorded", {.flags = 0}),
    bp::Str("eval_strategy", "''", "Ignored, as evaluation.every_iterations decides",
            {.flags = 0, .aliases = "evaluation_strategy"}),
    bp::Str("save_strategy", "''", "Ignored, as checkpoint.every_iterations decides", {.flags = 0}),
    bp::I64("save_total_limit", "0", "[0,)", "Ignored, as the last two checkpoints are kept", {.flags = 0}),
    bp::Str("metric_for_best_model", "''", "Ignored, as report.select names a measure", {.flags = 0}),
    bp::Bool("greater_is_better", "true", "Ignored, as report.select has a direction", {.flags = 0}),
    bp::Bool("overwrite_output_dir", "false", "Ignored, as a run goes on where it was left, and run --fresh begins anew",
             {.flags = 0}),
    bp::Bool("predict_with_generate", "true", "Ignored, as an evaluation always generates", {.flags = 0}),
    bp::Bool("auto_find_batch_size", "false", "Ignored, as on_failure.device_oom: shrink decides", {.flags = 0}),
    bp::Bool("group_by_length", "false", "Ignored, as sort_within_update sorts within an update, which changes no gradient",
             {.flags = 0}),
    bp::I64("dataloader_num_workers", "0", "[0,)", "Ignored, as texts are tokenised once, when the trial starts", {.flags = 0}),
    bp::Bool("torch_compile", "false", "Ignored, as there is no compiler of graphs here", {.flags = 0}),
    bp::Str("fp16_backend", "''", "Ignored, as there is one", {.flags = 0}),
    bp::Bool("use_cpu", "false", "Ignored, as device: cpu says so here", {.flags = 0, .aliases = "no_cuda"}),
};

}  // namespace backplane::seq2seq
