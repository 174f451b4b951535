#include "trial/checkpoint_content.hpp"

#include <cmath>
#include <cstring>
#include <string>

namespace backplane {
namespace {

void NeedBytes(const char* part, uint64_t found, uint64_t each, uint64_t rows) {
  uint64_t wanted = 0;
  if (!__builtin_mul_overflow(each, rows, &wanted) && wanted == found) return;
  throw CheckpointError(std::string("its part \"") + part + "\" should be " + std::to_string(each) + " bytes for each of " +
                        std::to_string(rows) + " rows, found " + std::to_string(found));
}

}  // namespace

std::vector<RowState> RowStatesOf(const Checkpoint& checkpoint, uint64_t rows) {
  const std::vector<std::byte>& bytes = PartOf(checkpoint, "rows");
  NeedBytes("rows", bytes.size(), sizeof(RowState), rows);
  std::vector<RowState> states(rows);
  if (rows > 0) std::memcpy(states.data(), bytes.data(), bytes.size());
  for (const RowState& state : states) {
    if (state.episode_length < 0 || std::isnan(state.episode_return))
      throw CheckpointError("its part \"rows\" has an episode of length " + std::to_string(state.episode_length) +
                            " and return " + std::to_string(state.episode_return));
  }
  return states;
}

void CheckUnwritten(const CheckpointHeader& header) {
  if (!header.unwritten) return;
  const Iteration& line = *header.unwritten;
  if (line.iteration != header.iterations || line.step != header.env_steps || !line.time.sps || std::isnan(*line.time.sps))
    throw CheckpointError("\"unwritten\": wanted the line of iteration " + std::to_string(header.iterations) +
                          ", found another");
}

}  // namespace backplane
