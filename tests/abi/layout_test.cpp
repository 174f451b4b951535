// The layout of every struct of ABI 1.2, in numbers recorded when it was frozen. A change breaks existing plugins.
#include <gtest/gtest.h>

#include "backplane/base.h"
#include "backplane/channel.h"
#include "backplane/env.h"
#include "backplane/ext/clock.h"
#include "backplane/ext/device_use.h"
#include "backplane/ext/file.h"
#include "backplane/ext/gpus.h"
#include "backplane/ext/held_out.h"
#include "backplane/ext/inject.h"
#include "backplane/ext/labels.h"
#include "backplane/ext/parameters.h"
#include "backplane/ext/policy.h"
#include "backplane/ext/snapshot.h"
#include "backplane/ext/source.h"
#include "backplane/ext/state.h"
#include "backplane/ext/tensors.h"
#include "backplane/ext/verdict.h"
#include "backplane/ext/wrapper.h"
#include "backplane/host.h"
#include "backplane/learner.h"
#include "backplane/module.h"
#include "backplane/monitor.h"
#include "backplane/rng.h"
#include "backplane/tensor.h"

#if __has_include(<ATen/dlpack.h>)
#include <ATen/dlpack.h>
#endif

// clang-format off: one struct, one block
#define SIZE(type, bytes) EXPECT_EQ(sizeof(type), bytes##u)
#define AT(type, field, bytes) EXPECT_EQ(offsetof(type, field), bytes##u)

