#include "observe.hpp"

#include <algorithm>
#include <cstring>

#include "cells.hpp"

namespace backplane::uav_grid {
namespace {

// Prefetches memory for writing. A rollout is larger than the caches, and waiting for it was half of a step's time.
template <class T>
BP_NN_INLINE void Fetch(const T* place, int64_t n) {
  constexpr int64_t kLine = 64 / sizeof(T);
  for (int64_t i = 0; i < n; i += kLine) __builtin_prefetch(place + i, 1, 2);
}

BP_NN_INLINE void WriteSelf(const Model& model, const Uav& u, float time, float* out) {
  out[0] = model.Scaled(u.x);
  out[1] = model.Scaled(u.y);
  out[2] = u.dx;
  out[3] = u.dy;
  out[4] = model.Scaled(u.tx - u.x);
  out[5] = model.Scaled(u.ty - u.y);
  out[6] = static_cast<float>(u.distance / model.diagonal);
  out[7] = time;
}

BP_NN_INLINE void WriteOther(const Model& model, const Uav& u, int64_t dx, int64_t dy, float* out) {
  out[0] = 1;
  out[1] = model.Relative(dx);
  out[2] = model.Relative(dy);
  out[3] = u.dx;
  out[4] = u.dy;
}

// Marks UAV b, which is at (dx, dy) from the UAV whose patches these are.
template <class T>
BP_NN_INLINE void MarkOther(const Model& model, const Uav& b, int64_t dx, int64_t dy, T* patches) {
  const int64_t radius = model.options.sensor_radius, side = model.options.patch_side();
  patches[(dy + radius) * side + dx + radius] = 1;
  const int64_t next_x = dx + b.dx + radius, next_y = dy + b.dy + radius;
  if (next_x >= 0 && next_x < side && next_y >= 0 && next_y < side) patches[(side + next_y) * side + next_x] = 1;
}

// The UAVs' patches: T is float in OBS and int8_t in a separate channel.
template <class T>
struct Patches {
  T* of(int64_t i) const { return first + i * stride; }
  T* first;
  int64_t stride;
};

// The blocks or marks of the UAVs that see each other; the others' are zero already.
template <class T>
BP_NN_INLINE void WriteSeen(const Model& model, const Row& row, float* obs, const Patches<T>& patches) {
  const int64_t size = uav::ObsSize(model.options);
  const bool drawn = model.options.others == uav::Others::kPatches;
  row.near.ForEachPair(row.uavs, model.options.sensor_radius, [&](int64_t i, int64_t j) {
    const Uav &a = row.uavs[i], &b = row.uavs[j];
    const int64_t dx = b.x - a.x, dy = b.y - a.y;
    if (drawn) {
      MarkOther(model, b, dx, dy, patches.of(i));
      MarkOther(model, a, -dx, -dy, patches.of(j));
    } else {
      WriteOther(model, b, dx, dy, obs + i * size + uav::kSelf + (j - 1) * uav::kOther);
      WriteOther(model, a, -dx, -dy, obs + j * size + uav::kSelf + i * uav::kOther);
    }
  });
}

// Staying is always allowed, and all that a UAV that has ended may do. One shuffle of the three lines around the UAV yields the
// masks of the other moves, in the order of uav::kMoves.
BP_NN_INLINE void WriteMask(const Model& model, const Row& row, const View& out) {
  typedef int8_t Bytes __attribute__((vector_size(16)));
  typedef int32_t Words __attribute__((vector_size(16)));
  static_assert(uav::kActions == 9 && uav::kMoves[1].dy == -1 && uav::kMoves[8].dx == 1 && uav::kMoves[8].dy == 1);
  const bool all = !model.options.mask_static;
  for (int64_t i = 0; i < model.options.n_uavs; ++i) {
    const Uav& u = row.uavs[i];
    const bool active = u.status == Status::kActive;
    uint8_t* mask = out.mask + i * uav::kActions;
    out.alive[i] = active;
    mask[0] = 1;
    const int8_t* corner = &row.map[model.Index(u.x - 1, u.y - 1)];
    int32_t lines[3];
    for (int64_t y = 0; y < 3; ++y) std::memcpy(&lines[y], corner + y * model.stride, sizeof *lines);
    const auto around = reinterpret_cast<Bytes>(Words{lines[0], lines[1], lines[2], 0});
    const Bytes moves = __builtin_shufflevector(around, around, 1, 9, 4, 6, 0, 8, 2, 10, 3, 3, 3, 3, 3, 3, 3, 3);
    Bytes allowed = all ? ~Bytes{} : moves == 0;
    allowed = active ? -allowed : Bytes{};  // of -1 and 0
    std::memcpy(mask + 1, &allowed, uav::kActions - 1);
  }
}

struct ObserveRow {
  template <nn::Isa isa>
  static BP_NN_INLINE void Run(const Model* model, const Row* row, float time, const View* out, const View* next) {
    const uav::Options& o = model->options;
    if (out->patch) {
      WriteObs<isa>(*model, *row, time, *out, next, Patches<int8_t>{out->patch, uav::PatchesSize(o)});
    } else {
      const int64_t size = uav::ObsSize(o);
      WriteObs<isa>(*model, *row, time, *out, next, Patches<float>{out->obs + size - uav::PatchesSize(o), size});
    }
    WriteState<isa>(*model, *row, time, *out, next);
    WriteMask(*model, *row, *out);
  }

