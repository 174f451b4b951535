#include "grid.hpp"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <map>

#include "board.hpp"
#include "torch/errors.hpp"
#include "uav/channels.hpp"

namespace backplane::uav_grid_tensor {
namespace {

// The channels of every grid, plus the additions of an env that resets itself.
struct OwnChannels : uav::Channels {
  explicit OwnChannels(const uav::Options& o)
      : Channels(o),
        truncated(spec.Add<uint8_t>({.role = BP_ROLE_TRUNCATED, .name = "truncated"})),
        final_obs(spec.Add<float>(
            {.role = BP_ROLE_FINAL_OBS, .name = "final_obs", .shape = {uav::ObsSize(o)}, .scope = BP_SCOPE_AGENT})),
        final_state(spec.Add<float>({.role = BP_ROLE_FINAL_STATE, .name = "final_state", .shape = {uav::StateSize(o)}})) {
    if (o.bytes())
      final_patch = spec.Add<int8_t>(uav::BytesOf(BP_ROLE_FINAL_OBS, "final_patch", uav::PatchesSize(o), BP_SCOPE_AGENT));
    if (has_map) final_map = spec.Add<int8_t>(uav::BytesOf(BP_ROLE_FINAL_STATE, "final_map", uav::MapSize(o), BP_SCOPE_ROW));
  }
  bp::Handle<uint8_t> truncated;
  bp::Handle<float> final_obs, final_state;
  bp::Handle<int8_t> final_patch, final_map;  // as `patch` and `map`
};

at::Device DeviceOf(const Options& options) {
  return options.device == Device::kCpu ? at::Device(at::kCPU) : at::Device(at::kCUDA, 0);
}

// Converts LibTorch's exceptions to the plugin's and disables autograd.
template <class Body>
auto Run(Body&& body) {
  return torch_common::WithTorchErrors([&] {
    const c10::InferenceMode no_gradients;
    return body();
  });
}

}  // namespace

void Options::Check(const bp::Config& config) const {
  uav::Options::Check(config);
  if (n_uavs > uav::kMaxUavsInPairs)
    throw bp::ConfigError("n_uavs: expected at most " + std::to_string(uav::kMaxUavsInPairs) + ", got " +
                          std::to_string(n_uavs) + " (" + config.Where("n_uavs") + "); env.uav_grid supports more");
  if (device == Device::kCuda && !at::hasCUDA())
    throw bp::ConfigError("device is cuda (" + config.Where("device") +
                          "), but LibTorch " BP_BUILD_TORCH " has no CUDA or finds no GPU");
}

struct TensorGrid::Tensors {
  Tensors(const Options& o, int64_t n)
      : options(o),
        channels(o),
        rows(n),
        device(DeviceOf(o)),
        run_ahead(o.run_ahead ? *o.run_ahead == RunAhead::kAlways : !device.is_cpu()),
        queue(options, n),
        board(options, queue.records(), n, device, run_ahead),
        maps(at::zeros({n * queue.ahead(), queue.records().size()}, at::TensorOptions(device).dtype(at::kInt))),
        used(at::zeros({n}, at::TensorOptions(device).dtype(at::kLong))),
        first_place(at::arange(n, used.options()) * queue.ahead()) {}

  at::Tensor Bytes(const void* at_device, int64_t n, int64_t each = 1) const {
    return at::from_blob(const_cast<void*>(at_device), {n, each}, at::TensorOptions(device).dtype(at::kByte));
  }
  static at::Tensor HostBytes(const void* host, int64_t n) {
    return at::from_blob(const_cast<void*>(host), {n, 1}, at::TensorOptions().dtype(at::kByte));
  }

