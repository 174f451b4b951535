"""The parts that scripts/mutate breaks, hand-made faults, and faults that no test can detect."""

# files: candidates for faults. tests: programs of the release preset to run for a fault of the part, the likeliest first. watched: changes
# to these files make a fault run again. quick: replaces tests with --quick.
PARTS = {
    "on_policy": {
        "files": ["plugins/common/on_policy/*.[ch]pp", "plugins/common/rl/*.[ch]pp"],
        "tests": ["gae_test", "categorical_test", "fused_update_test", "mappo_model_test", "saved_state_test", "gradient_test",
                  "ppo_update_parity_test", "mappo_update_parity_test"],
        "watched": ["tests/plugins/common/*", "tests/plugins/learners/*.*", "tests/parity/*"],
        "quick": ["gae_test", "categorical_test"],
    },
    "ppo": {
        "files": ["plugins/learners/ppo/*.[ch]pp"],
        "tests": ["normalizer_test", "policy_test", "fused_update_test", "gradient_test", "losses_test", "saved_state_test", "ppo_test",
                  "infinite_horizon_test", "ppo_update_parity_test"],
        "watched": ["tests/plugins/learners/*.*", "tests/parity/*"],
    },
    "mappo": {
        "files": ["plugins/learners/mappo/*.[ch]pp"],
        "tests": ["mappo_model_test", "mappo_streams_test", "mappo_test", "mappo_torch_test", "saved_state_test", "mappo_update_parity_test"],
        "watched": ["tests/plugins/learners/*.*", "tests/parity/*"],
    },
    "seq2seq": {
        "files": ["plugins/learners/seq2seq/*.[ch]pp"],
        "tests": ["seq2seq_adamw_test", "seq2seq_files_test", "seq2seq_options_test", "seq2seq_layers_test", "seq2seq_bart_test",
                  "seq2seq_training_test", "seq2seq_generate_test",
                  "seq2seq_model_test", "saved_state_test", "seq2seq_update_parity_test", "seq2seq_learner_test"],
        "watched": ["tests/plugins/learners/seq2seq/*", "tests/parity/*"],
    },
    "rollout": {
        "files": ["host/trial/rollout/*.[ch]pp"],
        "tests": ["rollout_test"],
        "watched": ["tests/host/trial/rollout/*"],
    },
    "results": {
        "files": ["tools/report/results/*.[ch]pp", "tools/report/rules/*.[ch]pp", "host/libs/text/*number.[ch]pp"],
        "tests": ["results_test", "findings_test", "text_test"],
        "watched": ["tests/tools/report/results/*", "tests/tools/report/rules/*", "tests/host/libs/text/*"],
    },
    "statistics": {
        "files": ["host/libs/statistics/*.[ch]pp"],
        "tests": ["statistics_test"],
        "watched": ["tests/host/libs/statistics/*"],
    },
}  # fmt: skip

# Code that only runs with a GPU, or only affects speed.
GPU_ALONE = {"plugins/learners/mappo/amp_probe.cpp", "plugins/learners/mappo/torch_actor.cpp"}

ON_POLICY, PPO, MAPPO = "plugins/common/on_policy/", "plugins/learners/ppo/", "plugins/learners/mappo/"
SEQ2SEQ = "plugins/learners/seq2seq/"
ROLLOUT, STATISTICS, TEXT = "host/trial/rollout/", "host/libs/statistics/", "host/libs/text/"
RESULTS, RULES = "tools/report/results/", "tools/report/rules/"