  template <nn::Isa isa, class T>
  static BP_NN_INLINE void WriteObs(const Model& model, const Row& row, float time, const View& out, const View* next,
                                    const Patches<T>& patches) {
    const uav::Options& o = model.options;
    const int64_t n = o.n_uavs, size = uav::ObsSize(o), all = uav::PatchesSize(o), side = o.patch_side();
    const bool drawn = o.others == uav::Others::kPatches;
    const int64_t listed = drawn ? 0 : uav::OthersSize(o), marks = drawn ? uav::OthersSize(o) : 0;
    for (int64_t i = 0; i < n; ++i) {
      const Uav& u = row.uavs[i];
      float* obs = out.obs + i * size;
      if (next) Fetch(next->obs + i * size, size);
      if (next && next->patch) Fetch(next->patch + i * all, all);
      if (u.status != Status::kActive) {
        Clear<isa>(uav::kSelf + listed, obs);
        Clear<isa>(all, patches.of(i));
        continue;
      }
      WriteSelf(model, u, time, obs);
      Clear<isa>(listed, obs + uav::kSelf);
      Clear<isa>(marks, patches.of(i));
      const int8_t* corner = &row.map[model.Index(u.x - o.sensor_radius, u.y - o.sensor_radius)];
      CopyLines<isa>(corner, model.stride, side, side, patches.of(i) + marks);
    }
    WriteSeen(model, row, out.obs, patches);
  }

  template <nn::Isa isa>
  static BP_NN_INLINE void WriteState(const Model& model, const Row& row, float time, const View& view, const View* next) {
    const uav::Options& o = model.options;
    if (next) Fetch(next->state, o.n_uavs * uav::kStatePerUav + 1);
    if (next && next->map) Fetch(next->map, uav::MapSize(o));
    float* out = view.state;
    for (const Uav& u : row.uavs) {
      out[0] = model.Scaled(u.x);
      out[1] = model.Scaled(u.y);
      out[2] = u.dx;
      out[3] = u.dy;
      out[4] = model.Scaled(u.tx);
      out[5] = model.Scaled(u.ty);
      out[6] = u.status == Status::kActive;
      out[7] = u.status == Status::kArrived;
      out += uav::kStatePerUav;
    }
    *out++ = time;
    if (o.state_map == uav::StateMap::kNone) return;
    if (view.map)
      std::memcpy(view.map, row.shown.data(), row.shown.size());
    else
      StreamCells<isa>(row.shown.data(), o.cells(), out);
  }
};

}  // namespace

void Explore(const Model& model, Row* row) {
  if (!model.explores()) return;
  const int64_t radius = model.options.sensor_radius, size = model.options.grid_size;
  for (const Uav& u : row->uavs) {
    if (u.status != Status::kActive) continue;
    const int64_t left = std::max<int64_t>(u.x - radius, 0), right = std::min<int64_t>(u.x + radius + 1, size);
    const int64_t top = std::max<int64_t>(u.y - radius, 0), bottom = std::min<int64_t>(u.y + radius + 1, size);
    for (int64_t y = top; y < bottom; ++y)
      std::memcpy(&row->shown[y * size + left], &row->map[model.Index(left, y)], static_cast<size_t>(right - left));
  }
}

void Observe(const Model& model, const Row& row, const View& out, const View* next) {
  const auto time = static_cast<float>(static_cast<double>(row.tally.t) / static_cast<double>(model.options.max_steps));
  nn::Dispatch<ObserveRow>(&model, &row, time, &out, next);
}

}  // namespace backplane::uav_grid
