#include "grid.hpp"

#include <algorithm>
#include <cstring>

#include "cells.hpp"
#include "drawing.hpp"
#include "observe.hpp"
#include "step.hpp"

namespace backplane::uav_grid {
namespace {

void WriteStatistics(const Tally& tally, int64_t n_uavs, float* const* out) {
  const auto n = static_cast<double>(n_uavs);
  const double values[uav::kNStatistics] = {static_cast<double>(tally.arrived) / n,
                                            static_cast<double>(tally.crashed) / n,
                                            static_cast<double>(n_uavs - tally.arrived - tally.crashed) / n,
                                            tally.arrived == n_uavs ? 1.0 : 0.0,
                                            static_cast<double>(tally.walked) / n,
                                            static_cast<double>(tally.conflicts[kStatic]),
                                            static_cast<double>(tally.conflicts[kVertex]),
                                            static_cast<double>(tally.conflicts[kEdge])};
  for (int i = 0; i < uav::kNStatistics; ++i)
    if (out[i]) *out[i] = static_cast<float>(values[i]);
}

[[noreturn]] void RefuseAction(const Row& row, uint64_t r, const int32_t* action) {
  size_t i = 0;
  while (row.uavs[i].status != Status::kActive || (action[i] >= 0 && action[i] < uav::kActions)) ++i;
  throw bp::Error(BP_E_INVALID_ARG, "the action of UAV " + std::to_string(i) + " in row " + std::to_string(r) +
                                        ": expected 0 .. 8, got " + std::to_string(action[i]));
}

}  // namespace

struct UavGrid::Shown {
  View Row(uint64_t r) const {
    return {obs[r].data(),   has_patch ? patch[r].data() : nullptr,
            state[r].data(), has_map ? map[r].data() : nullptr,
            mask[r].data(),  alive[r].data()};
  }
  bool has_patch, has_map;
  bp::RowsOf<float> obs, state;
  bp::RowsOf<int8_t> patch, map;
  bp::RowsOf<uint8_t> mask, alive;
};

UavGrid::UavGrid(const uav::Options& options, uint64_t rows) : model_(options), channels_(options) {
  rows_.reserve(rows);
  for (uint64_t r = 0; r < rows; ++r) rows_.emplace_back(model_);
}

void UavGrid::Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) {
  std::unique_ptr<Drawer> drawer = TakeDrawer();
  const Shown shown = ShownIn(slot);
  for (uint64_t r = begin; r < end; ++r) {
    if (mask && !mask[r]) continue;
    drawer->maker.Draw(seeds[r], &drawer->map);
    Start(drawer->map, &rows_[r]);
    Explore(model_, &rows_[r]);
    Show(shown, r, r + 1);
  }
  FinishStreams();
  GiveBack(std::move(drawer));
}

void UavGrid::Start(const uav::Map& map, Row* row) const {
  const int64_t side = model_.options.grid_size;
  std::copy(model_.free_map.begin(), model_.free_map.end(), row->map.begin());
  for (const int32_t cell : map.obstacles) row->map[model_.Index(cell % side, cell / side)] = 1;
  if (model_.explores())
    std::fill(row->shown.begin(), row->shown.end(), int8_t{-1});
  else
    ShowMap(row);
  row->tally = {};
  for (size_t i = 0; i < row->uavs.size(); ++i) {
    Uav& u = row->uavs[i];
    u = {};
    u.x = static_cast<int32_t>(map.start[i] % side), u.y = static_cast<int32_t>(map.start[i] / side);
    u.tx = static_cast<int32_t>(map.target[i] % side), u.ty = static_cast<int32_t>(map.target[i] / side);
    u.distance = uav::Distance(u.tx - u.x, u.ty - u.y);
  }
}

void UavGrid::Step(const bp::Slot& slot, uint64_t begin, uint64_t end) {
  const uav::Channels& c = channels_;
  const Shown shown = ShownIn(slot);
  const auto actions = slot.Rows(c.action);
  const auto reward = slot.Rows(c.reward);
  const auto terminated = slot.Rows(c.terminated);
  const bool tells_ended = slot.Has(c.agent_ended);
  for (uint64_t r = begin; r < end; ++r) {
    Row& row = rows_[r];
    const int32_t* action = actions[r].data();
    uint8_t* ended = tells_ended ? slot.Row(c.agent_ended, r).data() : row.unwanted.data();
    if (!Advance(model_, action, &row, reward[r].data(), ended)) RefuseAction(row, r, action);
    terminated[r][0] = row.tally.arrived + row.tally.crashed == model_.options.n_uavs;
    float* statistics[uav::kNStatistics];
    for (int i = 0; i < uav::kNStatistics; ++i)
      statistics[i] = slot.Has(c.statistics[i]) ? slot.Row(c.statistics[i], r).data() : nullptr;
    WriteStatistics(row.tally, model_.options.n_uavs, statistics);
    Explore(model_, &row);
    Show(shown, r, end);
  }
  FinishStreams();
}

