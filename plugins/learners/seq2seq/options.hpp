// The learner's options, and the properties of the env that it needs. Names are from HuggingFace's TrainingArguments,
// config.json and generation options.
#pragma once

#include <filesystem>
#include <string>

#include "backplane/learner.hpp"
#include "bart_config.hpp"
#include "generation_config.hpp"
#include "ignored.hpp"
#include "model.hpp"
#include "schedule.hpp"

namespace backplane::seq2seq {

enum class LossNormalization { kToken, kMicrobatchMean };
constexpr auto WordsOf(LossNormalization) {
  return bp::Words<LossNormalization>(
      {{"token", LossNormalization::kToken}, {"microbatch_mean", LossNormalization::kMicrobatchMean}});
}
enum class DeviceKind { kCpu, kCuda };
constexpr auto WordsOf(DeviceKind) { return bp::Words<DeviceKind>({{"cpu", DeviceKind::kCpu}, {"cuda", DeviceKind::kCuda}}); }

// Items of an update and of a micro-batch.
struct BatchSizes {
  uint64_t group = 0, micro = 0;  // micro 0: the largest that fits, which the host finds
};

// The network options of the file; 0 (for a dropout -1) if not set.
struct NetworkOptions : BartConfig {
  NetworkOptions();
};

// Each option belongs to the struct of its part, or to this one.
struct Options : ModelOptions, NetworkOptions, GenerationConfig {
  uint64_t effective_batch_size = 0, gradient_accumulation_steps = 0, eval_batch_size = 8;
  std::optional<int64_t> per_device_train_batch_size = 0;
  LossNormalization loss_normalization = LossNormalization::kToken;
  bool sort = true, drop_last = false;
  double learning_rate = 5e-5, warmup_steps = 0;
  Schedule schedule = Schedule::kLinear;
  std::optional<DeviceKind> wanted_device;
  std::filesystem::path pretrained;  // model folders; empty: none
  std::string save_pretrained;
  // An error if set.
  bool load_best_model_at_end = false;
  int64_t data_seed = 0;
  std::string resume_from_checkpoint;

