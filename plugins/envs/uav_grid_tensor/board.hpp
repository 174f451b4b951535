// All rows of the grid as tensors on one device: R rows, N UAVs, M selected rows. Operations have the scalar env's precision
// and order, so that both give the same bits.
#pragma once

#include <ATen/ATen.h>

#include "map_queue.hpp"

namespace backplane::uav_grid_tensor {

// The rows of a call: `index` int64 [M], or the true elements of `mask` bool [R], or all.
struct Rows {
  at::Tensor index, mask;  // at most one is defined
};

// The outputs of the rows.
struct View {
  at::Tensor obs;    // float32 [R, N, ObsSize]
  at::Tensor patch;  // int8 [R, N, PatchesSize]; undefined: part of OBS
  at::Tensor state;  // float32 [R, StateSize]
  at::Tensor map;    // int8 [R, MapSize]; undefined: part of STATE, or unused
  at::Tensor mask;   // uint8 [R, N, kActions]
  at::Tensor alive;  // uint8 [R, N]
};

class Board {
 public:
  // `run_ahead`: never waits for results from the device.
  Board(const uav::Options& options, const MapRecords& records, int64_t rows, at::Device device, bool run_ahead);

  // Starts new episodes in the given rows, from `maps` int32 [M, record], or [R, record] with a mask.
  void Start(const Rows& rows, const at::Tensor& maps);
  // Moves all UAVs of all rows. action int32 [R, N]; writes reward float32 [R, N] and ended uint8 [R, N].
  void Advance(const at::Tensor& action, at::Tensor reward, at::Tensor ended);
  // Adds the cells visible to active UAVs to the explored map, if STATE contains it. With a mask it processes all rows, which
  // does not change rows that are up to date.
  void Explore(const Rows& rows);
  // Writes the given rows. With a mask it writes all rows; the others keep their contents.
  void Show(const Rows& rows, const View& out) const;

  at::Tensor Terminated() const;                     // bool [R]
  at::Tensor Truncated() const;                      // bool [R]
  at::Tensor Statistic(int i) const;                 // float64 or int64 [R], in the order of the ep/ channels
  at::Tensor WrongAction() const { return wrong_; }  // int64 [1]: 0, or (row * N + UAV + 1) << 32 | the action's bits

 private:
  enum Field { kX, kY, kDx, kDy, kTx, kTy, kStatus, kFields };
  enum Count { kTime, kArrivals, kCrashes, kWalked, kStatics, kVertices, kEdges, kCounts };
  struct Proposals;

  at::Tensor Ints(const std::vector<int64_t>& values) const;
  at::Tensor Pick(const at::Tensor& of, int64_t dim, const Rows& rows) const;
  void Put(at::Tensor of, int64_t dim, const Rows& rows, const at::Tensor& value) const;
  at::Tensor Cells(const at::Tensor& uavs, const Rows& rows, int64_t row_size) const;
  // Returns the moves of the actions `a` after all conflicts.
  Proposals Propose(const at::Tensor& active, const at::Tensor& a, const at::Tensor& dx, const at::Tensor& dy) const;
  void CrashConflicts(Proposals* p) const;
  void HoldBackConflicts(Proposals* p) const;
  at::Tensor Shared(const at::Tensor& earned) const;
  void ShowObs(const at::Tensor& uavs, const Rows& rows, const at::Tensor& distance, const at::Tensor& time, at::Tensor obs,
               at::Tensor patches) const;
  at::Tensor Mark(const at::Tensor& x, const at::Tensor& y, const at::Tensor& which) const;
  void ShowState(const at::Tensor& uavs, const Rows& rows, const at::Tensor& time, at::Tensor state, at::Tensor map) const;

  const uav::Options o_;
  const int64_t rows_, border_, side_;  // side of a map with its border
  const at::Device device_;
  const bool run_ahead_;

  at::Tensor uavs_;       // int64 [kFields, R, N]
  at::Tensor distance_;   // float64 [R, N] to the target, cells
  at::Tensor tally_;      // int64 [kCounts, R]
  at::Tensor obstacles_;  // int64 [R, n_obstacles] cells of the map with its border
  at::Tensor map_;        // int8 [R, side * side]: -1 in the border, 1 obstacle, 0 free
  at::Tensor explored_;   // int8 [R, side * side + 1], the last for unseen cells; undefined unless STATE contains it
  at::Tensor wrong_;

  at::Tensor move_x_, move_y_;    // int64 [kActions]
  at::Tensor offsets_, patch_;    // int64: moves, and cells around a UAV, in a map with its border
  at::Tensor row_;                // int64 [R] 0, 1, ...
  at::Tensor gone_;               // int64 [N] distinct places off the grid
  at::Tensor not_self_, after_;   // bool [N, N]: i != j; j < i
  at::Tensor pair_i_, pair_j_;    // int64 [N * (N - 1)] all i != j in order
  at::Tensor scaled_, relative_;  // float32 k / (grid_size - 1), k / sensor_radius, from the smallest k
  // Divisors as tensors: LibTorch may multiply by the reciprocal of a plain number, which rounds differently.
  at::Tensor diagonal_, n_uavs_, max_steps_;  // float64 []
};

}  // namespace backplane::uav_grid_tensor
