#include "options.hpp"

#include <cpuid.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "bart_fields.hpp"
#include "pretrained.hpp"

namespace backplane::seq2seq {
namespace {

bool HasBf16() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool avx512_bf16 = __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 5 & 1);
  return avx512_bf16 || (__get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 22 & 1));  // AMX
}

bp_device DeviceOf(const Options& o, bool has_cuda, uint32_t granted) {
  if (granted > 1)
    throw bp::ConfigError("resources.gpus: expected at most 1, which is all that the learner uses, got " +
                          std::to_string(granted));
  if (granted > 0 && !o.wanted_device && !has_cuda)
    throw bp::ConfigError(
        "device: auto: expected a LibTorch built for the GPU that resources.gpus grants, got one without CUDA; set "
        "resources.gpus: 0 to train on the CPU");
  if (o.wanted_device == DeviceKind::kCuda && !has_cuda)
    throw bp::ConfigError(
        "device: cuda: expected a GPU and a LibTorch built for it, got none; grant a GPU with resources.gpus or --gpus");
  return {o.wanted_device != DeviceKind::kCpu && has_cuda ? BP_DEVICE_CUDA : BP_DEVICE_CPU, 0};
}

void RefuseWhatTheDeviceCannot(const Options& o) {
  const bool gpu = o.device.type == BP_DEVICE_CUDA;
  if (o.fp16 && o.bf16) throw bp::ConfigError("fp16: expected fp16 or bf16, got both");
  if (o.fp16 && !gpu && o.wanted_device != DeviceKind::kCpu)
    throw bp::ConfigError("fp16: expected a GPU (resources.gpus), got none; device: cpu emulates it, slowly");
  if (o.bf16 && !gpu && !HasBf16())
    throw bp::ConfigError("bf16: expected a CPU with avx512_bf16 or AMX, got one without, on which it would only be slower");
  if (gpu && o.workers > 1) {
    throw bp::ConfigError("parallel_microbatches: " + std::to_string(o.workers) +
                          " run at the same time only on a CPU; leave it out, or set device: cpu");
  }
}

// Rejects options that would silently give different results than in the original trainer.
void RefuseWhatOthersDo(const Options& o) {
  if (o.load_best_model_at_end)
    throw bp::ConfigError(
        "load_best_model_at_end: the learner keeps the last weights. Leave it out, and set checkpoint.best to eval/loss with "
        "the direction minimize, which keeps the best weights, too");
  if (o.data_seed != 0)
    throw bp::ConfigError("data_seed: the order of items follows the experiment's seed; leave it out and set seed");
  if (!o.resume_from_checkpoint.empty())
    throw bp::ConfigError(
        "resume_from_checkpoint: leave it out, because the same command resumes from the trial's checkpoint; to start with "
        "the weights of a different run, set model_name_or_path");
}

// Rejects options next to a folder that contradict it, because they would have no effect. Defaults count as not set, because
// the host writes out all options.
void RefuseWhatTheFolderDecides(const NetworkOptions& said, const BartConfig& folder) {
  const auto refuse = [](const char* name, const std::string& own) {
    throw bp::ConfigError(std::string(name) + ": expected " + own + ", as in model_name_or_path; leave it out");
  };
  for (const IntegerField& size : kOptionalSizes) {
    const int64_t wanted = said.*size.at, own = folder.*size.at;
    if (wanted > 0 && wanted != own) refuse(size.name, std::to_string(own));
  }
  if (said.init_std != BartConfig().init_std && said.init_std != folder.init_std)
    refuse("init_std", std::to_string(folder.init_std));
  if (said.scale_embedding && !folder.scale_embedding) refuse("scale_embedding", "false");
}

void CheckAutoSize(const Options& o) {
  if (o.effective_batch_size == 0)
    throw bp::ConfigError("per_device_train_batch_size: auto: expected effective_batch_size, got none");
  if (o.gradient_accumulation_steps > 0)
    throw bp::ConfigError(
        "per_device_train_batch_size: auto determines gradient_accumulation_steps too; "
        "leave that out, got " +
        std::to_string(o.gradient_accumulation_steps));
  // Only one size is tried at a time: whether several fit together depends on how their peaks coincide.
  if (o.workers > 1)
    throw bp::ConfigError("per_device_train_batch_size: auto finds the size of one micro-batch, not of " +
                          std::to_string(o.workers) +
                          " at the same time (parallel_microbatches); set a size, or leave out parallel_microbatches");
  if (o.mean_of_means())
    throw bp::ConfigError(
        "per_device_train_batch_size: auto would make the objective depend on the device's memory under loss_normalization: "
        "microbatch_mean; set a size, or loss_normalization: token");
}