UavGrid::Shown UavGrid::ShownIn(const bp::Slot& slot) const {
  const uav::Channels& c = channels_;
  return {.has_patch = model_.options.bytes(),
          .has_map = c.has_map,
          .obs = slot.Rows(c.obs),
          .state = slot.Rows(c.state),
          .patch = model_.options.bytes() ? slot.Rows(c.patch) : bp::RowsOf<int8_t>(),
          .map = c.has_map ? slot.Rows(c.map) : bp::RowsOf<int8_t>(),
          .mask = slot.Rows(c.mask),
          .alive = slot.Rows(c.alive)};
}

// Rows from `end` on belong to other calls.
void UavGrid::Show(const Shown& shown, uint64_t r, uint64_t end) const {
  const View next = shown.Row(r + 1 < end ? r + 1 : r);
  Observe(model_, rows_[r], shown.Row(r), r + 1 < end ? &next : nullptr);
}

std::unique_ptr<UavGrid::Drawer> UavGrid::TakeDrawer() {
  const std::lock_guard lock(mutex_);
  if (drawers_.empty()) return std::make_unique<Drawer>(model_.options);
  std::unique_ptr<Drawer> drawer = std::move(drawers_.back());
  drawers_.pop_back();
  return drawer;
}

void UavGrid::GiveBack(std::unique_ptr<Drawer> drawer) {
  const std::lock_guard lock(mutex_);
  drawers_.push_back(std::move(drawer));
}

template <class Function>
void UavGrid::ForEachCell(Function&& function) const {
  for (int64_t y = 0; y < model_.options.grid_size; ++y)
    for (int64_t x = 0; x < model_.options.grid_size; ++x) function(model_.Index(x, y));
}

// The obstacles in STATE, if it contains them.
void UavGrid::ShowMap(Row* row) const {
  if (row->shown.empty()) return;
  auto to = row->shown.begin();
  ForEachCell([&](int64_t index) { *to++ = row->map[index]; });
}

uint64_t UavGrid::StateBytes() const {
  const uint64_t maps = model_.explores() ? 2 : 1;
  return sizeof(Tally) + model_.options.n_uavs * sizeof(Uav) + maps * model_.options.cells();
}

// {tally, UAVs, obstacles, explored cells: one byte per cell}
void UavGrid::Save(uint64_t r, void* out) const {
  const Row& row = rows_[r];
  auto* to = static_cast<char*>(out);
  std::memcpy(to, &row.tally, sizeof row.tally), to += sizeof row.tally;
  std::memcpy(to, row.uavs.data(), row.uavs.size() * sizeof(Uav)), to += row.uavs.size() * sizeof(Uav);
  ForEachCell([&](int64_t index) { *to++ = static_cast<char>(row.map[index]); });
  if (model_.explores()) std::memcpy(to, row.shown.data(), row.shown.size());
}

void UavGrid::Load(uint64_t r, const void* data) {
  Row& row = rows_[r];
  const auto* from = static_cast<const char*>(data);
  std::memcpy(&row.tally, from, sizeof row.tally), from += sizeof row.tally;
  std::memcpy(row.uavs.data(), from, row.uavs.size() * sizeof(Uav)), from += row.uavs.size() * sizeof(Uav);
  ForEachCell([&](int64_t index) { row.map[index] = static_cast<int8_t>(*from++); });
  if (model_.explores())
    std::memcpy(row.shown.data(), from, row.shown.size());
  else
    ShowMap(&row);
}

// Different sizes of grid or patch may have channels of equal shape if STATE has no map.
uint64_t UavGrid::StateKey() const {
  const uav::Options& o = model_.options;
  return static_cast<uint64_t>(o.grid_size) << 32 | static_cast<uint64_t>(o.sensor_radius) << 8 |
         static_cast<uint64_t>(o.state_map);
}

bp::PictureSize UavGrid::SizeOfPicture() const { return uav_grid::SizeOfPicture(model_); }
void UavGrid::DrawBackdrop(uint64_t r, std::string* out) const { DrawMap(model_, rows_[r], out); }
void UavGrid::DrawFrame(uint64_t r, std::string* out) const { DrawUavs(model_, rows_[r], out); }

}  // namespace backplane::uav_grid