# part, file, right, faulty: expressions, or statements with their semicolon. Expressions get brackets, so do not
# cut one out of an expression that binds differently.
BY_HAND = [
    ("on_policy", ON_POLICY + "gae.cpp", "s.discount[i] * s.next_value[i]", "s.carry[i] * s.next_value[i]"),
    ("on_policy", ON_POLICY + "gae.cpp", "s.carry[i] * next", "s.discount[i] * next"),
    ("on_policy", ON_POLICY + "categorical.cpp", "bp_rng_uniform(rng) * sum", "bp_rng_uniform(rng)"),
    ("on_policy", ON_POLICY + "categorical.cpp", "static_cast<double>(logits[choice]) - logits[best] - std::log(sum)",
     "static_cast<double>(logits[choice]) - std::log(sum)"),
    ("on_policy", ON_POLICY + "clipped_loss.hpp", "free >= clipped ? free : 0", "free"),
    ("on_policy", ON_POLICY + "clipped_loss.hpp", "static_cast<double>(n - 1)", "static_cast<double>(n)"),
    ("on_policy", ON_POLICY + "clipped_loss.hpp", "logits[k] - term.log_sum + term.entropy", "logits[k] - term.log_sum"),
    ("on_policy", ON_POLICY + "clipped_loss.hpp", "std::copysign(huber, e)", "huber"),
    ("on_policy", ON_POLICY + "optimizer.cpp", "max_norm / (std::sqrt(squares) + 1e-6)", "2 * max_norm / (std::sqrt(squares) + 1e-6)"),
    ("on_policy", ON_POLICY + "optimizer.cpp", "ClipOf(i > 0 ? options.splits[i - 1] : 0, end, options.grad_clip, parallel)",
     "ClipOf(0, size(), options.grad_clip, parallel)"),
    ("on_policy", ON_POLICY + "learner.cpp", "Scheduled(o.entropy_schedule, o.entropy_coeff, progress())", "o.entropy_coeff"),
    ("on_policy", ON_POLICY + "learner.cpp", "o.vf_clip_param > 0", "false"),
    ("on_policy", ON_POLICY + "learner.cpp", "1.5 * options().kl_target", "6 * options().kl_target"),
    ("on_policy", ON_POLICY + "learner.cpp", "part == 0", "index == 0"),

    ("ppo", PPO + "learner.cpp", "step.lr *= 1 - progress();", ";"),
    ("ppo", PPO + "learner.cpp", "Scheduled(options_.clip_schedule, options_.clip, progress())", "options_.clip"),
    ("ppo", PPO + "kl_adaptive_rate.hpp", "kl > 2 * target", "false"),
    ("ppo", PPO + "rollout.cpp", "options_.normalize_obs ? obs_norm_.Apply(from, to) : (void)std::copy_n(from, net_.obs, to);",
     "std::copy_n(from, net_.obs, to);"),
    ("ppo", PPO + "rollout.cpp", "over ? 0.0 : options_.gamma", "done[i] ? 0.0 : options_.gamma"),
    ("ppo", PPO + "rollout.cpp", "samples.advantage[i] + samples.value[i]", "samples.advantage[i]"),
    ("ppo", PPO + "head_loss.cpp", "(c.batch.advantage[i] - c.advantage.mean) * c.advantage.scale", "c.batch.advantage[i] * c.advantage.scale"),
    ("ppo", PPO + "head_loss.cpp", "(g + bonus) / variance[k]", "g / variance[k]"),
    ("ppo", PPO + "normalizer.cpp", "returns_[row] * gamma_ + rewards[row]", "returns_[row] + rewards[row]"),
    ("ppo", PPO + "normalizer.cpp", "delta * delta * count_ * count / total", "delta * delta * count / total"),
    ("ppo", PPO + "torch_gradient.cpp", "latent.detach().square()", "latent.square()"),

    ("mappo", MAPPO + "value_norm.cpp", "kKeep * m_ + (1 - kKeep) * mean", "kKeep * m_ + mean"),
    ("mappo", MAPPO + "learner.cpp", "group->value_norm.Update(batch.n(), [&](int64_t i) { return all.ret[batch.index[i]]; });",
     "if (range.begin == 0) group->value_norm.Update(batch.n(), [&](int64_t i) { return all.ret[batch.index[i]]; });"),
    ("mappo", MAPPO + "learner.cpp", "if (group.offset > 0) step.splits.push_back(group.offset);", ";"),
    ("mappo", MAPPO + "streams.cpp", "shape_.reward_per_agent ? all : row", "shape_.reward_per_agent ? agent : row"),
    ("mappo", MAPPO + "learner.cpp", "if (options_.separate_grad_clip) step.splits.push_back(group.offset + group.net.split);", ";"),
    ("mappo", MAPPO + "learner.cpp", "Scheduled(options_.lr_schedule, options_.lr, progress())", "options_.lr"),
    ("mappo", MAPPO + "rollout.cpp", "(a - mean) * (a - mean)", "a * a"),
    ("mappo", MAPPO + "rollout.cpp", "s.advantage[i] + value[s.place[i]]", "s.advantage[i] + s.value[i]"),
    ("mappo", MAPPO + "streams.cpp", "if (!step.cut && !left) carry_[place] = gamma_ * lambda_;", "carry_[place] = gamma_ * lambda_;"),
    ("mappo", MAPPO + "streams.cpp", "step.cut || left || step.t + 1 == steps_", "step.cut || left"),
    ("mappo", MAPPO + "block.cpp", "state_.AddTransposed(by_step_.data(), out, &packed_, w);", ";"),
    ("mappo", MAPPO + "torch_model.cpp", "at::where((index >= 0).view(shape), ended, rows)", "ended"),
    ("mappo", MAPPO + "fused_model.cpp", "out[net_.log_std + k] -= static_cast<float>(options.entropy_coeff);", ";"),
    ("mappo", MAPPO + "actor.cpp", "std::clamp(raw[i], low_[part.number + i], high_[part.number + i])", "raw[i]"),

    ("seq2seq", SEQ2SEQ + "model.cpp", "options_.max_grad_norm > 0 && quotient < 1", "options_.max_grad_norm > 0"),
    ("seq2seq", SEQ2SEQ + "adamw.cpp", "std::clamp<int64_t>(s.decayed - begin, 0, length)", "length"),
    ("seq2seq", SEQ2SEQ + "training.cpp", "token == config_.pad_token_id", "token < 0"),
    ("seq2seq", SEQ2SEQ + "training.cpp", "(1 - smoothing_) * own", "own"),
    ("seq2seq", SEQ2SEQ + "text_attention.cpp", "nn::Softmax(1, i + 1, row);", "nn::Softmax(1, length_, row);"),
    ("seq2seq", SEQ2SEQ + "schedule.cpp", ".5 * (1 + std::cos(std::numbers::pi * progress))", "1 - progress"),
    ("seq2seq", SEQ2SEQ + "schedule.cpp", "static_cast<double>(done) / static_cast<double>(warmup)",
     "static_cast<double>(done + 1) / static_cast<double>(warmup)"),
    ("seq2seq", SEQ2SEQ + "learner.cpp", "options_.mean_of_means() ? tokens * last.count : last.group_weight", "last.group_weight"),
    ("seq2seq", SEQ2SEQ + "layers.cpp", "if (smoothing > 0) g.sub_(spread);", ";"),
    ("seq2seq", SEQ2SEQ + "layers.cpp", 'ids.ne(ctx->saved_data["pad"].toInt())', "ids.ge(0)"),
    ("seq2seq", SEQ2SEQ + "bart.cpp", "std::sqrt(static_cast<double>(c.d_model))", "1.0"),
    ("seq2seq", SEQ2SEQ + "processors.cpp", "length == options.max_length - 1", "length == options.max_length"),
    ("seq2seq", SEQ2SEQ + "micro_batch.cpp", "(length == 1 || is_word) && last", "last"),

    ("rollout", ROLLOUT + "episode_tracker.hpp", "truncated[i] = length >= limit;", "truncated[i] = length > limit;"),
    ("rollout", ROLLOUT + "episode_tracker.hpp", "++row[i].episode_length", "row[i].episode_length"),
    ("rollout", ROLLOUT + "chunk_recorder.cpp", "seen.buffer->row(t + 1, r * seen.lead)", "seen.buffer->row(t, r * seen.lead)"),
    ("rollout", ROLLOUT + "rollout_collector.cpp", "policy_steps_ += part.steps;", ";"),
    ("rollout", ROLLOUT + "moments.hpp", "m2[i] += d * (x[i] - mean[i]);", "m2[i] += d * d;"),
    ("rollout", ROLLOUT + "moments.hpp", "d * d * count * weight", "d * d * weight"),
    ("rollout", ROLLOUT + "slot_tracker.cpp", "std::min(limit_of_env_, asked)", "limit_of_env_"),
    ("rollout", ROLLOUT + "candidate_scorer.cpp", "static_cast<int32_t>(job / episodes_each_)", "static_cast<int32_t>(job % episodes_each_)"),
    ("rollout", ROLLOUT + "evaluator.cpp", "(first_episode_ + episode_[i / lead]) * lead + i % lead", "i"),

    ("results", TEXT + "number.cpp", "std::sqrt(squares / (size - 1))", "std::sqrt(squares / size)"),
    ("results", TEXT + "number.cpp", "place - static_cast<double>(low)", "0.0"),
    ("results", RESULTS + "reduction.cpp", "amount / time", 'Mean(rates, "").value'),
    ("results", RESULTS + "reduction.cpp", "lowest ? std::max(target->second, *best) : std::min(target->second, *best)",
     "lowest ? std::min(target->second, *best) : std::max(target->second, *best)"),
    ("results", RESULTS + "parallel_efficiency.cpp", "std::min(setting.num_env_runners, setting.cores)", "setting.num_env_runners"),
    ("results", RESULTS + "combine.cpp", "std::pair(a.usable(), a.ended) > std::pair(b.usable(), b.ended)", "a.ended > b.ended"),
    ("results", RULES + "finding_scaling.cpp", "1 / doublings", "1.0"),

    ("statistics", STATISTICS + "difference.cpp", "of_a.variance / size_a", "of_a.variance"),
    ("statistics", STATISTICS + "difference.cpp", "x > y ? 1 : x == y ? 0.5 : 0", "x > y ? 1 : 0"),
    ("statistics", STATISTICS + "welch_verdict.cpp", "fewer < kLeastToJudge", "fewer < 2"),
    ("statistics", STATISTICS + "log_speed.cpp", "logs.variance * static_cast<double>(logs.n - 1)", "logs.variance"),
    ("statistics", STATISTICS + "log_speed.cpp", "1 / static_cast<double>(n) + 1 / static_cast<double>(n_base)", "1 / static_cast<double>(n)"),
]  # fmt: skip

# Faults of --quick, which only needs the numerics of plugins/common/on_policy without a generator.
QUICK = {(file, right) for part, file, right, _ in BY_HAND if file in (ON_POLICY + "gae.cpp", ON_POLICY + "categorical.cpp")}

# By key (scripts/mutate --list): the reason why no test can detect it.
EQUIVALENT = {
    "0060fab612": "a choice of probability 0 adds 0 times a finite logarithm",
    "4d81b336bd": "a KL that equals the limit to the last bit",
    "d6ef72a4b9": "asks the cache for the rows that it has; where no text is open nothing reads it",
    "b36782ad58": "an empty range is kept and compares equal",
    "97fdf0edec": "the caller runs that plugin already",
}