[[noreturn]] void RefuseParts(const BatchSizes& sizes, uint64_t steps, uint64_t parts, bool all_but_micro) {
  const std::string group = std::to_string(sizes.group), micro = std::to_string(sizes.micro);
  if (all_but_micro)
    throw bp::ConfigError("effective_batch_size " + group + " cannot be split into gradient_accumulation_steps " +
                          std::to_string(steps) + ": micro-batches of " + micro + " items give " + std::to_string(parts) +
                          "; set gradient_accumulation_steps: " + std::to_string(parts) +
                          ", or a different effective_batch_size");
  throw bp::ConfigError("effective_batch_size " + group + ", per_device_train_batch_size " + micro +
                        " and gradient_accumulation_steps " + std::to_string(steps) +
                        " contradict each other; leave out one of the three");
}

// 0 means derived from the other two, also in a file with all options written out.
BatchSizes SizesOf(const Options& o) {
  constexpr uint64_t kItems = 8;  // default
  const uint64_t steps = o.gradient_accumulation_steps;
  const bool given = o.per_device_train_batch_size.has_value(), mean_of_means = o.mean_of_means();
  uint64_t group = o.effective_batch_size, micro = static_cast<uint64_t>(o.per_device_train_batch_size.value_or(0));
  if (!given) CheckAutoSize(o);
  const bool all_but_micro = given && micro == 0 && group > 0 && steps > 0;
  if (given && micro == 0) micro = group > 0 && steps > 0 ? (group + steps - 1) / steps : kItems;
  if (group == 0) group = micro * std::max<uint64_t>(steps, 1);
  const uint64_t parts = micro > 0 ? (group + micro - 1) / micro : 0;
  if (steps > 0 && parts != steps) RefuseParts({group, micro}, steps, parts, all_but_micro);
  micro = std::min(micro, group);
  if (mean_of_means && group % micro != 0) {
    throw bp::ConfigError("loss_normalization: microbatch_mean: expected micro-batches of one size, but " +
                          std::to_string(group) + " items are not a multiple of " + std::to_string(micro));
  }
  return {group, micro};
}

}  // namespace

NetworkOptions::NetworkOptions() {
  for (const IntegerField& size : kOptionalSizes) this->*size.at = 0;
  for (const ShareField& share : kDropouts) this->*share.at = -1;
}

Options ReadOptions(const bp::Config& config, bool has_cuda, uint32_t granted) {
  Options o = kOptions.Read(config);
  o.sizes = SizesOf(o);
  o.device = DeviceOf(o, has_cuda, granted);
  RefuseWhatTheDeviceCannot(o);
  RefuseWhatOthersDo(o);
  return o;
}

namespace {

void CheckFits(const BartConfig& config, const EnvShape& shape) {
  if (config.forced_bos_token_id == config.eos_token_id) {
    throw bp::ConfigError("model_name_or_path: forced_bos_token_id and eos_token_id are both " +
                          std::to_string(config.eos_token_id) + ", so every text would end at its start");
  }
  if (config.vocab_size != shape.vocabulary) {
    throw bp::ConfigError("the env's tokens are 0 .. " + std::to_string(shape.vocabulary - 1) +
                          ", but the model's vocab_size is " + std::to_string(config.vocab_size) +
                          "; use the model's tokenizer");
  }
  const int64_t longest = std::max({shape.max_source, shape.max_label, shape.max_generated});
  if (longest > config.max_position_embeddings) {
    throw bp::ConfigError("the env's texts have up to " + std::to_string(longest) +
                          " tokens, but the model's max_position_embeddings is " +
                          std::to_string(config.max_position_embeddings));
  }
}

}  // namespace

Chosen ChooseConfig(const Options& options, const EnvShape& shape) {
  Chosen chosen;
  BartConfig& config = chosen.network;
  try {
    if (!options.pretrained.empty()) {
      if (!std::filesystem::is_directory(options.pretrained))
        throw bp::ConfigError("model_name_or_path: no folder '" + options.pretrained.string() +
                              "'; models are read from this machine and never downloaded");
      config = ReadConfig(options.pretrained / "config.json");
      RefuseWhatTheFolderDecides(options, config);
      chosen.generation = ReadGenerationConfig(options.pretrained, &config);
    } else {
      config.vocab_size = shape.vocabulary;
      for (const IntegerField& size : kLayerSizes) config.*size.at = options.*size.at > 0 ? options.*size.at : size.alone;
      config.scale_embedding = options.scale_embedding, config.init_std = options.init_std;
      config.max_position_embeddings = options.max_position_embeddings;
      if (config.max_position_embeddings == 0)
        config.max_position_embeddings = std::max({shape.max_source, shape.max_label, shape.max_generated});
    }
    for (const ShareField& dropout : kDropouts) {
      const double said = options.*dropout.at;
      if (said < 0 && said != -1)
        throw bp::ConfigError(std::string(dropout.name) + ": expected a share of 0 or more, or -1 for the model's, got " +
                              std::to_string(said));
      if (said >= 0 || options.pretrained.empty()) config.*dropout.at = said >= 0 ? said : dropout.alone;
    }
    config.CheckSizes();
  } catch (const bp::Error&) {
    throw;
  } catch (const std::exception& e) {
    throw bp::ConfigError(e.what());
  }
  CheckFits(config, shape);
  return chosen;
}

