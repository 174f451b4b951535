// The learner's table of options and the plugin's entry. Names are those of HuggingFace's TrainingArguments, config.json and
// generation options.
#include "learner.hpp"

namespace backplane::seq2seq {

constexpr bp_param kOwnOptions[] = {
    bp::I64("effective_batch_size", "0", "[0,)",
            "Items of an update; two of this and the next two give the third; 0: what they give", {.unit = "items"}),
    bp::I64("per_device_train_batch_size", "0", "auto|[0,)",
            "Items computed at once; auto: the most that fit; 0: what the other two give, else 8. Memory grows with it",
            {.aliases = "micro_batch", .helps = "ram_near_limit-,out_of_memory-"}),
    bp::I64("gradient_accumulation_steps", "0", "[0,)", "Micro-batches of an update; 0: what the other two give, else 1"),
    bp::I64("per_device_eval_batch_size", "8", "[1,)", "Texts generated for at once",
            {.unit = "items", .aliases = "eval_batch_size"}),
    bp::Enum("loss_normalization", "token", "token|microbatch_mean",
             "What a label token counts: the same in all of the update (token), so that the cut changes nothing, or by its "
             "micro-batch, as the mean of their means"),
    bp::Bool("sort_within_update", "true", "Items of an update are cut by length: less padding, the same gradient"),
    bp::I64("parallel_microbatches", "1", "[1,64]",
            "Micro-batches computed at the same time, as far as there are cores; memory for activations and gradients of each",
            {.helps = "update_bound+"}),
    bp::Bool("dataloader_drop_last", "false", "Leaves out an epoch's last, short update"),
    bp::F64("learning_rate", "5.0e-5", "(0,)", "Largest learning rate of AdamW", {.aliases = "lr"}),
    bp::Enum("lr_scheduler_type", "linear", "linear|cosine|constant|constant_with_warmup",
             "The rate after the warm-up: falls to 0 over the budget, or stays"),
    bp::F64("warmup_steps", "0", "[0,)", "Updates over which the rate rises from 0; below 1 a share of all",
            {.aliases = "warmup_ratio"}),
    bp::F64("weight_decay", "0", "[0,)", "Decay of all weights but biases and LayerNorms"),
    bp::F64("adam_beta1", "0.9", "[0,1)", "Decay of the gradient's mean"),
    bp::F64("adam_beta2", "0.999", "[0,1)", "Decay of the gradient's square"),
    bp::F64("adam_epsilon", "1.0e-8", "(0,)", "Added to the root of the gradient's square"),
    bp::F64("max_grad_norm", "1.0", "[0,)", "Largest gradient norm; 0: no limit", {.aliases = "grad_clip"}),
    bp::F64("label_smoothing_factor", "0", "[0,1)", "Share of a label that is spread over all tokens",
            {.aliases = "label_smoothing"}),
    bp::Bool("gradient_checkpointing", "false", "Layers are computed again for their gradient: less memory, more time",
             {.helps = "ram_near_limit,out_of_memory"}),
    bp::Bool("bf16", "false", "Layers in bfloat16; a CPU needs avx512_bf16 or AMX for it"),
    bp::Bool("fp16", "false", "Layers in float16; refused: needs a scaled loss"),
    bp::Enum("device", "auto", "auto|cpu|cuda", "Where all is computed; auto: on the trial's GPU, if it was granted one"),

    bp::Path("model_name_or_path", "''", "HuggingFace folder of a BART to begin with; empty: from nothing, by the sizes below",
             {.flags = BP_PARAM_DATA}),
    bp::Str("save_pretrained", "''",
            "Folder inside the trial's own where each checkpoint also leaves the model as HuggingFace's; empty: nowhere",
            {.flags = 0}),
    bp::I64("d_model", "0", "[0,)", "Width of the layers; 0: 256, or the folder's"),
    bp::I64("encoder_layers", "0", "[0,)", "Layers that read; 0: 3, or the folder's"),
    bp::I64("decoder_layers", "0", "[0,)", "Layers that write; 0: 3, or the folder's"),
    bp::I64("encoder_attention_heads", "0", "[0,)", "Heads of each; divide d_model; 0: 4, or the folder's"),
    bp::I64("decoder_attention_heads", "0", "[0,)", "Heads of each; divide d_model; 0: 4, or the folder's"),
    bp::I64("encoder_ffn_dim", "0", "[0,)", "Hidden width of their feed-forward parts; 0: 1024, or the folder's"),
    bp::I64("decoder_ffn_dim", "0", "[0,)", "Hidden width of their feed-forward parts; 0: 1024, or the folder's"),
    bp::I64("max_position_embeddings", "0", "[0,)", "Longest text; 0: the env's, or the folder's"),
    bp::F64("dropout", "-1", "[-1,1)", "Dropout of embeddings and of what layers add; -1: 0.1, or the folder's"),
    bp::F64("attention_dropout", "-1", "[-1,1)", "Dropout of attention; -1: 0, or the folder's"),
    bp::F64("activation_dropout", "-1", "[-1,1)", "Dropout within feed-forward parts; -1: 0, or the folder's"),
    bp::F64("init_std", "0.02", "(0,1)", "Deviation of the first weights"),
    bp::Bool("scale_embedding", "false", "Multiplies embeddings by the root of d_model"),

    bp::I64("generation_num_beams", "auto", "auto|[1,64]", "Beams; 1: greedy; auto: the folder's, else 1",
            {.aliases = "num_beams"}),
    bp::I64("generation_max_length", "auto", "auto|[0,)",
            "Most tokens of a text, the start token included; 0: what the env takes; auto: the folder's, as far as the env "
            "takes it",
            {.unit = "tokens", .aliases = "generate_max_length"}),
    bp::F64("length_penalty", "auto", "auto|(,)",
            "Exponent of the length that a beam's score is divided by; auto: the folder's, else 1"),
    bp::I64("no_repeat_ngram_size", "auto", "auto|[0,)",
            "No n-gram of this size comes twice; 0: off; auto: the folder's, else 0"),
    bp::I64("min_length", "auto", "auto|[0,)", "Least tokens of a text, the start token included; auto: the folder's, else 0",
            {.unit = "tokens"}),
    bp::Enum("early_stopping", "auto", "auto|false|true|never",
             "When beam search ends, as in transformers; auto: the folder's, else false"),

    // Names of the field for what is the host's.
    bp::I64("max_steps", "1", "[1,)", "Updates in all", {.aliases = "budget.iterations"}),
    bp::I64("num_train_epochs", "1", "[1,)", "Passes over the data", {.aliases = "budget.epochs"}),
    bp::I64("eval_steps", "0", "[0,)", "Updates from one evaluation to the next", {.aliases = "evaluation.every_iterations"}),
    bp::Bool("eval_on_start", "false", "An evaluation before the first update", {.flags = 0, .aliases = "evaluation.at_start"}),
    bp::I64("save_steps", "0", "[0,)", "Updates from one checkpoint to the next", {.aliases = "checkpoint.every_iterations"}),
    bp::Str("output_dir", "''", "The results folder", {.flags = 0, .aliases = "output.dir"}),
    bp::Enum("on_oom", "shrink", "shrink|fail", "What follows where an update does not fit",
             {.flags = 0, .aliases = "on_failure.device_oom"}),
    bp::F64("memory_budget_mb", "0", "[0,)", "Memory of the device the CPU behaves as",
            {.flags = 0, .unit = "MB", .aliases = "resources.device_memory"}),

    // Of other trainers: what this one does always or refuses (options.cpp). What it ignores is in options.hpp.
    bp::Enum("optim", "adamw_torch", "adamw_torch|adamw_torch_fused|adamw_hf", "All of them are the AdamW that there is",
             {.flags = 0}),
    bp::Bool("load_best_model_at_end", "false", "Refused where true: the last weights are kept", {.flags = 0}),
    bp::I64("data_seed", "0", "", "Refused: the data's order follows the experiment's seed", {.flags = 0}),
    bp::Str("resume_from_checkpoint", "''", "Refused: a run goes on by itself", {.flags = 0}),
};

// The learner's own and those that it ignores.
struct AllOptions {
  static constexpr size_t kOwn = sizeof kOwnOptions / sizeof(bp_param), kRest = sizeof kIgnored / sizeof(bp_param);
  constexpr AllOptions() {
    for (size_t i = 0; i < kOwn; ++i) table[i] = kOwnOptions[i];
    for (size_t i = 0; i < kRest; ++i) table[kOwn + i] = kIgnored[i];
  }
  bp_param table[kOwn + kRest] = {};
};
inline constexpr AllOptions kAllOptions;

class Seq2seq : public Learner, public bp::LearnerPlugin<Seq2seq> {
 public:
  static constexpr bp::About kAbout{.id = "learner.seq2seq",
                                    .version = "1.0.0",
                                    .summary = "Encoder-decoder of BART's shape that learns to write one text for another",
                                    .flags = BP_FLAG_ROWS_CONCURRENT};
  static constexpr auto& kOptions = kAllOptions.table;
  using Learner::Learner;
};

}  // namespace backplane::seq2seq

using backplane::seq2seq::Seq2seq;
BP_PLUGINS(Seq2seq);
