#include "trial/moment_recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/files.hpp"
#include "base/json_text.hpp"
#include "record/results_folder.hpp"
#include "rollout/camera.hpp"
#include "rollout/row_snapshots.hpp"

namespace backplane {
namespace {

const char* RoleName(uint16_t role) {
  switch (role) {
    case BP_ROLE_OBS: return "observation";
    case BP_ROLE_STATE: return "state";
    case BP_ROLE_ACTION: return "action";
    case BP_ROLE_ACTION_MASK: return "action mask";
    case BP_ROLE_REWARD: return "reward";
    case BP_ROLE_TERMINATED: return "terminated";
    case BP_ROLE_TRUNCATED: return "truncated";
    case BP_ROLE_INFO: return "info";
    default: return "other";
  }
}

std::string FileName(std::string name) {
  std::replace(name.begin(), name.end(), '/', '.');
  return name + ".npy";
}

// The header of NumPy's format 1.0, padded to a multiple of 64 bytes.
std::string NpyHeader(bp_dtype dtype, const std::vector<int64_t>& shape) {
  static constexpr char kKinds[] = {'i', 'u', 'f'};
  const char kind = dtype.code < sizeof kKinds ? kKinds[dtype.code] : 'u';
  std::string dims;
  for (const int64_t dim : shape) dims += std::to_string(dim) + ",";
  std::string text = fmt::format("{{'descr': '<{}{}', 'fortran_order': False, 'shape': ({}), }}", kind, dtype.bits / 8, dims);
  constexpr size_t kBefore = 10;
  text += std::string(63 - (kBefore + text.size()) % 64, ' ') + "\n";
  const auto bytes = static_cast<uint16_t>(text.size());
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(bytes & 255) + static_cast<char>(bytes >> 8) + text;
}

double NumberAt(const std::byte* at, bp_dtype dtype) {
  const auto number = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
  };
  if (dtype.code == BP_DTYPE_FLOAT) return dtype.bits == 64 ? number(double{}) : dtype.bits == 32 ? number(float{}) : 0;
  const bool is_signed = dtype.code == BP_DTYPE_INT;
  if (dtype.bits == 8) return is_signed ? number(int8_t{}) : number(uint8_t{});
  if (dtype.bits == 16) return is_signed ? number(int16_t{}) : number(uint16_t{});
  if (dtype.bits == 32) return is_signed ? number(int32_t{}) : number(uint32_t{});
  return is_signed ? number(int64_t{}) : number(uint64_t{});
}

}  // namespace

void MomentRecorder::Check(const bp_request& request) const {
  if (request.kind != BP_REQ_ROLLOUT)
    throw TrialFailure(BP_E_UNSUPPORTED, learner_.id(), "collects no rollouts, so there are no steps to inspect");
  if (order_.row >= env_.rows())
    throw TrialFailure(BP_E_CONFIG, env_.id(), fmt::format("--row: expected 0 to {}, got {}", env_.rows() - 1, order_.row));
  if (order_.step >= request.u.rollout.horizon)
    throw TrialFailure(BP_E_CONFIG, learner_.id(),
                       fmt::format("--step: expected 0 to {}, got {}", request.u.rollout.horizon - 1, order_.step));
}

void MomentRecorder::BeforeRollout(uint64_t iteration, RolloutCollector& collector) {
  if (iteration != order_.iteration) return;
  for (uint64_t i = 0; i <= order_.step + 1; ++i) seeds_.push_back(collector.rows().SeedAhead(order_.row, i));
  if (collector.started() && viewer_ != nullptr && HasSnapshots(env_)) before_ = SaveRows(env_, order_.row, order_.row + 1);
}

void MomentRecorder::AfterPart(uint64_t iteration, RolloutCollector& collector, const RolloutPart& part) {
  if (iteration != order_.iteration) return;
  if (part.index == 0) {
    for (const bp_channel* channel : env_.channels()) Keep(collector.Buffer(channel->name), RoleName(channel->role));
    for (const bp_channel* channel : learner_.act_out())
      if (channel->role != BP_ROLE_ACTION) Keep(collector.Buffer(channel->name), "learner");
    if (bp::FindChannel(env_.spec(), BP_ROLE_TRUNCATED) == nullptr) Keep(collector.Buffer("truncated"), "truncated");
  }
  for (Kept& kept : kept_) {
    const uint64_t entries = part.steps + (part.last() && IsStateRole(kept.buffer->role()) ? 1 : 0);
    for (uint64_t t = 0; t < entries; ++t)
      kept.bytes.insert(kept.bytes.end(), kept.buffer->row(t, 0), kept.buffer->row(t, kept.buffer->lead()));
  }
  if (!part.last()) return;
  MomentAnswer answer;
  for (const Kept& kept : kept_) Write(kept, &answer);
  try {
    Draw(&answer);
  } catch (const TrialFailure& failure) {
    answer.why_not = failure.what();
  }
  WriteFileAtomic(order_.folder / "moment.json", JsonText(ToJson(answer)));
  WriteFileAtomic(AttemptFolder(attempt_dir_).prune(), "");  // ends the trial after this iteration
}