GenerateOptions ChooseGeneration(const GenerationConfig& options, const GenerationConfig& folder, const EnvShape& shape) {
  const auto choose = [&](auto field, const auto& alone) {
    const auto &said = options.*field, &own = folder.*field;
    return said ? *said : own.value_or(alone);
  };
  const int64_t most = shape.max_generated + 1;
  const GenerateOptions none;
  GenerateOptions chosen{.num_beams = choose(&GenerationConfig::num_beams, none.num_beams),
                         .max_length = std::min(folder.max_length.value_or(most), most),
                         .min_length = choose(&GenerationConfig::min_length, none.min_length),
                         .no_repeat_ngram_size = choose(&GenerationConfig::no_repeat_ngram_size, none.no_repeat_ngram_size),
                         .length_penalty = choose(&GenerationConfig::length_penalty, none.length_penalty),
                         .early_stopping = choose(&GenerationConfig::early_stopping, none.early_stopping)};
  if (!options.max_length) return chosen;
  const int64_t wanted = *options.max_length;
  if (wanted > most) {
    throw bp::ConfigError("generation_max_length: expected at most " + std::to_string(most) + " (the env's " +
                          std::to_string(shape.max_generated) + " tokens and the start token), got " + std::to_string(wanted) +
                          "; raise the env's length of a generated text");
  }
  chosen.max_length = wanted > 0 ? wanted : most;
  return chosen;
}

std::string InTrialFolder(const bp_host* host, const std::string& name) {
  if (name.empty()) return name;
  const std::filesystem::path path = std::filesystem::path(name).lexically_normal();
  if (path.is_absolute() || *path.begin() == "..") {
    throw bp::ConfigError("save_pretrained: expected a name inside the trial's folder, such as 'model', got '" + name +
                          "', where the trials of a sweep would overwrite each other");
  }
  const std::string first = *path.begin();
  if (first == "." || first == "checkpoint" || first == "trial.json" || first.starts_with("attempt-") ||
      first.starts_with("replay-")) {
    throw bp::ConfigError("save_pretrained: expected a name that is new in the trial's folder, such as 'model', got '" + name +
                          "'");
  }
  const auto* trial = static_cast<const bp_host_trial_1*>(host->get_extension(host, BP_HOST_TRIAL_1));
  if (!trial)
    throw bp::Unsupported("save_pretrained: this host does not offer a folder for the trial's files (" BP_HOST_TRIAL_1 ")");
  return (std::filesystem::path(trial->trial_dir) / path).string();
}

void TellIgnored(const bp_host* host, const bp::Config& c) {
  // Not warnings, because files written by the host set all of them.
  for (const IgnoredName& each : kIgnored) {
    if (c.IsSet(each.name)) host->log(host, BP_LOG_INFO, (std::string(each.name) + ": " + each.doc()).c_str());
  }
}

namespace {

const bp_channel& NeedTokens(const bp_env_spec* env, uint16_t role) {
  const bp_channel& channel = bp::NeedChannel(*env, role);
  if (channel.space != BP_SPACE_TOKENS || channel.ndim != 1 || channel.scope != BP_SCOPE_ROW ||
      !bp::SameDtype(channel.dtype, bp::DtypeOf<int32_t>())) {
    throw bp::Unsupported(std::string("expected a list of int32 TOKENS per row as ") + bp::RoleText(role) + ", channel '" +
                          channel.name + "' has others");
  }
  return channel;
}

std::string NeedLength(const bp_env_spec* env, const bp_channel& of) {
  const std::string wanted = std::string(of.name) + "_length";
  const bp_channel* channel = bp::FindChannel(*env, wanted);
  if (channel && channel->role == BP_ROLE_LENGTH && bp::SameDtype(channel->dtype, bp::DtypeOf<int32_t>())) return wanted;
  throw bp::Unsupported("expected an env with an int32 LENGTH channel '" + wanted + "', got one without");
}

}  // namespace

EnvShape::EnvShape(const bp_env_spec* env) {
  const bp_channel &seen = NeedTokens(env, BP_ROLE_OBS), &wanted = NeedTokens(env, BP_ROLE_LABEL);
  action_channel = NeedTokens(env, BP_ROLE_ACTION);
  if (!bp::FindOnlyChannel(*env, BP_ROLE_WEIGHT))
    throw bp::Unsupported("expected an env with a WEIGHT channel for the label tokens of an item, got one without");
  source = seen.name, label = wanted.name, action = action_channel.name;
  source_length = NeedLength(env, seen), label_length = NeedLength(env, wanted);
  vocabulary = seen.nvec[0];
  max_source = seen.shape[0], max_label = wanted.shape[0], max_generated = action_channel.shape[0];
  for (const bp_channel* each : {&wanted, static_cast<const bp_channel*>(&action_channel)}) {
    if (each->nvec[0] != vocabulary)
      throw bp::Unsupported("expected the same tokens in channels '" + source + "' and '" + each->name + "'");
  }
}

}  // namespace backplane::seq2seq