namespace {

// A table, read by columns.
// clang-format off
TEST(Layout, Channel) {
  SIZE(bp_channel, 72);
  AT(bp_channel, struct_size, 0); AT(bp_channel, role, 4); AT(bp_channel, space, 6); AT(bp_channel, scope, 8);
  AT(bp_channel, ndim, 10); AT(bp_channel, dtype, 12); AT(bp_channel, name, 16); AT(bp_channel, shape, 24);
  AT(bp_channel, low, 32); AT(bp_channel, high, 40); AT(bp_channel, nvec, 48); AT(bp_channel, n_bounds, 56);
  AT(bp_channel, group, 64); AT(bp_channel, reserved, 68);
}

TEST(Layout, Frame) {
  SIZE(bp_frame, 24);
  AT(bp_frame, struct_size, 0); AT(bp_frame, slot, 4); AT(bp_frame, tensors, 8); AT(bp_frame, stream, 16);
}

TEST(Layout, EnvSpec) {
  SIZE(bp_env_spec, 56);
  AT(bp_env_spec, struct_size, 0); AT(bp_env_spec, max_agents, 4); AT(bp_env_spec, channels, 8);
  AT(bp_env_spec, n_channels, 16); AT(bp_env_spec, max_episode_steps, 24); AT(bp_env_spec, device, 32);
  AT(bp_env_spec, groups, 40); AT(bp_env_spec, n_groups, 48);
}

TEST(Layout, Group) {
  SIZE(bp_group, 16);
  AT(bp_group, struct_size, 0); AT(bp_group, agents, 4); AT(bp_group, name, 8);
}

TEST(Layout, EnvApi) {
  SIZE(bp_env_api, 64);
  AT(bp_env_api, struct_size, 0); AT(bp_env_api, reserved, 4); AT(bp_env_api, create, 8); AT(bp_env_api, destroy, 16);
  AT(bp_env_api, spec, 24); AT(bp_env_api, bind, 32); AT(bp_env_api, reset, 40); AT(bp_env_api, step, 48);
  AT(bp_env_api, get_extension, 56);
}

TEST(Layout, Host) {
  SIZE(bp_host, 48);
  AT(bp_host, struct_size, 0); AT(bp_host, abi_minor, 4); AT(bp_host, impl, 8); AT(bp_host, get_extension, 16);
  AT(bp_host, log, 24); AT(bp_host, fail, 32); AT(bp_host, cancelled, 40);
}

TEST(Layout, Config) {
  SIZE(bp_config, 64);
  AT(bp_config, struct_size, 0); AT(bp_config, reserved, 4); AT(bp_config, impl, 8); AT(bp_config, f64, 16);
  AT(bp_config, i64, 24); AT(bp_config, str, 32); AT(bp_config, list, 40); AT(bp_config, json, 48); AT(bp_config, where, 56);
}

TEST(Layout, HostMetrics1) {
  SIZE(bp_host_metrics_1, 24);
  AT(bp_host_metrics_1, struct_size, 0); AT(bp_host_metrics_1, reserved, 4); AT(bp_host_metrics_1, add, 8);
  AT(bp_host_metrics_1, record, 16);
}

TEST(Layout, LearnerSpec) {
  SIZE(bp_learner_spec, 56);
  AT(bp_learner_spec, struct_size, 0); AT(bp_learner_spec, evaluation_rows, 4); AT(bp_learner_spec, act_in, 8);
  AT(bp_learner_spec, keep, 16); AT(bp_learner_spec, act_out, 24); AT(bp_learner_spec, n_act_out, 32);
  AT(bp_learner_spec, n_params, 40); AT(bp_learner_spec, flags, 48);
}

TEST(Layout, Limits) {
  SIZE(bp_limits, 96);
  AT(bp_limits, struct_size, 0); AT(bp_limits, flags, 4); AT(bp_limits, rows, 8); AT(bp_limits, chunk_max, 16);
  AT(bp_limits, micro_batch_max, 24); AT(bp_limits, device_bytes, 32); AT(bp_limits, env_steps_left, 40);
  AT(bp_limits, deadline_ns, 48); AT(bp_limits, progress, 56); AT(bp_limits, iterations, 64); AT(bp_limits, epochs, 72);
  AT(bp_limits, items, 80); AT(bp_limits, iterations_done, 88);
}

TEST(Layout, Request) {
  SIZE(bp_request, 136);
  AT(bp_request, struct_size, 0); AT(bp_request, kind, 4); AT(bp_request, u, 8);
}

TEST(Layout, RequestsOfEachKind) {
  AT(bp_request, u.rollout.horizon, 8); AT(bp_request, u.rollout.policy_version, 16);
  AT(bp_request, u.rollout.part, 24);
  AT(bp_request, u.evaluate.candidates, 8); AT(bp_request, u.evaluate.episodes_each, 16); AT(bp_request, u.evaluate.chunk, 24);
  AT(bp_request, u.evaluate.max_steps, 32); AT(bp_request, u.evaluate.seeds, 40);
  AT(bp_request, u.data.micro_batch, 8); AT(bp_request, u.data.group_rows, 16); AT(bp_request, u.data.flags, 24);
  AT(bp_request, u.tick.phase, 8); AT(bp_request, u.tick.est_ns, 16); AT(bp_request, u.save.tag, 8);
}

TEST(Layout, Act) {
  SIZE(bp_act, 80);
  AT(bp_act, struct_size, 0); AT(bp_act, flags, 4); AT(bp_act, begin, 8); AT(bp_act, end, 16); AT(bp_act, row_base, 24);
  AT(bp_act, seed, 32); AT(bp_act, step, 40); AT(bp_act, in, 48); AT(bp_act, out, 56); AT(bp_act, candidate, 64);
  AT(bp_act, stream, 72);
}

TEST(Layout, Delivery) {
  SIZE(bp_delivery, 72);
  AT(bp_delivery, struct_size, 0); AT(bp_delivery, kind, 4); AT(bp_delivery, index, 8); AT(bp_delivery, count, 12);
  AT(bp_delivery, flags, 16); AT(bp_delivery, reserved, 20); AT(bp_delivery, n_tensors, 24); AT(bp_delivery, names, 32);
  AT(bp_delivery, tensors, 40); AT(bp_delivery, group_weight, 48); AT(bp_delivery, env_steps, 56);
  AT(bp_delivery, stream, 64);
}

TEST(Layout, LearnerApi) {
  SIZE(bp_learner_api, 64);
  AT(bp_learner_api, struct_size, 0); AT(bp_learner_api, reserved, 4); AT(bp_learner_api, create, 8);
  AT(bp_learner_api, destroy, 16); AT(bp_learner_api, spec, 24); AT(bp_learner_api, plan, 32);
  AT(bp_learner_api, consume, 40); AT(bp_learner_api, act, 48); AT(bp_learner_api, get_extension, 56);
}

TEST(Layout, Param) {
  SIZE(bp_param, 72);
  AT(bp_param, struct_size, 0); AT(bp_param, type, 4); AT(bp_param, flags, 6); AT(bp_param, path, 8); AT(bp_param, def, 16);
  AT(bp_param, range, 24); AT(bp_param, unit, 32); AT(bp_param, doc, 40); AT(bp_param, aliases, 48); AT(bp_param, helps, 56);
  AT(bp_param, reads_budget, 64);
}

TEST(Layout, Descriptor) {
  SIZE(bp_descriptor, 88);
  AT(bp_descriptor, struct_size, 0); AT(bp_descriptor, kind, 4); AT(bp_descriptor, id, 8); AT(bp_descriptor, version, 16);
  AT(bp_descriptor, summary, 24); AT(bp_descriptor, license, 32); AT(bp_descriptor, flags, 40); AT(bp_descriptor, needs, 48);
  AT(bp_descriptor, params, 56); AT(bp_descriptor, n_params, 64);
  AT(bp_descriptor, aliases, 72); AT(bp_descriptor, rows, 80);
}

TEST(Layout, Module) {
  SIZE(bp_module, 72);
  AT(bp_module, struct_size, 0); AT(bp_module, abi_minor, 4); AT(bp_module, min_minor, 8); AT(bp_module, reserved, 12);
  AT(bp_module, meta, 16); AT(bp_module, build, 24); AT(bp_module, init, 32); AT(bp_module, deinit, 40);
  AT(bp_module, count, 48); AT(bp_module, descriptor, 56); AT(bp_module, api, 64);
}

TEST(Layout, Event) {
  SIZE(bp_event, 88);
  AT(bp_event, struct_size, 0); AT(bp_event, type, 4); AT(bp_event, t_ns, 8); AT(bp_event, seq, 16);
  AT(bp_event, iteration, 24); AT(bp_event, env_steps, 32); AT(bp_event, instance, 40); AT(bp_event, phase, 44);
  AT(bp_event, value, 48); AT(bp_event, name, 56); AT(bp_event, detail, 64);
  AT(bp_event, duration_ns, 72); AT(bp_event, count, 80);
}

TEST(Layout, HostTrial) {
  SIZE(bp_host_trial_1, 32);
  AT(bp_host_trial_1, struct_size, 0); AT(bp_host_trial_1, attempt, 4); AT(bp_host_trial_1, trial_id, 8);
  AT(bp_host_trial_1, attempt_dir, 16); AT(bp_host_trial_1, trial_dir, 24);
}

TEST(Layout, HostFile1) {
  SIZE(bp_file, 32);
  AT(bp_file, struct_size, 0); AT(bp_file, reserved, 4); AT(bp_file, impl, 8); AT(bp_file, data, 16); AT(bp_file, bytes, 24);
  SIZE(bp_file_claim, 32);
  AT(bp_file_claim, struct_size, 0); AT(bp_file_claim, reserved, 4); AT(bp_file_claim, max_bytes, 8);
  AT(bp_file_claim, iteration_bytes, 16); AT(bp_file_claim, slack_bytes, 24);
  SIZE(bp_host_file_1, 40);
  AT(bp_host_file_1, struct_size, 0); AT(bp_host_file_1, reserved, 4); AT(bp_host_file_1, open, 8);
  AT(bp_host_file_1, grow, 16); AT(bp_host_file_1, need, 24); AT(bp_host_file_1, written, 32);
}

TEST(Layout, HostGpus1) {
  SIZE(bp_host_gpus_1, 16);
  AT(bp_host_gpus_1, struct_size, 0); AT(bp_host_gpus_1, granted, 4); AT(bp_host_gpus_1, use, 8);
}

TEST(Layout, MonitorApi) {
  SIZE(bp_monitor_api, 64);
  AT(bp_monitor_api, struct_size, 0); AT(bp_monitor_api, reserved, 4); AT(bp_monitor_api, create, 8);
  AT(bp_monitor_api, destroy, 16); AT(bp_monitor_api, interests, 24); AT(bp_monitor_api, on_events, 32);
  AT(bp_monitor_api, sample, 40); AT(bp_monitor_api, finish, 48); AT(bp_monitor_api, get_extension, 56);
}

TEST(Layout, Rng) {
  SIZE(bp_rng, 16);
  AT(bp_rng, key, 0); AT(bp_rng, n, 8);
}

TEST(Layout, Device) {
  SIZE(bp_device, 8);
  AT(bp_device, type, 0); AT(bp_device, id, 4);
}

TEST(Layout, Dtype) {
  SIZE(bp_dtype, 4);
  AT(bp_dtype, code, 0); AT(bp_dtype, bits, 1); AT(bp_dtype, lanes, 2);
}

TEST(Layout, Tensor) {
  SIZE(bp_tensor, 48);
  AT(bp_tensor, data, 0); AT(bp_tensor, device, 8); AT(bp_tensor, ndim, 16); AT(bp_tensor, dtype, 20);
  AT(bp_tensor, shape, 24); AT(bp_tensor, strides, 32); AT(bp_tensor, byte_offset, 40);
}

TEST(Layout, EnvSnapshot1) {
  SIZE(bp_env_snapshot_1, 32);
  AT(bp_env_snapshot_1, struct_size, 0); AT(bp_env_snapshot_1, reserved, 4); AT(bp_env_snapshot_1, row_bytes, 8);
  AT(bp_env_snapshot_1, get, 16); AT(bp_env_snapshot_1, set, 24);
}

TEST(Layout, EnvClock1) {
  SIZE(bp_env_inject_1, 32);
  AT(bp_env_inject_1, struct_size, 0); AT(bp_env_inject_1, reserved, 4); AT(bp_env_inject_1, part, 8);
  AT(bp_env_inject_1, get, 16); AT(bp_env_inject_1, set, 24);
  SIZE(bp_env_clock_1, 16);
  AT(bp_env_clock_1, struct_size, 0); AT(bp_env_clock_1, reserved, 4); AT(bp_env_clock_1, step_s, 8);
}

TEST(Layout, Wrapper1) {
  SIZE(bp_host_env_1, 40);
  AT(bp_host_env_1, struct_size, 0); AT(bp_host_env_1, reserved, 4); AT(bp_host_env_1, spec, 8); AT(bp_host_env_1, bind, 16);
  AT(bp_host_env_1, reset, 24); AT(bp_host_env_1, step, 32);
  SIZE(bp_env_wrapper_1, 16);
  AT(bp_env_wrapper_1, struct_size, 0); AT(bp_env_wrapper_1, reserved, 4); AT(bp_env_wrapper_1, hides, 8);
}

TEST(Layout, EnvParameters1) {
  SIZE(bp_env_labels_1, 16);
  AT(bp_env_labels_1, struct_size, 0); AT(bp_env_labels_1, reserved, 4); AT(bp_env_labels_1, label, 8);
  SIZE(bp_env_parameters_1, 24);
  AT(bp_env_parameters_1, struct_size, 0); AT(bp_env_parameters_1, reserved, 4); AT(bp_env_parameters_1, parameter, 8);
  AT(bp_env_parameters_1, scale, 16);
}

TEST(Layout, MonitorVerdict1) {
  SIZE(bp_monitor_verdict_1, 16);
  AT(bp_monitor_verdict_1, struct_size, 0); AT(bp_monitor_verdict_1, reserved, 4); AT(bp_monitor_verdict_1, verdict, 8);
}

TEST(Layout, LearnerHeldOut1) {
  SIZE(bp_learner_held_out_1, 16);
  AT(bp_learner_held_out_1, struct_size, 0); AT(bp_learner_held_out_1, reserved, 4); AT(bp_learner_held_out_1, loss, 8);
}

TEST(Layout, LearnerDeviceUse1) {
  SIZE(bp_device_use, 32);
  AT(bp_device_use, struct_size, 0); AT(bp_device_use, reserved, 4); AT(bp_device_use, live_bytes, 8);
  AT(bp_device_use, peak_bytes, 16); AT(bp_device_use, reserved_bytes, 24);
  SIZE(bp_learner_device_use_1, 24);
  AT(bp_learner_device_use_1, struct_size, 0); AT(bp_learner_device_use_1, reserved, 4); AT(bp_learner_device_use_1, read, 8);
  AT(bp_learner_device_use_1, reset_peak, 16);
}

TEST(Layout, LearnerTensors1) {
  SIZE(bp_named_tensors, 32);
  AT(bp_named_tensors, struct_size, 0); AT(bp_named_tensors, reserved, 4); AT(bp_named_tensors, n, 8);
  AT(bp_named_tensors, names, 16); AT(bp_named_tensors, tensors, 24);
  SIZE(bp_learner_tensors_1, 16);
  AT(bp_learner_tensors_1, struct_size, 0); AT(bp_learner_tensors_1, reserved, 4); AT(bp_learner_tensors_1, get, 8);
}

TEST(Layout, EnvSource1) {
  SIZE(bp_env_source_1, 24);
  AT(bp_env_source_1, struct_size, 0); AT(bp_env_source_1, reserved, 4); AT(bp_env_source_1, length, 8);
  AT(bp_env_source_1, read, 16);
}

TEST(Layout, Writer) {
  SIZE(bp_writer, 24);
  AT(bp_writer, struct_size, 0); AT(bp_writer, reserved, 4); AT(bp_writer, impl, 8); AT(bp_writer, write, 16);
}

TEST(Layout, Reader) {
  SIZE(bp_reader, 24);
  AT(bp_reader, struct_size, 0); AT(bp_reader, reserved, 4); AT(bp_reader, impl, 8); AT(bp_reader, read, 16);
}

TEST(Layout, LearnerState1) {
  SIZE(bp_learner_state_1, 24);
  AT(bp_learner_state_1, struct_size, 0); AT(bp_learner_state_1, reserved, 4); AT(bp_learner_state_1, save, 8);
  AT(bp_learner_state_1, load, 16);
}

TEST(Layout, LearnerPolicy1) {
  SIZE(bp_learner_policy_1, 40);
  AT(bp_learner_policy_1, struct_size, 0); AT(bp_learner_policy_1, reserved, 4); AT(bp_learner_policy_1, save, 8);
  AT(bp_learner_policy_1, load, 16); AT(bp_learner_policy_1, form, 24);
  AT(bp_learner_policy_1, start, 32);
}

TEST(Layout, EnvState1) {
  SIZE(bp_env_state_1, 24);
  AT(bp_env_state_1, struct_size, 0); AT(bp_env_state_1, reserved, 4); AT(bp_env_state_1, save, 8);
  AT(bp_env_state_1, load, 16);
}

#if __has_include(<ATen/dlpack.h>)
TEST(Layout, TensorIsDlpacks) {
  SIZE(DLTensor, 48);
  EXPECT_EQ(sizeof(bp_device), sizeof(DLDevice));
  EXPECT_EQ(sizeof(bp_dtype), sizeof(DLDataType));
  EXPECT_EQ(offsetof(bp_tensor, data), offsetof(DLTensor, data));
  EXPECT_EQ(offsetof(bp_tensor, device), offsetof(DLTensor, device));
  EXPECT_EQ(offsetof(bp_tensor, ndim), offsetof(DLTensor, ndim));
  EXPECT_EQ(offsetof(bp_tensor, dtype), offsetof(DLTensor, dtype));
  EXPECT_EQ(offsetof(bp_tensor, shape), offsetof(DLTensor, shape));
  EXPECT_EQ(offsetof(bp_tensor, strides), offsetof(DLTensor, strides));
  EXPECT_EQ(offsetof(bp_tensor, byte_offset), offsetof(DLTensor, byte_offset));
  EXPECT_EQ(BP_DEVICE_CPU, kDLCPU);
  EXPECT_EQ(BP_DEVICE_CUDA, kDLCUDA);
  EXPECT_EQ(BP_DTYPE_INT, kDLInt);
  EXPECT_EQ(BP_DTYPE_UINT, kDLUInt);
  EXPECT_EQ(BP_DTYPE_FLOAT, kDLFloat);
}
#endif

}  // namespace
