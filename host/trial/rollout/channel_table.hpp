// Validates and copies the channels that an env or a learner declares. From then on, the host uses only its copy, so later
// changes of the plugin's have no effect.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "backplane/env.h"

namespace backplane {

// The place of an error in a plugin's spec: "env.walker", "spec", "channel 'obs'".
class SpecPlace {
 public:
  explicit SpecPlace(std::string plugin, std::string where = "") : plugin_(std::move(plugin)), where_(std::move(where)) {}
  SpecPlace At(const std::string& where) const { return SpecPlace(plugin_, where); }
  // Throws TrialFailure: "PLUGIN: WHERE: expected X, got Y".
  [[noreturn]] void Refuse(const std::string& wanted, const std::string& found) const;
  const std::string& plugin() const { return plugin_; }

 private:
  std::string plugin_, where_;
};

// Limits beyond any sensible plugin; a larger number is a mistake, such as uninitialised memory.
inline constexpr uint64_t kMaxChannels = 1024, kMaxNameBytes = 128, kMaxDims = 32, kMaxAgents = 1 << 20, kMaxStructBytes = 4096;
inline constexpr uint64_t kMaxChannelBytes = uint64_t{1} << 40;  // over all agents and rows, or all items of a group
inline constexpr uint64_t kMaxListed = uint64_t{1} << 24;        // bounds, numbers of choices

// Numbers per row, or per agent.
uint64_t Elements(const bp_channel& channel);

// A text of 1 to kMaxNameBytes bytes, UTF-8 without control characters.
std::string ReadSpecName(const SpecPlace& place, const char* said);

// Copies a struct that starts with its size, up to the fields of this version; fields that an older plugin lacks are 0. T is
// bp_env_spec, bp_learner_spec, ...
template <class T>
T ReadSpecStruct(const SpecPlace& place, const T* said);

// Copies of the groups of agents that an env declares.
class GroupTable {
 public:
  GroupTable() = default;
  GroupTable(GroupTable&&) noexcept = default;  // moving keeps the addresses of the pointed-to data
  GroupTable& operator=(GroupTable&&) noexcept = default;

  void Read(const SpecPlace& spec, const bp_group* said, uint64_t n);
  const std::vector<bp_group>& groups() const { return groups_; }

 private:
  std::deque<std::string> names_;
  std::vector<bp_group> groups_;
};

class ChannelTable {
 public:
  ChannelTable() = default;
  ChannelTable(ChannelTable&&) noexcept = default;  // moving keeps the addresses of the pointed-to data
  ChannelTable& operator=(ChannelTable&&) noexcept = default;

  // Copies the `n` channels at the pointer; their distance is the struct_size of the first one.
  void Read(const SpecPlace& spec, const bp_channel* said, uint64_t n);
  const std::vector<bp_channel>& channels() const { return channels_; }

 private:
  void Add(const SpecPlace& spec, bp_channel channel, uint64_t index);
  void CopyShape(const SpecPlace& place, bp_channel* channel);
  void CopyChoices(const SpecPlace& place, bp_channel* channel);
  void CopyBounds(const SpecPlace& place, bp_channel* channel);

  std::deque<std::string> names_;
  std::deque<std::vector<int64_t>> whole_numbers_;
  std::deque<std::vector<double>> numbers_;
  std::vector<bp_channel> channels_;
};

}  // namespace backplane