  // A channel of a slot, [R, shape...].
  template <class T>
  at::Tensor Bound(const bp::Slot& slot, bp::Handle<T> channel, std::vector<int64_t> shape = {}) const {
    auto* data = const_cast<std::remove_const_t<T>*>(slot.Row(channel, 0).data());
    std::vector<int64_t> strides(shape.size() + 1, 1);
    for (size_t i = shape.size(); i-- > 1;) strides[i] = strides[i + 1] * shape[i];
    strides[0] = slot.Row(channel, 1).data() - data;
    shape.insert(shape.begin(), rows);
    return at::from_blob(data, shape, strides,
                         at::TensorOptions(device).dtype(c10::CppTypeToScalarType<std::remove_const_t<T>>::value));
  }
  View ViewOf(const bp::Slot& slot) const {
    const int64_t n = options.n_uavs;
    return {.obs = Bound(slot, channels.obs, {n, uav::ObsSize(options)}),
            .patch = options.bytes() ? Bound(slot, channels.patch, {n, uav::PatchesSize(options)}) : at::Tensor(),
            .state = Bound(slot, channels.state, {uav::StateSize(options)}),
            .map = channels.has_map ? Bound(slot, channels.map, {uav::MapSize(options)}) : at::Tensor(),
            .mask = Bound(slot, channels.mask, {n, uav::kActions}),
            .alive = Bound(slot, channels.alive, {n})};
  }

  // Copies the last observations of rows that have ended.
  void KeepFinals(const bp::Slot& slot, const Rows& which, const View& view) const {
    const int64_t n = options.n_uavs;
    const OwnChannels& c = channels;
    const auto keep = [&](at::Tensor last, const at::Tensor& now) {
      which.mask.defined() ? last.copy_(now) : last.index_copy_(0, which.index, now.index_select(0, which.index));
    };
    keep(Bound(slot, c.final_obs, {n, uav::ObsSize(options)}), view.obs);
    keep(Bound(slot, c.final_state, {uav::StateSize(options)}), view.state);
    if (view.patch.defined()) keep(Bound(slot, c.final_patch, {n, uav::PatchesSize(options)}), view.patch);
    if (view.map.defined()) keep(Bound(slot, c.final_map, {uav::MapSize(options)}), view.map);
  }
  void Start(const Rows& which, const at::Tensor& records, const View& view) {
    board.Start(which, records);
    board.Explore(which);
    board.Show(which, view);
  }
  // The only read from the device: the number of maps used per row, and wrong actions.
  at::Tensor Used() const {
    const at::Tensor looked = at::cat({used, board.WrongAction()}).to(at::kCPU);
    if (const int64_t wrong = looked[rows].item<int64_t>(); wrong != 0) {
      const int64_t place = (wrong >> 32) - 1;
      throw bp::Error(BP_E_INVALID_ARG, "the action of UAV " + std::to_string(place % options.n_uavs) + " in row " +
                                            std::to_string(place / options.n_uavs) + ": expected 0 .. 8, got " +
                                            std::to_string(static_cast<int32_t>(wrong)) + ", some steps ago");
    }
    return looked;
  }
  void Send(const MapQueue::Fresh& fresh) {
    left = queue.ahead();
    const auto n = static_cast<int64_t>(fresh.places.size());
    if (n == 0) return;
    const at::Tensor places = at::from_blob(const_cast<int64_t*>(fresh.places.data()), {n}, at::kLong);
    const at::Tensor records = at::from_blob(const_cast<int32_t*>(fresh.records.data()), {n, queue.records().size()}, at::kInt);
    maps.index_copy_(0, places.to(device), records.to(device));
  }

  const uav::Options options;
  const OwnChannels channels;
  const int64_t rows;
  const at::Device device;
  const bool run_ahead;
  MapQueue queue;
  Board board;
  at::Tensor maps;         // int32 [R * ahead, record] from the queue
  at::Tensor used;         // int64 [R] maps used
  at::Tensor first_place;  // int64 [R]
  int64_t left = 0;        // steps that the maps will certainly last
  std::map<void*, at::Tensor> blocks;
};

TensorGrid::TensorGrid(const Options& options, uint64_t rows)
    : t_(Run([&] { return std::make_unique<Tensors>(options, static_cast<int64_t>(rows)); })) {}
TensorGrid::~TensorGrid() = default;

bp::EnvSpec TensorGrid::Spec() const {
  bp::EnvSpec spec = t_->channels.spec;
  if (!t_->device.is_cpu()) spec.Device({BP_DEVICE_CUDA, t_->device.index()});
  return spec;
}

void TensorGrid::Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) {
  MapRecords& records = t_->queue.records();
  std::vector<int64_t> which;
  std::vector<int32_t> drawn;
  for (uint64_t r = begin; r < end; ++r) {
    if (mask && !mask[r]) continue;
    which.push_back(static_cast<int64_t>(r));
    drawn.resize(drawn.size() + records.size());
    records.Draw(seeds[r], drawn.data() + drawn.size() - records.size());
  }
  if (which.empty()) return;
  Run([&] {
    const auto n = static_cast<int64_t>(which.size());
    const at::Tensor maps = at::from_blob(drawn.data(), {n, records.size()}, at::kInt).to(t_->device);
    t_->Start({at::tensor(which).to(t_->device), {}}, maps, t_->ViewOf(slot));
  });
}

