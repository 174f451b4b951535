#include "board.hpp"

namespace backplane::uav_grid_tensor {
namespace {

constexpr int64_t kLine = 65536;  // places are y * kLine + x, so that a sum of two keeps x and y apart

constexpr auto kActive = static_cast<int64_t>(uav::Status::kActive), kArrived = static_cast<int64_t>(uav::Status::kArrived),
               kCrashed = static_cast<int64_t>(uav::Status::kCrashed);

at::Tensor Look(const at::Tensor& table, const at::Tensor& index) {
  return table.index_select(0, index.reshape(-1)).view(index.sizes());
}

at::Tensor Distance(const at::Tensor& dx, const at::Tensor& dy) { return (dx * dx + dy * dy).to(at::kDouble).sqrt(); }

}  // namespace

// The moves that UAVs propose. UAVs that have ended, or are gone for the others, have unique places off the grid.
struct Board::Proposals {
  at::Tensor from, to, middle;  // int64 [R, N]
  at::Tensor cause;             // int64 [R, N]
};

Board::Board(const uav::Options& o, const MapRecords& records, int64_t rows, at::Device device, bool run_ahead)
    : o_(o), rows_(rows), border_(records.border()), side_(records.side()), device_(device), run_ahead_(run_ahead) {
  const auto ints = at::TensorOptions(device).dtype(at::kLong);
  const auto number = [&](double value) { return at::full({}, value, at::TensorOptions(device).dtype(at::kDouble)); };
  const int64_t n = o.n_uavs, radius = o.sensor_radius, grid = o.grid_size;
  uavs_ = at::zeros({kFields, rows, n}, ints);
  distance_ = at::zeros({rows, n}, ints.dtype(at::kDouble));
  tally_ = at::zeros({kCounts, rows}, ints);
  wrong_ = at::zeros({1}, ints);
  // Before its first episode a row has all its obstacles in the corner of the grid.
  obstacles_ = at::full({rows, o.n_obstacles}, border_ * side_ + border_, ints);
  map_ = at::full({rows, side_, side_}, -1, ints.dtype(at::kChar));
  map_.narrow(1, border_, grid).narrow(2, border_, grid).zero_();
  map_ = map_.view({rows, side_ * side_});
  if (o.state_map == uav::StateMap::kExplored) explored_ = at::full({rows, side_ * side_ + 1}, -1, ints.dtype(at::kChar));

  std::vector<int64_t> dx, dy, offsets, patch, pair_i, pair_j;
  for (const uav::Move& move : uav::kMoves) {
    dx.push_back(move.dx), dy.push_back(move.dy);
    offsets.push_back(move.dy * side_ + move.dx);
  }
  for (int64_t y = -radius; y <= radius; ++y)
    for (int64_t x = -radius; x <= radius; ++x) patch.push_back(y * side_ + x);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      if (i != j) pair_i.push_back(i), pair_j.push_back(j);
  move_x_ = Ints(dx), move_y_ = Ints(dy), offsets_ = Ints(offsets), patch_ = Ints(patch);
  pair_i_ = Ints(pair_i), pair_j_ = Ints(pair_j);
  row_ = at::arange(rows, ints);
  const at::Tensor uav = at::arange(n, ints);
  gone_ = -1 - uav;
  not_self_ = uav.unsqueeze(1).ne(uav), after_ = uav.unsqueeze(1).gt(uav);
  scaled_ = at::tensor(uav::Quotients(grid - 1)).to(device), relative_ = at::tensor(uav::Quotients(radius)).to(device);
  diagonal_ = number(uav::Distance(grid - 1, grid - 1));
  n_uavs_ = number(static_cast<double>(n)), max_steps_ = number(static_cast<double>(o.max_steps));
}

at::Tensor Board::Ints(const std::vector<int64_t>& values) const { return at::tensor(values, at::kLong).to(device_); }

at::Tensor Board::Pick(const at::Tensor& of, int64_t dim, const Rows& rows) const {
  return rows.index.defined() ? of.index_select(dim, rows.index) : of;
}

void Board::Put(at::Tensor of, int64_t dim, const Rows& rows, const at::Tensor& value) const {
  if (rows.index.defined()) return void(of.index_copy_(dim, rows.index, value));
  std::vector<int64_t> shape(of.dim(), 1);
  shape[dim] = rows_;
  of.copy_(at::where(rows.mask.view(shape), value, of));
}

// The UAVs' indices in a tensor of all rows' maps, [M, N]; a map has `row_size` numbers.
at::Tensor Board::Cells(const at::Tensor& uavs, const Rows& rows, int64_t row_size) const {
  return (uavs[kY] + border_) * side_ + (uavs[kX] + border_) + (Pick(row_, 0, rows) * row_size).unsqueeze(1);
}

void Board::Start(const Rows& rows, const at::Tensor& maps) {
  const at::Tensor record = maps.to(at::kLong);
  const int64_t n = o_.n_uavs, n_obstacles = o_.n_obstacles;
  const auto field = [&](int64_t i) { return record.narrow(1, n_obstacles + i * n, n); };
  const at::Tensor x = field(0), y = field(1), tx = field(2), ty = field(3), zero = at::zeros_like(x);
  Put(uavs_, 1, rows, at::stack({x, y, zero, zero, tx, ty, zero}));
  Put(distance_, 0, rows, Distance(tx - x, ty - y));
  Put(tally_, 1, rows, at::zeros({kCounts, 1}, tally_.options()).expand({kCounts, record.size(0)}));

  // Erase the old obstacles before writing the new ones. A row that does not restart writes its own again.
  at::Tensor flat = map_.view(-1);
  const at::Tensor base = (Pick(row_, 0, rows) * (side_ * side_)).unsqueeze(1), old = Pick(obstacles_, 0, rows);
  const auto write = [&](const at::Tensor& cells, int64_t value) { flat.index_fill_(0, (base + cells).reshape(-1), value); };
  write(old, 0);
  Put(obstacles_, 0, rows, record.narrow(1, 0, n_obstacles));
  write(Pick(obstacles_, 0, rows), 1);
  if (explored_.defined())
    Put(explored_, 0, rows, at::full({1, 1}, -1, explored_.options()).expand({record.size(0), explored_.size(1)}));
}

Board::Proposals Board::Propose(const at::Tensor& active, const at::Tensor& a, const at::Tensor& dx,
                                const at::Tensor& dy) const {
  const bool crash = o_.collision == uav::Collision::kCrash;
  const at::Tensor cells = Cells(uavs_, {}, side_ * side_) + Look(offsets_, a);
  const at::Tensor blocked = active & Look(map_.view(-1), cells).ne(0);
  Proposals p;
  p.from = at::where(active, uavs_[kY] * kLine + uavs_[kX], gone_);
  p.to = at::where(active, p.from + dy * kLine + dx, gone_);
  p.cause = at::where(blocked, int64_t{uav::kStatic}, int64_t{uav::kNone});
  p.to = at::where(blocked, crash ? gone_ : p.from, p.to);
  p.middle = at::where(blocked | ~active, crash ? gone_ : 2 * p.from, p.from + p.to);
  crash ? CrashConflicts(&p) : HoldBackConflicts(&p);
  return p;
}

void Board::Advance(const at::Tensor& action, at::Tensor reward, at::Tensor ended) {
  const bool crash = o_.collision == uav::Collision::kCrash;
  const at::Tensor active = uavs_[kStatus].eq(kActive), wanted = action.to(at::kLong);
  const at::Tensor valid = wanted.ge(0) & wanted.lt(uav::kActions);
  const at::Tensor number = at::arange(1, wanted.numel() + 1, wanted.options()).view_as(wanted) * (int64_t{1} << 32);
  wrong_.copy_(at::maximum(wrong_, (number + wanted.bitwise_and(int64_t{0xFFFFFFFF})).mul(active & ~valid).max()));
  const at::Tensor a = wanted.mul(active & valid);

  const at::Tensor dx = Look(move_x_, a), dy = Look(move_y_, a);
  const Proposals p = Propose(active, a, dx, dy);

  const at::Tensor crashed = crash ? p.cause.ne(uav::kNone) : at::zeros_like(active);
  const at::Tensor moves = active & (crash ? ~crashed : p.to.ne(p.from));
  const at::Tensor moved_x = dx.mul(moves), moved_y = dy.mul(moves);
  uavs_[kX].add_(moved_x), uavs_[kY].add_(moved_y);
  uavs_[kDx].copy_(at::where(active, moved_x, uavs_[kDx]));
  uavs_[kDy].copy_(at::where(active, moved_y, uavs_[kDy]));
  const at::Tensor distance = Distance(uavs_[kTx] - uavs_[kX], uavs_[kTy] - uavs_[kY]);
  const at::Tensor arrived = active & ~crashed & distance.lt(o_.goal_radius);
  at::Tensor earned = (distance_ - distance).mul(o_.progress).add(o_.step);
  earned = at::where(crashed, earned + o_.crash, at::where(arrived, earned + o_.goal, earned));
  earned = at::where(active, earned, 0.0);
  distance_.copy_(distance);
  uavs_[kStatus].add_(arrived.to(at::kLong) * kArrived + crashed.to(at::kLong) * kCrashed);

  const auto count = [&](Count what, const at::Tensor& uavs) { tally_[what].add_(uavs.sum(1)); };
  tally_[kTime].add_(1);
  count(kArrivals, arrived), count(kCrashes, crashed), count(kWalked, moves & a.ne(0));
  for (const uav::Cause cause : {uav::kStatic, uav::kVertex, uav::kEdge})
    count(static_cast<Count>(int{kStatics} + cause), p.cause.eq(cause));
  const at::Tensor all_arrived = arrived.any(1) & tally_[kArrivals].eq(o_.n_uavs);
  earned = at::where(all_arrived.unsqueeze(1), earned + o_.team, earned);
  reward.copy_(o_.team_share > 0 ? Shared(earned) : earned);
  ended.copy_(arrived | crashed);
}

// All involved crash, tested once.
void Board::CrashConflicts(Proposals* p) const {
  const at::Tensor vertex = (p->to.unsqueeze(2).eq(p->to.unsqueeze(1)) & not_self_).any(2);
  const at::Tensor edge = (p->middle.unsqueeze(2).eq(p->middle.unsqueeze(1)) & not_self_).any(2);
  p->cause =
      at::where(p->cause.eq(uav::kNone),
                at::where(vertex, int64_t{uav::kVertex}, at::where(edge, int64_t{uav::kEdge}, int64_t{uav::kNone})), p->cause);
}

// Holds movers back until no conflict remains. Each pass that changes something stops at least one mover, so N passes suffice.
void Board::HoldBackConflicts(Proposals* p) const {
  for (int64_t pass = 0; pass < o_.n_uavs; ++pass) {
    const at::Tensor moves = p->to.ne(p->from);
    const at::Tensor vertex = p->to.unsqueeze(2).eq(p->to.unsqueeze(1)) & not_self_;
    const at::Tensor edge = p->middle.unsqueeze(2).eq(p->middle.unsqueeze(1)) & not_self_;
    at::Tensor counts = vertex | edge;
    // If two movers want one cell, the lower index passes.
    if (o_.collision == uav::Collision::kPriority) counts = counts & (after_ | edge | ~moves.unsqueeze(1));
    const at::Tensor by_vertex = moves & (counts & vertex).any(2), held = moves & counts.any(2);
    if (!run_ahead_ && !held.any().item<bool>()) return;
    p->cause = at::where(held, at::where(by_vertex, int64_t{uav::kVertex}, int64_t{uav::kEdge}), p->cause);
    p->to = at::where(held, p->from, p->to);
    p->middle = at::where(held, 2 * p->from, p->middle);
  }
}

// For team_share; summed UAV by UAV, because a sum over a dimension may have a different order.
at::Tensor Board::Shared(const at::Tensor& earned) const {
  at::Tensor sum = at::zeros({rows_}, earned.options());
  for (int64_t i = 0; i < o_.n_uavs; ++i) sum = sum + earned.select(1, i);
  return earned.mul(1 - o_.team_share) + sum.div(n_uavs_).mul(o_.team_share).unsqueeze(1);
}

void Board::Explore(const Rows& rows) {
  if (!explored_.defined()) return;
  const at::Tensor uavs = Pick(uavs_, 1, rows), active = uavs[kStatus].eq(kActive);
  const int64_t size = side_ * side_;
  const at::Tensor seen = Look(map_.view(-1), Cells(uavs, rows, size).unsqueeze(2) + patch_);
  const at::Tensor nowhere = (Pick(row_, 0, rows) * (size + 1) + size).view({-1, 1, 1});
  const at::Tensor places = at::where(active.unsqueeze(2), Cells(uavs, rows, size + 1).unsqueeze(2) + patch_, nowhere);
  explored_.view(-1).scatter_(0, places.reshape(-1), seen.reshape(-1));
}

void Board::Show(const Rows& rows, const View& out) const {
  const at::Tensor uavs = Pick(uavs_, 1, rows), active = uavs[kStatus].eq(kActive);
  const at::Tensor time = Pick(tally_, 1, rows)[kTime].to(at::kDouble).div(max_steps_).to(at::kFloat);
  // write(a tensor for each element of `whole`, undefined if it is undefined)
  const auto show_both = [&](const at::Tensor& whole, const at::Tensor& more, const auto& write) {
    if (!rows.index.defined()) return write(whole, more);
    const auto part_of = [&](const at::Tensor& all) {
      if (!all.defined()) return at::Tensor();
      std::vector<int64_t> shape = all.sizes().vec();
      shape[0] = rows.index.size(0);
      return at::empty(shape, all.options());
    };
    const at::Tensor part = part_of(whole), part_of_more = part_of(more);
    write(part, part_of_more);
    for (const auto& [all, of] : {std::pair(whole, part), std::pair(more, part_of_more)})
      if (all.defined()) at::Tensor(all).index_copy_(0, rows.index, of);
  };
  const auto show = [&](const at::Tensor& whole, const auto& write) {
    show_both(whole, {}, [&](at::Tensor part, const at::Tensor&) { write(part); });
  };
  show_both(out.obs, out.patch,
            [&](at::Tensor obs, at::Tensor patch) { ShowObs(uavs, rows, Pick(distance_, 0, rows), time, obs, patch); });
  show_both(out.state, out.map, [&](at::Tensor state, at::Tensor map) { ShowState(uavs, rows, time, state, map); });
  show(out.alive, [&](at::Tensor alive) { alive.copy_(active); });
  show(out.mask, [&](at::Tensor mask) {
    const at::Tensor free = Look(map_.view(-1), Cells(uavs, rows, side_ * side_).unsqueeze(2) + offsets_).eq(0);
    mask.copy_(o_.mask_static ? free & active.unsqueeze(2) : active.unsqueeze(2).expand_as(free));
    mask.select(2, 0).fill_(1);
  });
}

void Board::ShowObs(const at::Tensor& uavs, const Rows& rows, const at::Tensor& distance, const at::Tensor& time,
                    at::Tensor obs, at::Tensor patches) const {
  const int64_t n = o_.n_uavs, radius = o_.sensor_radius, m = uavs.size(1), others = uav::OthersSize(o_);
  // The destination of the other UAVs' block, and of the map patch after it.
  const bool drawn = o_.others == uav::Others::kPatches;
  if (!patches.defined()) patches = obs.narrow(2, obs.size(2) - uav::PatchesSize(o_), uav::PatchesSize(o_));
  const at::Tensor place = drawn ? patches.narrow(2, 0, others) : obs.narrow(2, uav::kSelf, others);
  const at::Tensor x = uavs[kX], y = uavs[kY], active = uavs[kStatus].eq(kActive), inactive = ~active;
  const at::Tensor dx = uavs[kDx].to(at::kFloat), dy = uavs[kDy].to(at::kFloat);
  const auto scaled = [&](const at::Tensor& k) { return Look(scaled_, k + (o_.grid_size - 1)); };
  const at::Tensor self = at::stack({scaled(x), scaled(y), dx, dy, scaled(uavs[kTx] - x), scaled(uavs[kTy] - y),
                                     distance.div(diagonal_).to(at::kFloat), time.unsqueeze(1).expand({m, n})},
                                    2);
  obs.narrow(2, 0, uav::kSelf).copy_(self.masked_fill(inactive.unsqueeze(2), 0));

  if (n > 1) {
    const auto of = [&](const at::Tensor& what, const at::Tensor& who) { return what.index_select(1, who); };
    const at::Tensor rx = of(x, pair_j_) - of(x, pair_i_), ry = of(y, pair_j_) - of(y, pair_i_);
    const at::Tensor near = rx.abs().le(radius) & ry.abs().le(radius) & of(active, pair_i_) & of(active, pair_j_);
    const auto relative = [&](const at::Tensor& k) { return Look(relative_, k.clamp(-radius, radius) + radius); };
    at::Tensor shown;
    if (o_.others == uav::Others::kPatches) {
      const at::Tensor here = Mark(rx, ry, near);
      shown = at::cat({here, Mark(rx + of(uavs[kDx], pair_j_), ry + of(uavs[kDy], pair_j_), near)}, 2);
    } else {
      const at::Tensor block =
          at::stack({near.to(at::kFloat), relative(rx), relative(ry), of(dx, pair_j_), of(dy, pair_j_)}, 2);
      shown = block.masked_fill(~near.unsqueeze(2), 0).view({m, n, others});
    }
    at::Tensor(place).copy_(shown);
  } else if (others > 0) {
    at::Tensor(place).zero_();
  }
  const at::Tensor patch = Look(map_.view(-1), Cells(uavs, rows, side_ * side_).unsqueeze(2) + patch_);
  patches.narrow(2, drawn ? others : 0, patch_.size(0)).copy_(patch.masked_fill(inactive.unsqueeze(2), 0));
}

// Patches [M, N, (2 R + 1)^2] with 1 at (x, y), relative to each UAV, for true elements of `which` [M, N * (N - 1)].
at::Tensor Board::Mark(const at::Tensor& x, const at::Tensor& y, const at::Tensor& which) const {
  const int64_t m = x.size(0), n = o_.n_uavs, radius = o_.sensor_radius, side = o_.patch_side(), cells = side * side;
  const at::Tensor inside = which & x.abs().le(radius) & y.abs().le(radius);
  const at::Tensor place = at::where(inside, (y + radius) * side + (x + radius), cells);  // the last place is cut off
  return at::zeros({m, n, cells + 1}, x.options().dtype(at::kFloat))
      .scatter_(2, place.view({m, n, n - 1}), 1)
      .narrow(2, 0, cells);
}

void Board::ShowState(const at::Tensor& uavs, const Rows& rows, const at::Tensor& time, at::Tensor state,
                      at::Tensor map) const {
  const int64_t m = uavs.size(1), heads = uav::kStatePerUav * o_.n_uavs, grid = o_.grid_size;
  const auto scaled = [&](Field field) { return Look(scaled_, uavs[field] + (grid - 1)); };
  const auto number = [&](const at::Tensor& what) { return what.to(at::kFloat); };
  const at::Tensor blocks = at::stack({scaled(kX), scaled(kY), number(uavs[kDx]), number(uavs[kDy]), scaled(kTx), scaled(kTy),
                                       number(uavs[kStatus].eq(kActive)), number(uavs[kStatus].eq(kArrived))},
                                      2);
  state.narrow(1, 0, heads).copy_(blocks.view({m, heads}));
  state.select(1, heads).copy_(time);
  if (o_.state_map == uav::StateMap::kNone) return;
  const at::Tensor whole =
      o_.state_map == uav::StateMap::kFull ? Pick(map_, 0, rows) : Pick(explored_, 0, rows).narrow(1, 0, side_ * side_);
  const at::Tensor inner = whole.unflatten(1, {side_, side_}).narrow(1, border_, grid).narrow(2, border_, grid);
  if (!map.defined()) map = state.narrow(1, heads + 1, grid * grid);
  map.unflatten(1, {grid, grid}).copy_(inner);
}

at::Tensor Board::Terminated() const { return (tally_[kArrivals] + tally_[kCrashes]).eq(o_.n_uavs); }
at::Tensor Board::Truncated() const { return tally_[kTime].ge(o_.max_steps); }

at::Tensor Board::Statistic(int i) const {
  const auto per_uav = [&](const at::Tensor& what) { return what.to(at::kDouble).div(n_uavs_); };
  switch (i) {
    case 0: return per_uav(tally_[kArrivals]);
    case 1: return per_uav(tally_[kCrashes]);
    case 2: return per_uav(o_.n_uavs - tally_[kArrivals] - tally_[kCrashes]);
    case 3: return tally_[kArrivals].eq(o_.n_uavs);
    case 4: return per_uav(tally_[kWalked]);
    default: return tally_[kStatics + (i - 5)];
  }
}

}  // namespace backplane::uav_grid_tensor