  // Derived by ReadOptions.
  BatchSizes sizes;
  bool mean_of_means() const { return loss_normalization == LossNormalization::kMicrobatchMean; }
};

inline constexpr bp::OptionTable kOptions{
    bp::Opt("effective_batch_size", &Options::effective_batch_size, "[0,)",
            "Items per update; 0: product of the next two options", {.unit = "items"}),
    bp::Opt("per_device_train_batch_size", &Options::per_device_train_batch_size, "auto|[0,)",
            "Items per micro-batch; auto: as many as fit; 0: from the other two, else 8. Memory grows with it",
            {.aliases = "micro_batch",
             .helps = "ram_near_limit-,out_of_memory-,vram_near_limit-,gpu_idle+,gpu_saturated+,launch_bound+"}),
    bp::Opt("gradient_accumulation_steps", &Options::gradient_accumulation_steps, "[0,)",
            "Micro-batches per update; 0: from the other two, else 1", {.helps = "slow_updates-"}),
    bp::Opt("per_device_eval_batch_size", &Options::eval_batch_size, "[1,)", "Texts generated at the same time",
            {.unit = "items", .aliases = "eval_batch_size"}),
    bp::Opt("loss_normalization", &Options::loss_normalization,
            "Weight of label tokens: equal in the whole update (token), or the mean of micro-batch means (microbatch_mean)"),
    bp::Opt("sort_within_update", &Options::sort, "Groups the items of an update by length: less padding, the same gradient"),
    bp::Opt("parallel_microbatches", &Options::workers, "[1,64]",
            "Micro-batches computed at the same time, at most one per core; each needs memory for activations and gradients",
            {.helps = "update_bound+,slow_updates+"}),
    bp::Opt("dataloader_drop_last", &Options::drop_last, "Leaves out an epoch's last, short update"),
    bp::Opt("learning_rate", &Options::learning_rate, "(0,)", "Largest learning rate of AdamW", {.aliases = "lr"}),
    bp::Opt("lr_scheduler_type", &Options::schedule, "Rate after the warm-up: falls to 0 over the budget, or stays constant",
            {.reads_budget = "linear|cosine"}),
    bp::Opt("warmup_steps", &Options::warmup_steps, "[0,)",
            "Updates over which the rate rises from 0; below 1: a share of all updates",
            {.aliases = "warmup_ratio", .reads_budget = "(0,1)"}),
    bp::Opt("weight_decay", &Options::weight_decay, "[0,)", "Decay of all weights except biases and LayerNorms"),
    bp::Opt("adam_beta1", &Options::beta1, "[0,1)", "Decay of the gradient's mean"),
    bp::Opt("adam_beta2", &Options::beta2, "[0,1)", "Decay of the gradient's square"),
    bp::Opt("adam_epsilon", &Options::epsilon, "(0,)", "Added to the root of the gradient's square"),
    bp::Opt("max_grad_norm", &Options::max_grad_norm, "[0,)", "Largest gradient norm; 0: no limit", {.aliases = "grad_clip"}),
    bp::Opt("label_smoothing_factor", &Options::label_smoothing, "[0,1)", "Share of a label that is spread over all tokens",
            {.aliases = "label_smoothing"}),
    bp::Opt("gradient_checkpointing", &Options::recompute, "Recomputes layers for their gradient: less memory, more time",
            {.helps = "ram_near_limit,out_of_memory,vram_near_limit"}),
    bp::Opt("bf16", &Options::bf16, "Layers in bfloat16; a CPU needs avx512_bf16 or AMX for it",
            {.helps = "gpu_idle,gpu_saturated"}),
    bp::Opt("fp16", &Options::fp16, "Layers in float16 with a scaled loss, on a GPU; device: cpu emulates it, slowly"),
    bp::Opt("device", &Options::wanted_device, "Device of all computations; auto: the trial's GPU, if it has one"),

    bp::Opt("model_name_or_path", &Options::pretrained,
            "Hugging Face folder of the initial BART model; empty: random weights with the sizes below",
            {.flags = BP_PARAM_DATA}),
    bp::Opt("save_pretrained", &Options::save_pretrained,
            "Folder in the trial's folder for a Hugging Face model with each checkpoint; empty: none"),
    bp::Opt("d_model", &Options::d_model, "[0,)", "Width of the layers; 0: 256, or the folder's"),
    bp::Opt("encoder_layers", &Options::encoder_layers, "[0,)", "Encoder layers; 0: 3, or the folder's"),
    bp::Opt("decoder_layers", &Options::decoder_layers, "[0,)", "Decoder layers; 0: 3, or the folder's"),
    bp::Opt("encoder_attention_heads", &Options::encoder_attention_heads, "[0,)",
            "Attention heads per layer, a divisor of d_model; 0: 4, or the folder's"),
    bp::Opt("decoder_attention_heads", &Options::decoder_attention_heads, "[0,)",
            "Attention heads per layer, a divisor of d_model; 0: 4, or the folder's"),
    bp::Opt("encoder_ffn_dim", &Options::encoder_ffn_dim, "[0,)",
            "Hidden width of the feed-forward parts; 0: 1024, or the folder's"),
    bp::Opt("decoder_ffn_dim", &Options::decoder_ffn_dim, "[0,)",
            "Hidden width of the feed-forward parts; 0: 1024, or the folder's"),
    bp::Opt("max_position_embeddings", &Options::max_position_embeddings, "[0,)",
            "Longest text; 0: the env's, or the folder's"),
    bp::Opt("dropout", &Options::dropout, "[-1,1)", "Dropout of embeddings and of residual branches; -1: 0.1, or the folder's"),
    bp::Opt("attention_dropout", &Options::attention_dropout, "[-1,1)", "Dropout of attention; -1: 0, or the folder's"),
    bp::Opt("activation_dropout", &Options::activation_dropout, "[-1,1)",
            "Dropout within feed-forward parts; -1: 0, or the folder's"),
    bp::Opt("init_std", &Options::init_std, "(0,1)", "Standard deviation of the initial weights"),
    bp::Opt("scale_embedding", &Options::scale_embedding, "Multiplies embeddings by the root of d_model"),

    bp::Opt("generation_num_beams", &Options::num_beams, "auto|[1,64]", "Beams; 1: greedy; auto: the folder's, else 1",
            {.aliases = "num_beams"}),
    bp::Opt("generation_max_length", &Options::max_length, "auto|[0,)",
            "Maximum tokens of a text, with the start token; 0: the env's limit; auto: the folder's, up to the env's limit",
            {.unit = "tokens", .aliases = "generate_max_length"}),
    bp::Opt("length_penalty", &Options::length_penalty, "auto|(,)",
            "Beam scores are divided by the length to this power; auto: the folder's, else 1"),
    bp::Opt("no_repeat_ngram_size", &Options::no_repeat_ngram_size, "auto|[0,)",
            "Size of n-grams that may not repeat; 0: off; auto: the folder's, else 0"),
    bp::Opt("min_length", &Options::min_length, "auto|[0,)",
            "Minimum tokens of a text, with the start token; auto: the folder's, else 0", {.unit = "tokens"}),
    bp::Opt("early_stopping", &Options::early_stopping,
            "End of beam search, as in transformers; auto: the folder's, else false"),

    // Common names for settings of the host.
    bp::Unread("max_steps", 1, "[1,)", "Updates in total", {.aliases = "budget.iterations"}),
    bp::Unread("num_train_epochs", 1, "[1,)", "Passes over the data", {.aliases = "budget.epochs"}),
    bp::Unread("eval_steps", 0, "[0,)", "Updates from one evaluation to the next", {.aliases = "evaluation.every_iterations"}),
    bp::Unread("eval_on_start", false, "An evaluation before the first update", {.aliases = "evaluation.at_start"}),
    bp::Unread("save_steps", 0, "[0,)", "Updates from one checkpoint to the next", {.aliases = "checkpoint.every_iterations"}),
    bp::Unread("output_dir", "", "The results folder", {.aliases = "output.dir"}),
    bp::Unread("on_oom", "shrink", "shrink|fail", "Action if an update does not fit into memory",
               {.aliases = "on_failure.device_oom"}),
    bp::Unread("memory_budget_mb", 0.0, "[0,)", "Device memory that the CPU simulates",
               {.unit = "MB", .aliases = "resources.device_memory"}),

    // Other trainers' options: implied, rejected or ignored.
    bp::Unread("optim", "adamw_torch", "adamw_torch|adamw_torch_fused|adamw_hf", "All values mean the same AdamW"),
    bp::Opt("load_best_model_at_end", &Options::load_best_model_at_end, "Rejected if true, because the last weights are kept"),
    bp::Opt("data_seed", &Options::data_seed, "", "Rejected, because the data order follows the experiment's seed"),
    bp::Opt("resume_from_checkpoint", &Options::resume_from_checkpoint, "Rejected, because a run resumes by itself"),
    IgnoredNames(),
};

// Two of effective_batch_size, per_device_train_batch_size and gradient_accumulation_steps determine the third. `has_cuda`: a
// GPU is available; `granted`: their number in resources.gpus. Throws bp::ConfigError for contradictions and for features that
// the device lacks.
Options ReadOptions(const bp::Config& config, bool has_cuda, uint32_t granted = 0);

struct EnvShape {
  explicit EnvShape(const bp_env_spec* env);  // throws bp::Unsupported with a reason
  std::string source, source_length, label, label_length, action;
  int64_t vocabulary, max_source, max_label, max_generated;
  bp_channel action_channel;  // borrowed, only for the constructor
};

// The network and its folder's generation settings.
struct Chosen {
  BartConfig network;
  GenerationConfig generation;
};
// From the folder, or from the sizes in the options. Throws bp::ConfigError if they do not fit the env's texts.
Chosen ChooseConfig(const Options& options, const EnvShape& shape);

// Generation settings from the options; for `auto` from the folder, else transformers' defaults and the env's maximum length.
// Throws bp::ConfigError if an option requests more tokens than the env accepts.
GenerateOptions ChooseGeneration(const GenerationConfig& options, const GenerationConfig& folder, const EnvShape& shape);

// The path of save_pretrained's folder: inside the trial's own, so that trials of a sweep do not overwrite each other. '' stays
// empty. Throws bp::ConfigError for a path outside it or among the host's files.
std::string InTrialFolder(const bp_host* host, const std::string& name);

// Logs each option that other trainers have and that has no effect here, if it was set.
void TellIgnored(const bp_host* host, const bp::Config& config);

}  // namespace backplane::seq2seq
