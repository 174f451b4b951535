#include "options.hpp"

#include <cpuid.h>

#include <algorithm>
#include <cmath>

#include "bart_fields.hpp"
#include "pretrained.hpp"

namespace backplane::seq2seq {
namespace {

bool IsSet(const bp::Config& c, const char* path) { return c.Where(path) != "default"; }

bool HasBf16() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool avx512_bf16 = __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 5 & 1);
  return avx512_bf16 || (__get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 22 & 1));  // AMX
}

Schedule ScheduleOf(const std::string& name) {
  if (name == "cosine") return Schedule::kCosine;
  if (name == "constant") return Schedule::kConstant;
  return name == "linear" ? Schedule::kLinear : Schedule::kConstantWithWarmup;
}

EarlyStopping EarlyStoppingOf(const std::string& name) {
  return name == "never" ? EarlyStopping::kNever : name == "true" ? EarlyStopping::kYes : EarlyStopping::kNo;
}

}  // namespace

BatchSizes::BatchSizes(const bp::Config& c) {
  const bool has_group = IsSet(c, "effective_batch_size"), has_micro = IsSet(c, "per_device_train_batch_size"),
             has_steps = IsSet(c, "gradient_accumulation_steps");
  const auto steps = static_cast<uint64_t>(c.I64("gradient_accumulation_steps"));
  micro = static_cast<uint64_t>(c.I64OrWord("per_device_train_batch_size").value_or(0));
  group = static_cast<uint64_t>(c.I64("effective_batch_size"));
  if (has_group && has_steps && !has_micro) micro = (group + steps - 1) / steps;
  if (!has_group && micro == 0)
    throw bp::ConfigError("per_device_train_batch_size: auto needs effective_batch_size, the items of an update");
  if (!has_group) group = micro * steps;
  if (has_group && has_steps && micro > 0 && (group + micro - 1) / micro != steps) {
    throw bp::ConfigError("effective_batch_size " + std::to_string(group) + ", per_device_train_batch_size " +
                          std::to_string(micro) + " and gradient_accumulation_steps " + std::to_string(steps) +
                          " contradict each other; leave out one, any two give the third");
  }
  micro = std::min(micro, group);
  if (c.Str("loss_normalization") == "microbatch_mean" && micro > 0 && group % micro != 0) {
    throw bp::ConfigError("loss_normalization: microbatch_mean needs micro-batches of one size, but " + std::to_string(group) +
                          " items are no multiple of " + std::to_string(micro));
  }
}

Options::Options(const bp::Config& c)
    : sizes(c),
      model{.workers = c.I64("parallel_microbatches"),
            .recompute = c.Bool("gradient_checkpointing"),
            .bf16 = c.Bool("bf16"),
            .label_smoothing = c.F64("label_smoothing_factor"),
            .beta1 = c.F64("adam_beta1"),
            .beta2 = c.F64("adam_beta2"),
            .epsilon = c.F64("adam_epsilon"),
            .weight_decay = c.F64("weight_decay"),
            .max_grad_norm = c.F64("max_grad_norm")},
      generate{.num_beams = c.I64("generation_num_beams"),
               .min_length = c.I64("min_length"),
               .no_repeat_ngram_size = c.I64("no_repeat_ngram_size"),
               .length_penalty = c.F64("length_penalty"),
               .early_stopping = EarlyStoppingOf(c.Str("early_stopping"))},
      schedule(ScheduleOf(c.Str("lr_scheduler_type"))),
      learning_rate(c.F64("learning_rate")),
      warmup_steps(c.F64("warmup_steps")),
      mean_of_means(c.Str("loss_normalization") == "microbatch_mean"),
      sort(c.Bool("sort_within_update")),
      drop_last(c.Bool("dataloader_drop_last")),
      eval_batch_size(static_cast<uint64_t>(c.I64("per_device_eval_batch_size"))),
      pretrained(c.Str("model_name_or_path")),
      save_pretrained(c.Str("save_pretrained")) {
  if (c.Bool("fp16")) throw bp::ConfigError("fp16 needs a GPU, and this learner runs on the CPU; bf16 is for CPUs");
  if (model.bf16 && !HasBf16())
    throw bp::ConfigError("bf16 needs a CPU with avx512_bf16 or AMX, this one has neither: it would only be slower");
}

