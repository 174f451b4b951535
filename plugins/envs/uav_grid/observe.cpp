#include "observe.hpp"

#include <cstring>

#include "nn/simd.hpp"

namespace backplane::uav_grid {
namespace {

using nn::Vec;

constexpr int64_t kLanes = nn::kLanes<float>;
static_assert(kMargin == kLanes);

// `lines` lines of `width` bytes, `stride` apart, as floats one after the other. Goes from the end to the beginning in whole
// vectors: what each writes too much lies before it, and is written after it, but for up to kLanes - 1 floats before `out`,
// which the caller writes afterwards.
BP_NN_INLINE void Widen(const int8_t* from, int64_t stride, int64_t lines, int64_t width, float* out) {
  typedef int8_t Bytes __attribute__((vector_size(16)));
  typedef int32_t Ints __attribute__((vector_size(64)));
  for (int64_t y = lines - 1; y >= 0; --y) {
    for (int64_t end = width; end > 0; end -= kLanes) {
      Bytes bytes;
      std::memcpy(&bytes, from + y * stride + end - kLanes, sizeof bytes);
      const Ints ints = __builtin_convertvector(bytes, Ints);
      nn::Store<float>(__builtin_convertvector(ints, Vec<float>), out + y * width + end - kLanes);
    }
  }
}

// The same, where there is no room before `out`.
void WidenOneByOne(const int8_t* from, int64_t stride, int64_t lines, int64_t width, float* out) {
  for (int64_t y = 0; y < lines; ++y)
    for (int64_t x = 0; x < width; ++x) out[y * width + x] = from[y * stride + x];
}

BP_NN_INLINE void Zero(float* out, int64_t n) {
  const Vec<float> zero{};
  if (n < kLanes) {
    for (int64_t i = 0; i < n; ++i) out[i] = 0;
    return;
  }
  for (int64_t i = 0; i + kLanes <= n; i += kLanes) nn::Store<float>(zero, out + i);
  nn::Store<float>(zero, out + n - kLanes);
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

// The blocks of the UAVs that see each other; the others' are zero already.
BP_NN_INLINE void WriteSeen(const Model& model, const Row& row, float* obs) {
  const int64_t radius = model.options.sensor_radius, n = model.options.n_uavs, size = uav::ObsSize(model.options);
  const auto reach = static_cast<uint64_t>(2 * radius);
  for (int64_t j = 1; j < n; ++j) {
    const Uav& b = row.uavs[j];
    if (b.status != Status::kActive) continue;
    for (int64_t i = 0; i < j; ++i) {
      const Uav& a = row.uavs[i];
      const int64_t dx = b.x - a.x, dy = b.y - a.y;
      const bool near = (static_cast<uint64_t>(dx + radius) <= reach) & (static_cast<uint64_t>(dy + radius) <= reach);
      if (!near || a.status != Status::kActive) continue;
      WriteOther(model, b, dx, dy, obs + i * size + uav::kSelf + (j - 1) * uav::kOther);
      WriteOther(model, a, -dx, -dy, obs + j * size + uav::kSelf + i * uav::kOther);
    }
  }
}

struct ObserveRow {
  template <nn::Isa>
  static BP_NN_INLINE void Run(const Model* model, const Row* row, float time, const View* out) {
    const uav::Options& o = model->options;
    const int64_t n = o.n_uavs, size = uav::ObsSize(o), others = uav::kOther * (n - 1), side = o.patch_side();
    const bool room = uav::kSelf + others >= kLanes - 1;
    for (int64_t i = 0; i < n; ++i) {
      const Uav& u = row->uavs[i];
      float* obs = out->obs + i * size;
      if (u.status != Status::kActive) {
        Zero(obs, size);
        continue;
      }
      const int8_t* corner = &row->map[model->Index(u.x - o.sensor_radius, u.y - o.sensor_radius)];
      float* patch = obs + uav::kSelf + others;
      room ? Widen(corner, model->stride, side, side, patch) : WidenOneByOne(corner, model->stride, side, side, patch);
      Zero(obs + uav::kSelf, others);
      WriteSelf(*model, u, time, obs);
    }
    WriteSeen(*model, *row, out->obs);
    WriteState(*model, *row, time, out->state);
  }

  static BP_NN_INLINE void WriteState(const Model& model, const Row& row, float time, float* out) {
    const uav::Options& o = model.options;
    const int64_t head = uav::kStatePerUav * o.n_uavs + 1;
    if (o.state_map != uav::StateMap::kNone) {
      const int8_t* from = &(o.state_map == uav::StateMap::kFull ? row.map : row.explored)[model.Index(0, 0)];
      head >= kLanes - 1 ? Widen(from, model.stride, o.grid_size, o.grid_size, out + head)
                         : WidenOneByOne(from, model.stride, o.grid_size, o.grid_size, out + head);
    }
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
    *out = time;
  }
};

// Staying is always allowed, and all that a UAV that has ended may do.
void WriteMask(const Model& model, const Row& row, const View& out) {
  for (int64_t i = 0; i < model.options.n_uavs; ++i) {
    const Uav& u = row.uavs[i];
    const bool active = u.status == Status::kActive;
    uint8_t* mask = out.mask + i * uav::kActions;
    out.alive[i] = active;
    mask[0] = 1;
    const int8_t* here = &row.map[model.Index(u.x, u.y)];
    for (int64_t a = 1; a < uav::kActions; ++a) mask[a] = active & (!model.options.mask_static | (here[model.offset[a]] == 0));
  }
}

}  // namespace

void Explore(const Model& model, Row* row) {
  if (row->explored.empty()) return;
  const int64_t radius = model.options.sensor_radius, side = model.options.patch_side();
  for (const Uav& u : row->uavs) {
    if (u.status != Status::kActive) continue;
    const int64_t corner = model.Index(u.x - radius, u.y - radius);
    for (int64_t y = 0; y < side; ++y)
      std::memcpy(&row->explored[corner + y * model.stride], &row->map[corner + y * model.stride], side);
  }
}

void Observe(const Model& model, const Row& row, const View& out) {
  const auto time = static_cast<float>(static_cast<double>(row.tally.t) / static_cast<double>(model.options.max_steps));
  nn::Dispatch<ObserveRow>(&model, &row, time, &out);
  WriteMask(model, row, out);
}

}  // namespace backplane::uav_grid
