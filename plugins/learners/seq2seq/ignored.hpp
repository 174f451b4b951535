// Option names of other trainers that are accepted without effect, each with the reason.
#pragma once

#include <variant>

#include "backplane/plugin.hpp"

namespace backplane::seq2seq {

struct IgnoredName {
  const char* name;
  std::variant<const char*, bool, int64_t, double> def;  // determines the option's type
  const char* why;
  const char *range = nullptr, *aliases = nullptr;
  std::string doc() const { return std::string("Ignored, because ") + why; }
};

inline constexpr IgnoredName kIgnored[] = {
    {"train_sampling_strategy", "random", "the order of items is random, and sort_within_update sorts within an update",
     "random|group_by_length"},
    {"report_to", "", "monitors are listed under monitors"},
    {"logging_dir", "", "results are in output.dir"},
    {"logging_strategy", "", "every update is recorded"},
    {"logging_steps", 0.0, "every update is recorded", "[0,)"},
    {"eval_strategy", "", "evaluation.every_iterations decides", nullptr, "evaluation_strategy"},
    {"save_strategy", "", "checkpoint.every_iterations decides"},
    {"save_total_limit", int64_t{0}, "checkpoint.keep decides", "[0,)"},
    {"metric_for_best_model", "", "checkpoint.best has a metric"},
    {"greater_is_better", true, "checkpoint.best has a direction"},
    {"overwrite_output_dir", false, "a run resumes by itself, and run --fresh restarts it"},
    {"predict_with_generate", true, "an evaluation always generates"},
    {"auto_find_batch_size", false, "on_failure.device_oom: shrink decides"},
    {"group_by_length", false, "sort_within_update sorts within an update, which changes no gradient"},
    {"dataloader_num_workers", int64_t{0}, "env.options.dataloader_num_workers of the data set decides", "[0,)"},
    {"torch_compile", false, "there is no graph compiler"},
    {"fp16_backend", "", "fp16 has only one implementation"},
    {"use_cpu", false, "device: cpu has this effect", nullptr, "no_cuda"},
};

// Declares the names in an option table, because a host accepts only declared options.
struct IgnoredNames {
  using Struct = bp::NoOptions;
  template <class S>
  void Describe(const S& defaults, bp::detail::ParamList* out) const {
    for (const IgnoredName& each : kIgnored) {
      const char* doc = out->Keep(each.doc());
      const auto add = [&](auto def) {
        bp::Unread(each.name, def, each.range, doc, {.flags = 0, .aliases = each.aliases}).Describe(defaults, out);
      };
      std::visit(add, each.def);
    }
  }
  template <class S>
  void Read(const bp::Config&, S*) const {}
};

}  // namespace backplane::seq2seq
