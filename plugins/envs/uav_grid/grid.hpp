// The multi-UAV grid as an env of many rows.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backplane/env.hpp"
#include "row.hpp"
#include "uav/channels.hpp"
#include "uav/map.hpp"

namespace backplane::uav_grid {

class UavGrid {
 public:
  static constexpr bp::About kAbout{
      .id = "env.uav_grid",
      .version = "1.0.0",
      .summary = "UAVs that fly to their targets on a grid with obstacles, without hitting each other.",
      .rows = 32};
  static constexpr auto& kOptions = uav::kOptions;

  UavGrid(const uav::Options& options, uint64_t rows);
  bp::EnvSpec Spec() const { return channels_.spec; }
  // Throws bp::Error (BP_E_CONFIG) if a seed has no solvable map; that row stays unchanged, the rows before it are reset.
  void Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds);
  // Throws bp::Error (BP_E_INVALID_ARG) for an action outside 0 .. 8 of an active UAV; that row stays unchanged.
  void Step(const bp::Slot& slot, uint64_t begin, uint64_t end);

  uint64_t StateBytes() const;
  void Save(uint64_t row, void* out) const;
  void Load(uint64_t row, const void* data);
  uint64_t StateKey() const;

  bp::PictureSize SizeOfPicture() const;
  void DrawBackdrop(uint64_t row, std::string* out) const;
  void DrawFrame(uint64_t row, std::string* out) const;

 private:
  // The workspace for drawing a map, one per thread that resets.
  struct Drawer {
    explicit Drawer(const uav::Options& options) : maker(options) {}
    uav::MapMaker maker;
    uav::Map map;
  };
  std::unique_ptr<Drawer> TakeDrawer();
  void GiveBack(std::unique_ptr<Drawer> drawer);
  void Start(const uav::Map& map, Row* row) const;
  void ShowMap(Row* row) const;
  template <class Function>
  void ForEachCell(Function&& function) const;  // function(Model::Index of the cell), line by line
  struct Shown;                                 // the state channels of a slot
  Shown ShownIn(const bp::Slot& slot) const;
  void Show(const Shown& shown, uint64_t r, uint64_t end) const;

  Model model_;
  uav::Channels channels_;
  std::vector<Row> rows_;
  std::mutex mutex_;  // guards drawers_
  std::vector<std::unique_ptr<Drawer>> drawers_;
};

}  // namespace backplane::uav_grid
