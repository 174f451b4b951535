// Cases of an env's optional parts: snapshots, states by name, a data set, pictures.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <memory>
#include <set>

#include "backplane/ext/inject.h"
#include "backplane/ext/render.h"
#include "backplane/ext/snapshot.h"
#include "backplane/ext/source.h"
#include "data/group.hpp"
#include "rollout/channel_table.hpp"
#include "validate/case_table.hpp"
#include "validate/doing.hpp"
#include "validate/driven_env.hpp"

namespace backplane {
namespace {

constexpr uint64_t kMostRowBytes = uint64_t{1} << 30;

uint64_t SnapshotBytes(DrivenEnv& env, const bp_env_snapshot_1& snapshot) {
  NowDoing("row_bytes");
  const uint64_t bytes = env.env().Call("row_bytes", [&](bp_env* e) { return snapshot.row_bytes(e); });
  if (bytes == 0 || bytes > kMostRowBytes) FailCase("row_bytes", "1 byte to 1 GiB", fmt::format("{}", bytes));
  return bytes;
}

std::vector<std::byte> Get(DrivenEnv& env, const bp_env_snapshot_1& snapshot, uint64_t row) {
  GuardedBlock block("the memory of a snapshot", SnapshotBytes(env, snapshot));
  std::memset(block.data(), 0x3c, block.bytes());
  NowDoing(fmt::format("get of row {}", row));
  env.env().Call("get", [&](bp_env* e) { return snapshot.get(e, row, block.data()); });
  if (const auto found = block.Break()) FailCase("get", "row_bytes bytes written", *found);
  return {block.data(), block.data() + block.bytes()};
}

void SnapshotContinues(Subject& subject, CaseResult*) {
  subject.NeedNoWrapper("its snapshot is a part of the chain's");
  constexpr uint64_t kBefore = 60, kAfter = 260;
  DrivenEnv env(subject, {.rows = 3}), copy(subject, {.rows = 3});
  const auto* snapshot = env.env().Extension<bp_env_snapshot_1>(BP_ENV_SNAPSHOT_1);
  if (snapshot == nullptr) SkipCase("offers no " BP_ENV_SNAPSHOT_1);
  env.ResetAll();
  env.Play(0, kBefore);
  env.ForgetRecords();
  copy.ResetAll();
  copy.Play(0, 3);
  copy.ForgetRecords();
  for (uint64_t r = 0; r < env.rows(); ++r) {
    const std::vector<std::byte> bytes = Get(env, *snapshot, r);
    NowDoing(fmt::format("set of row {}", r));
    copy.env().Call("set", [&](bp_env* e) { return snapshot->set(e, r, bytes.data()); });
    if (Get(copy, *snapshot, r) != bytes) FailCase("get right after set", "the bytes that were set", "different bytes");
  }
  copy.CheckGuards("set");
  for (size_t c = 0; c < env.channels().size(); ++c)
    for (uint64_t r = 0; r < env.rows() && IsStateRole(env.channels()[c]->role); ++r)
      if (std::memcmp(env.Row(0, c, r), copy.Row(0, c, r), env.RowBytes(c)) != 0)
        FailCase(fmt::format("set, channel '{}' of row {}", env.channels()[c]->name, r), "the state's own observation",
                 "a different one");
  copy.CountAs(env);
  env.Play(kBefore, kAfter), copy.Play(kBefore, kAfter);
  for (uint64_t r = 0; r < env.rows(); ++r)
    if (const auto found = env.Difference(env.record(r), copy.record(r)))
      FailCase(fmt::format("row {} after a snapshot", r), "the same bytes", *found);
}

void SnapshotRefuses(Subject& subject, CaseResult*) {
  DrivenEnv env(subject, {.rows = 1});
  const auto* snapshot = env.env().Extension<bp_env_snapshot_1>(BP_ENV_SNAPSHOT_1);
  if (snapshot == nullptr) SkipCase("offers no " BP_ENV_SNAPSHOT_1);
  env.ResetAll();
  std::vector<std::byte> bytes = Get(env, *snapshot, 0);
  for (std::byte& byte : bytes) byte ^= std::byte{0xff};
  NowDoing("set of bytes that are no snapshot");
  bp_status status = BP_OK;  // checked here instead of by Call
  env.env().Call("set", [&](bp_env* e) { status = snapshot->set(e, 0, bytes.data()); });
  if (status == BP_OK) WarnCase("set of bytes that are no snapshot", "BP_E_INVALID_ARG", "BP_OK");
}

void InjectComesBack(Subject& subject, CaseResult*) {
  DrivenEnv from(subject, {.rows = 2}), to(subject, {.rows = 2, .first_key = 7});
  const auto* inject = from.env().Extension<bp_env_inject_1>(BP_ENV_INJECT_1);
  if (inject == nullptr) SkipCase("offers no " BP_ENV_INJECT_1);
  uint64_t n = 0, parts = 0;
  std::set<std::string> names;
  for (uint64_t size = 0;; ++parts, n += size) {
    const char* name = from.env().Call("part", [&](bp_env* e) { return inject->part(e, parts, &size); });
    if (name == nullptr) break;
    if (!names.insert(name).second) FailCase("part", "unique names", fmt::format("'{}' twice", name));
    if (size == 0 || parts > 1000) FailCase(fmt::format("part '{}'", name), "1 number or more", "none");
  }
  if (n == 0) FailCase("part", "a part or more", "none");
  from.ResetAll(), to.ResetAll();
  from.Play(0, 5);
  GuardedBlock values("the state's numbers", n * sizeof(double)), back("the state's numbers", n * sizeof(double));
  NowDoing("get of a state by name");
  from.env().Call("get", [&](bp_env* e) { return inject->get(e, 0, reinterpret_cast<double*>(values.data())); });
  NowDoing("set of a state by name");
  to.env().Call("set", [&](bp_env* e) { return inject->set(e, 1, reinterpret_cast<const double*>(values.data())); });
  to.env().Call("get", [&](bp_env* e) { return inject->get(e, 1, reinterpret_cast<double*>(back.data())); });
  for (const GuardedBlock* block : {&values, &back})
    if (const auto found = block->Break()) FailCase("get of a state by name", "as many numbers as the parts have", *found);
  if (std::memcmp(values.data(), back.data(), values.bytes()) != 0)
    FailCase("get after set", "the numbers that were set", "different numbers");
  to.CheckGuards("set of a state by name");
}

// Guarded channels of n items.
class Items {
 public:
  Items(DrivenEnv& env, uint64_t n) : env_(env), n_(n) {
    for (const bp_channel* c : env.channels()) {
      const bool part = c->role == BP_ROLE_OBS || c->role == BP_ROLE_LENGTH || c->role == BP_ROLE_LABEL ||
                        c->role == BP_ROLE_LOSS_MASK || c->role == BP_ROLE_WEIGHT;
      if (!part || c->scope != BP_SCOPE_ROW) {
        blocks_.push_back(nullptr), pointers_.push_back(nullptr);
        continue;
      }
      const uint64_t bytes = Elements(*c) * c->dtype.bits / 8;
      blocks_.push_back(std::make_unique<GuardedBlock>(fmt::format("channel '{}'", c->name), n * bytes));
      std::vector<int64_t> shape{static_cast<int64_t>(n)};
      shape.insert(shape.end(), c->shape, c->shape + c->ndim);
      Tensor& tensor = tensors_.emplace_back();
      tensor.Set(blocks_.back()->data(), c->dtype, shape, static_cast<int64_t>(Elements(*c)));
      pointers_.push_back(&tensor.view);
    }
  }
  void Read(const bp_env_source_1& source, uint64_t seed, uint64_t first) {
    const bp_frame frame{sizeof(bp_frame), 0, pointers_.data(), nullptr};
    NowDoing(fmt::format("read of items [{}, {})", first, first + n_));
    env_.env().Call("read", [&](bp_env* e) { return source.read(e, seed, first, n_, &frame); });
    for (const auto& block : blocks_)
      if (block)
        if (const auto found = block->Break()) FailCase("read", "nothing written outside the items", *found);
  }
  // Bytes of all channels of item i.
  std::vector<std::byte> Item(uint64_t i) const {
    std::vector<std::byte> all;
    for (const auto& block : blocks_)
      if (block)
        all.insert(all.end(), block->data() + i * (block->bytes() / n_), block->data() + (i + 1) * (block->bytes() / n_));
    return all;
  }