void MomentRecorder::Keep(ChannelBuffer* buffer, const char* role) {
  if (buffer != nullptr && !buffer->on_device()) kept_.push_back({buffer, role, {}});
}

const MomentRecorder::Kept& MomentRecorder::Find(const std::string& name) const {
  return *std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.buffer->name() == name; });
}

void MomentRecorder::Write(const Kept& kept, MomentAnswer* answer) const {
  const ChannelBuffer& buffer = *kept.buffer;
  MomentChannel channel{buffer.name(), FileName(buffer.name()), kept.role, buffer.shape(), {}};
  std::vector<int64_t> shape = buffer.shape();
  const uint64_t entries = kept.bytes.size() / std::max<uint64_t>(buffer.lead() * buffer.row_bytes(), 1);
  shape.insert(shape.begin(), {static_cast<int64_t>(entries), static_cast<int64_t>(buffer.lead())});
  std::string npy = NpyHeader(buffer.dtype(), shape);
  npy.append(reinterpret_cast<const char*>(kept.bytes.data()), kept.bytes.size());
  WriteFileAtomic(order_.folder / channel.file, npy);
  const uint64_t per_row = buffer.lead() / env_.rows() * buffer.row_elements(), bytes = buffer.dtype().bits / 8;
  const std::byte* at = kept.row(order_.step, order_.row * (buffer.lead() / env_.rows()));
  for (uint64_t i = 0; i < per_row; ++i) channel.values.push_back(NumberAt(at + i * bytes, buffer.dtype()));
  answer->channels.push_back(std::move(channel));
}

void MomentRecorder::Draw(MomentAnswer* answer) {
  if (viewer_ == nullptr || env_.resets_itself() || env_.on_device() || (before_.empty() && !HasSnapshots(env_))) {
    answer->why_not = env_.id() + " does not save the states of single rows";
    return;
  }
  Camera camera(*viewer_);
  SlotBuffers slot(*viewer_, learner_, [](const bp_channel&) { return false; });
  slot.Bind();
  GoTo(slot);
  const auto [width, height] = camera.Measure();
  const std::string backdrop = camera.Backdrop(0), frame = camera.Frame(0);
  answer->picture = true;
  if (camera.png()) return WriteFileAtomic(order_.folder / "moment.png", frame);
  WriteFileAtomic(order_.folder / "moment.svg",
                  fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="{}">{}{}</svg>)", width, height,
                              backdrop, frame));
}

// Repeats the row's recorded steps in the viewer, and checks that they lead to the recorded observations.
void MomentRecorder::GoTo(SlotBuffers& slot) {
  size_t next_seed = 0;
  const auto reset = [&] {
    if (bp_status s = viewer_->Reset(0, 0, 1, nullptr, &seeds_[next_seed++]); s != BP_OK) viewer_->Fail(s, "reset");
  };
  before_.empty() ? reset() : LoadRows(*viewer_, 0, 1, before_);
  for (uint64_t t = 0; t < order_.step; ++t) {
    for (const bp_channel* channel : env_.channels()) {
      if (channel->role != BP_ROLE_ACTION) continue;
      const Kept& from = Find(channel->name);
      const uint64_t lead = from.buffer->lead() / env_.rows();
      std::memcpy(slot[channel->name].row(0, 0), from.row(t, order_.row * lead), lead * from.buffer->row_bytes());
    }
    if (bp_status s = viewer_->Step(0, 0, 1); s != BP_OK) viewer_->Fail(s, "step");
    const std::byte none{0};
    if (*Find("terminated").row(t, order_.row) != none || *Find("truncated").row(t, order_.row) != none) reset();
    ChannelBuffer& now = *slot.OfRole(BP_ROLE_OBS);
    const uint64_t lead = now.lead();
    if (std::memcmp(now.row(0, 0), Find(now.name()).row(t + 1, order_.row * lead), lead * now.row_bytes()) != 0)
      throw TrialFailure(BP_E_INTERNAL, env_.id(), fmt::format("the repeated step {} differs from the rollout", t));
  }
}

}  // namespace backplane