void TensorGrid::NextSeeds(uint64_t per_row, const uint64_t* seeds) {
  Run([&] {
    const at::Tensor used = t_->Used();
    t_->Send(t_->queue.NextSeeds(static_cast<int64_t>(per_row), seeds, used.const_data_ptr<int64_t>()));
  });
}

void TensorGrid::Step(const bp::Slot& slot, uint64_t begin, uint64_t end) {
  if (begin != 0 || end != static_cast<uint64_t>(t_->rows))
    throw bp::Error(BP_E_INVALID_ARG, "expected rows 0 .. " + std::to_string(t_->rows) + " in one call, got " +
                                          std::to_string(begin) + " .. " + std::to_string(end));
  Run([&] {
    Tensors& t = *t_;
    if (t.left == 0) t.Send(t.queue.TopUp(t.Used().const_data_ptr<int64_t>()));
    --t.left;
    const int64_t n = t.options.n_uavs;
    const OwnChannels& c = t.channels;
    const bool wanted = slot.Has(c.agent_ended);
    t.board.Advance(
        t.Bound(slot, c.action, {n}), t.Bound(slot, c.reward, {n}),
        wanted ? t.Bound(slot, c.agent_ended, {n}) : at::empty({t.rows, n}, at::TensorOptions(t.device).dtype(at::kByte)));
    for (int i = 0; i < uav::kNStatistics; ++i)
      if (slot.Has(c.statistics[i])) t.Bound(slot, c.statistics[i]).copy_(t.board.Statistic(i));
    const at::Tensor terminated = t.board.Terminated(), truncated = t.board.Truncated(), over = terminated | truncated;
    t.Bound(slot, c.terminated).copy_(terminated);
    t.Bound(slot, c.truncated).copy_(truncated);
    const View view = t.ViewOf(slot);
    t.board.Explore({});
    t.board.Show({}, view);

    Rows which;
    if (t.run_ahead)
      which.mask = over;
    else if (which.index = over.nonzero().view(-1); which.index.numel() == 0)
      return;
    t.KeepFinals(slot, which, view);
    at::Tensor places = t.first_place + t.used.remainder(t.queue.ahead());
    if (which.index.defined()) places = places.index_select(0, which.index);
    const at::Tensor records = t.maps.index_select(0, places);
    t.used.add_(over);
    t.Start(which, records, view);
  });
}

void* TensorGrid::Allocate(uint64_t bytes) {
  return Run([&] {
    const at::Tensor block = at::zeros({static_cast<int64_t>(bytes)}, at::TensorOptions(t_->device).dtype(at::kByte));
    return t_->blocks.emplace(block.data_ptr(), block).first->first;
  });
}

void TensorGrid::Release(void* device) { t_->blocks.erase(device); }

void TensorGrid::ToHost(void* host, const void* device, uint64_t bytes) {
  Run([&] { Tensors::HostBytes(host, bytes).copy_(t_->Bytes(device, bytes)); });
}

void TensorGrid::ToDevice(void* device, const void* host, uint64_t bytes) {
  Run([&] { t_->Bytes(device, bytes).copy_(Tensors::HostBytes(host, bytes)); });
}

void TensorGrid::Copy(void* to, const void* from, uint64_t bytes) {
  Run([&] { t_->Bytes(to, bytes).copy_(t_->Bytes(from, bytes)); });
}

void TensorGrid::Gather(void* to, const void* from, uint64_t bytes_each, uint64_t n, const int64_t* indices) {
  Run([&] {
    const at::Tensor which = at::from_blob(const_cast<int64_t*>(indices), {static_cast<int64_t>(n)}, at::kLong);
    if (n == 0) return;
    const int64_t items = which.max().item<int64_t>() + 1;
    at::Tensor out = t_->Bytes(to, n, bytes_each);
    at::index_select_out(out, t_->Bytes(from, items, bytes_each), 0, which.to(t_->device));
  });
}

}  // namespace backplane::uav_grid_tensor