 private:
  DrivenEnv& env_;
  uint64_t n_;
  std::vector<std::unique_ptr<GuardedBlock>> blocks_;
  std::deque<Tensor> tensors_;
  std::vector<bp_tensor*> pointers_;
};

void SourceKeepsItsOrder(Subject& subject, CaseResult* result) {
  DrivenEnv env(subject, {.rows = 2});
  const bp_env_source_1* source = SourceOf(env.env());
  if (source == nullptr) SkipCase("is no data set (it does not offer " BP_ENV_SOURCE_1 ")");
  const uint64_t items = ItemsOf(env.env());
  const uint64_t n = std::min<uint64_t>(items, 64);
  result->note = fmt::format("{} items", items);
  Items whole(env, n), again(env, n);
  for (const uint64_t seed : {uint64_t{0}, subject.seed() + 11}) {
    whole.Read(*source, seed, 0), again.Read(*source, seed, 0);
    for (uint64_t i = 0; i < n; ++i)
      if (whole.Item(i) != again.Item(i))
        FailCase(fmt::format("read of item {} twice", i), "the same bytes", "different bytes");
    if (n < 2) continue;
    Items rest(env, n - n / 2);
    rest.Read(*source, seed, n / 2);
    for (uint64_t i = n / 2; i < n; ++i)
      if (whole.Item(i) != rest.Item(i - n / 2))
        FailCase(fmt::format("item {} read with those before it and without", i), "the same bytes", "different bytes");
  }
  if (items > 4096) return;
  Items plain(env, items), shuffled(env, items);
  plain.Read(*source, 0, 0), shuffled.Read(*source, subject.seed() + 11, 0);
  std::multiset<std::vector<std::byte>> all;
  for (uint64_t i = 0; i < items; ++i) all.insert(plain.Item(i));
  for (uint64_t i = 0; i < items; ++i) {
    const auto found = all.find(shuffled.Item(i));
    if (found == all.end()) FailCase("an epoch in a different order", "every item once", fmt::format("item {} twice", i));
    all.erase(found);
  }
}

std::string Drawn(DrivenEnv& env, const char* what, bp_status (*draw)(bp_env*, uint64_t, const bp_writer*)) {
  std::string text;
  const bp_writer writer{sizeof(bp_writer), 0, &text, [](const bp_writer* w, const void* data, uint64_t size) {
                           static_cast<std::string*>(w->impl)->append(static_cast<const char*>(data), size);
                           return bp_status{BP_OK};
                         }};
  NowDoing(what);
  env.env().Call(what, [&](bp_env* e) { return draw(e, 0, &writer); });
  return text;
}

void PicturesChangeNothing(Subject& subject, CaseResult*) {
  DrivenEnv env(subject, {.rows = 1}), undrawn(subject, {.rows = 1});
  const auto* render = env.env().Extension<bp_env_render_1>(BP_ENV_RENDER_1);
  if (render == nullptr) SkipCase("draws no pictures");
  uint32_t width = 0, height = 0;
  env.env().Call("size", [&](bp_env* e) { return render->size(e, &width, &height); });
  if (width == 0 || height == 0 || width > 16384 || height > 16384)
    FailCase("size", "1 to 16384 pixels", fmt::format("{} x {}", width, height));
  env.ResetAll(), undrawn.ResetAll();
  Drawn(env, "backdrop", render->backdrop);
  for (uint64_t t = 0; t < 20; ++t) {
    const std::string once = Drawn(env, "frame", render->frame);
    if (once != Drawn(env, "frame", render->frame)) FailCase("frame, twice of one state", "the same bytes", "different bytes");
    env.Play(t, t + 1), undrawn.Play(t, t + 1);
  }
  env.CheckGuards("frame");
  if (const auto found = env.Difference(undrawn.record(0), env.record(0)))
    FailCase("steps with pictures drawn between them", "the same bytes as without", *found);
}

}  // namespace

std::vector<Case> EnvExtensionCases() {
  return {
      {"snapshot-continues", kOfEnvs, "A row set to a snapshot has its observation and repeats the next 200 steps bit for bit.",
       "Save everything that affects the next step: the random stream's counter, a solver's warm start, the step count.",
       SnapshotContinues, kPlays | CallSet{PluginCall::kSnapshot}, Evidence::kCompares},
      {"snapshot-refuses", kOfEnvs, "`set` rejects bytes that are not a snapshot of this env, model and version.",
       "Start a snapshot with a number that identifies them.", SnapshotRefuses, kPlays | CallSet{PluginCall::kSnapshot}},
      {"inject-comes-back", kOfEnvs, "A state set by name reads back unchanged.", "Set and get all parts in the same order.",
       InjectComesBack, kPlays | CallSet{PluginCall::kInject}},
      {"source-keeps-order", kOfEnvs,
       "For one seed, a data set returns each item once per epoch, in an order that does not depend on the sizes of the "
       "groups.",
       "Derive the order of an epoch only from the seed.", SourceKeepsItsOrder, kPlays | CallSet{PluginCall::kSource}},
      {"pictures-change-nothing", kOfEnvs, "The same state gives the same picture, and drawing changes no step.",
       "Draw from const state.", PicturesChangeNothing, kPlays | CallSet{PluginCall::kRender}, Evidence::kCompares},
  };
}

}  // namespace backplane
