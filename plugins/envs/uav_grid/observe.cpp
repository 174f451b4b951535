#include "observe.hpp"

#include <cstring>
#include <type_traits>

#include "nn/simd.hpp"

namespace backplane::uav_grid {
namespace {

constexpr int64_t kLine = 64 / sizeof(float);

template <class T, int N>
struct LanesOf {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};

// N of the map's bytes as numbers. GCC 12 makes a dozen instructions of a conversion that is one.
template <nn::Isa isa, int N>
BP_NN_INLINE void Widen(const int8_t* from, float* out) {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
  if constexpr (isa != nn::Isa::kBase && N >= 8) {
    struct Bytes {
      int8_t of[N];
    };
    typename LanesOf<int32_t, N>::type whole;
    asm("vpmovsxbd %1, %0" : "=v"(whole) : "m"(*reinterpret_cast<const Bytes*>(from)));
    const auto floats = __builtin_convertvector(whole, typename LanesOf<float, N>::type);
    std::memcpy(out, &floats, sizeof floats);
    return;
  }
#endif
  for (int i = 0; i < N; ++i) out[i] = from[i];
}

// Of n numbers, no fewer than N, in pieces of which the last one may overlap the one before.
template <nn::Isa isa, int N>
BP_NN_INLINE void WidenBy(const int8_t* from, int64_t n, float* out) {
  for (int64_t i = 0; i + N < n; i += N) Widen<isa, N>(from + i, out + i);
  Widen<isa, N>(from + n - N, out + n - N);
}

// Writes `lines` lines of `width` > 0 numbers, `stride` apart, one after the other. A loop over short lines of any width would
// cost more than the numbers.
template <nn::Isa isa>
BP_NN_INLINE void WidenLines(const int8_t* from, int64_t stride, int64_t lines, int64_t width, float* out) {
  constexpr int kWide = nn::kLanes<float, isa>;
  const auto each = [&](auto n) {
    for (int64_t y = 0; y < lines; ++y) WidenBy<isa, n.value>(from + y * stride, width, out + y * width);
  };
  if (width >= kWide)
    each(std::integral_constant<int, kWide>());
  else if (kWide > 8 && width >= 8)
    each(std::integral_constant<int, 8>());
  else if (kWide > 4 && width >= 4)
    each(std::integral_constant<int, 4>());
  else
    for (int64_t y = 0; y < lines; ++y)
      for (int64_t x = 0; x < width; ++x) out[y * width + x] = from[y * stride + x];
}

template <nn::Isa isa>
BP_NN_INLINE void Clear(int64_t n, float* out) {
  constexpr int64_t kWide = nn::kLanes<float, isa>;
  const nn::Vec<float, isa> zero{};
  if (n < kWide) {
    for (int64_t i = 0; i < n; ++i) out[i] = 0;
    return;
  }
  for (int64_t i = 0; i + kWide < n; i += kWide) nn::Store(zero, out + i);
  nn::Store(zero, out + n - kWide);
}

// Asks for memory that will be written. A rollout is larger than the caches, and half of a step's time went by waiting for it.
BP_NN_INLINE void Fetch(const float* place, int64_t n) {
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
BP_NN_INLINE void MarkOther(const Model& model, const Uav& b, int64_t dx, int64_t dy, float* patches) {
  const int64_t radius = model.options.sensor_radius, side = model.options.patch_side();
  patches[(dy + radius) * side + dx + radius] = 1;
  const int64_t next_x = dx + b.dx + radius, next_y = dy + b.dy + radius;
  if (next_x >= 0 && next_x < side && next_y >= 0 && next_y < side) patches[(side + next_y) * side + next_x] = 1;
}

// The blocks of the UAVs that see each other; the others' are zero already.
BP_NN_INLINE void WriteSeen(const Model& model, const Row& row, float* obs) {
  const int64_t size = uav::ObsSize(model.options);
  const bool patches = model.options.others == uav::Others::kPatches;
  row.near.ForEachPair(row.uavs, model.options.sensor_radius, [&](int64_t i, int64_t j) {
    const Uav &a = row.uavs[i], &b = row.uavs[j];
    const int64_t dx = b.x - a.x, dy = b.y - a.y;
    float *of_a = obs + i * size + uav::kSelf, *of_b = obs + j * size + uav::kSelf;
    if (patches) {
      MarkOther(model, b, dx, dy, of_a);
      MarkOther(model, a, -dx, -dy, of_b);
    } else {
      WriteOther(model, b, dx, dy, of_a + (j - 1) * uav::kOther);
      WriteOther(model, a, -dx, -dy, of_b + i * uav::kOther);
    }
  });
}

struct ObserveRow {
  template <nn::Isa isa>
  static BP_NN_INLINE void Run(const Model* model, const Row* row, float time, const View* out, const View* next) {
    const uav::Options& o = model->options;
    const int64_t n = o.n_uavs, size = uav::ObsSize(o), others = uav::OthersSize(o), side = o.patch_side();
    for (int64_t i = 0; i < n; ++i) {
      const Uav& u = row->uavs[i];
      float* obs = out->obs + i * size;
      if (next) Fetch(next->obs + i * size, size);
      if (u.status != Status::kActive) {
        Clear<isa>(size, obs);
        continue;
      }
      const int8_t* corner = &row->map[model->Index(u.x - o.sensor_radius, u.y - o.sensor_radius)];
      WriteSelf(*model, u, time, obs);
      Clear<isa>(others, obs + uav::kSelf);
      WidenLines<isa>(corner, model->stride, side, side, obs + uav::kSelf + others);
    }
    WriteSeen(*model, *row, out->obs);
    WriteState<isa>(*model, *row, time, out->state, next ? next->state : nullptr);
  }

  template <nn::Isa isa>
  static BP_NN_INLINE void WriteState(const Model& model, const Row& row, float time, float* out, const float* next) {
    const uav::Options& o = model.options;
    if (next) Fetch(next, uav::StateSize(o));
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
    const int8_t* map = &(o.state_map == uav::StateMap::kFull ? row.map : row.explored)[model.Index(0, 0)];
    WidenLines<isa>(map, model.stride, o.grid_size, o.grid_size, out);
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

void Observe(const Model& model, const Row& row, const View& out, const View* next) {
  const auto time = static_cast<float>(static_cast<double>(row.tally.t) / static_cast<double>(model.options.max_steps));
  nn::Dispatch<ObserveRow>(&model, &row, time, &out, next);
  WriteMask(model, row, out);
}

}  // namespace backplane::uav_grid
