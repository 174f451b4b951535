// The learner's options as read from the experiment file, and what it needs to know of the env.
#pragma once

#include <string>

#include "backplane/learner.hpp"
#include "bart_config.hpp"
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
  GenerateOptions generate;  // max_length 0: the env's
  Schedule schedule;
  double learning_rate, warmup_steps;
  bool mean_of_means, sort, drop_last;
  uint64_t eval_batch_size;
  std::string pretrained, save_pretrained;  // folders; empty: none
};

// Of the folder, or by the options' sizes. Throws bp::ConfigError where they do not fit the env's texts.
BartConfig ChooseConfig(const bp::Config& config, const Options& options, const EnvShape& shape);

// The longest text that is written, the start token included. Throws bp::ConfigError where the env does not take as many
// tokens.
int64_t LongestWritten(const Options& options, const EnvShape& shape);

// Where a folder named by save_pretrained lies: inside the trial's own, so that the trials of a sweep do not write over each
// other. '' stays. Throws bp::ConfigError for one that would lie elsewhere or among the host's files.
std::string InTrialFolder(const bp_host* host, const std::string& name);

// Says so, once for each, where options were set that other trainers have and that change nothing here.
void TellIgnored(const bp_host* host, const bp::Config& config);

// Names that are accepted and ignored, each with the reason.
struct Ignored {
  const char *name, *reason;
};
inline constexpr Ignored kIgnored[] = {
    {"report_to", "monitors are named under monitors"},
    {"logging_dir", "results lie in output.dir"},
    {"logging_strategy", "every update is recorded"},
    {"logging_steps", "every update is recorded"},
    {"eval_strategy", "evaluation.every_iterations decides"},
    {"save_strategy", "checkpoint.every_iterations decides"},
    {"save_total_limit", "the last checkpoint is kept"},
    {"metric_for_best_model", "report.select names a measure"},
    {"greater_is_better", "report.select has a direction"},
    {"overwrite_output_dir", "a run goes on where it was left, run --fresh begins anew"},
    {"predict_with_generate", "an evaluation always generates"},
    {"auto_find_batch_size", "on_failure.device_oom: shrink decides"},
    {"train_sampling_strategy", "items come in random order, and sort_within_update sorts within an update"},
    {"group_by_length", "sort_within_update sorts within an update, which changes no gradient"},
    {"dataloader_num_workers", "texts are tokenised once, when the trial starts"},
    {"torch_compile", "there is no compiler of graphs here"},
    {"fp16_backend", "there is one"},
    {"use_cpu", "device: cpu says so here"},
};

}  // namespace backplane::seq2seq