BartConfig ChooseConfig(const bp::Config& c, const Options& options, const EnvShape& shape) {
  BartConfig config;
  try {
    if (!options.pretrained.empty()) {
      config = ReadConfig(options.pretrained + "/config.json");
      for (const IntegerField& size : kLayerSizes) {
        if (IsSet(c, size.name))
          throw bp::ConfigError(std::string(size.name) + " is that of the model in model_name_or_path; leave it out");
      }
    } else {
      config.vocab_size = shape.vocabulary;
      for (const IntegerField& size : kLayerSizes) config.*size.at = c.I64(size.name);
      config.scale_embedding = c.Bool("scale_embedding"), config.init_std = c.F64("init_std");
      config.max_position_embeddings = c.I64("max_position_embeddings");
      if (config.max_position_embeddings == 0)
        config.max_position_embeddings = std::max({shape.max_source, shape.max_label, shape.max_generated});
    }
    for (const ShareField& dropout : kDropouts) {
      if (options.pretrained.empty() || IsSet(c, dropout.name)) config.*dropout.at = c.F64(dropout.name);
    }
    config.Check();
  } catch (const bp::Error&) {
    throw;
  } catch (const std::exception& e) {
    throw bp::ConfigError(e.what());
  }
  if (config.vocab_size != shape.vocabulary) {
    throw bp::ConfigError("the env's tokens are 0 .. " + std::to_string(shape.vocabulary - 1) + ", the model's vocab_size is " +
                          std::to_string(config.vocab_size) + ": the tokenizer is not the model's");
  }
  const int64_t longest = std::max({shape.max_source, shape.max_label, shape.max_generated});
  if (longest > config.max_position_embeddings) {
    throw bp::ConfigError("the env's texts have up to " + std::to_string(longest) +
                          " tokens, the model's max_position_embeddings is " + std::to_string(config.max_position_embeddings));
  }
  return config;
}

void TellIgnored(const bp_host* host, const bp::Config& c) {
  for (const Ignored& each : kIgnored) {
    if (IsSet(c, each.name)) host->log(host, BP_LOG_WARN, (std::string(each.name) + " is ignored: " + each.reason).c_str());
  }
}

namespace {

const bp_channel& NeedTokens(const bp_env_spec* env, uint16_t role, const char* name) {
  const bp_channel* channel = bp::FindChannel(env, role, name);
  if (!channel) throw bp::Unsupported(std::string("needs one ") + name + " channel, the env has none");
  if (channel->space != BP_SPACE_TOKENS || channel->ndim != 1 || channel->scope != BP_SCOPE_ROW ||
      !bp::SameDtype(channel->dtype, bp::DtypeOf<int32_t>())) {
    throw bp::Unsupported(std::string("needs int32 TOKENS in a list per row as ") + name + ", channel '" + channel->name +
                          "' is not");
  }
  return *channel;
}

std::string NeedLength(const bp_env_spec* env, const bp_channel& of) {
  const std::string wanted = std::string(of.name) + "_length";
  for (uint64_t i = 0; i < env->n_channels; ++i) {
    const auto* at = reinterpret_cast<const char*>(env->channels) + i * env->channels->struct_size;
    const auto* channel = reinterpret_cast<const bp_channel*>(at);
    if (channel->role == BP_ROLE_LENGTH && wanted == channel->name && bp::SameDtype(channel->dtype, bp::DtypeOf<int32_t>()))
      return wanted;
  }
  throw bp::Unsupported("needs an int32 LENGTH channel '" + wanted + "', the env has none");
}

}  // namespace

EnvShape::EnvShape(const bp_env_spec* env) {
  const bp_channel &seen = NeedTokens(env, BP_ROLE_OBS, "OBS"), &wanted = NeedTokens(env, BP_ROLE_LABEL, "LABEL");
  action_channel = NeedTokens(env, BP_ROLE_ACTION, "ACTION");
  if (!bp::FindChannel(env, BP_ROLE_WEIGHT, "WEIGHT"))
    throw bp::Unsupported("needs a WEIGHT channel with the label tokens of an item, the env has none");
  source = seen.name, label = wanted.name, action = action_channel.name;
  source_length = NeedLength(env, seen), label_length = NeedLength(env, wanted);
  vocabulary = seen.nvec[0];
  max_source = seen.shape[0], max_label = wanted.shape[0], max_generated = action_channel.shape[0];
  for (const bp_channel* each : {&wanted, static_cast<const bp_channel*>(&action_channel)}) {
    if (each->nvec[0] != vocabulary)
      throw bp::Unsupported("needs the same tokens in channels '" + source + "' and '" + each->name + "'");
  }
}

}  // namespace backplane::seq2seq
