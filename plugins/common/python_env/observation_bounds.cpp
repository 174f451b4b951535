#include "python_env/observation_bounds.hpp"

#include <cfloat>
#include <charconv>
#include <cmath>

#include "backplane/errors.hpp"

namespace backplane::python_env {
namespace {

std::string Number(float value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

float AsFloat(double bound) {
  return std::abs(bound) > FLT_MAX ? std::copysign(INFINITY, static_cast<float>(bound > 0 ? 1 : -1))
                                   : static_cast<float>(bound);
}

// "[2, 40]", the place of a number in an array.
std::string Index(uint64_t element, const std::vector<int64_t>& shape) {
  std::string text;
  for (size_t i = shape.size(); i > 0; --i) {
    const auto side = static_cast<uint64_t>(shape[i - 1]);
    text = std::to_string(element % side) + (text.empty() ? "" : ", ") + text;
    element /= side;
  }
  return text.empty() ? "" : "[" + text + "]";
}

uint64_t Size(const Part& part) {
  uint64_t n = 1;
  for (const int64_t side : part.shape) n *= static_cast<uint64_t>(side);
  return n;
}

}  // namespace

ObservationBounds::~ObservationBounds() {
  if (count_ > 1) host_->log(host_, BP_LOG_INFO, (std::to_string(count_) + " observations were outside their bounds").c_str());
}

void ObservationBounds::Add(BoundedChannel channel, const std::vector<double>& low, const std::vector<double>& high) {
  for (uint64_t i = 0; !low.empty() && i < channel.elements; ++i) {
    channel.low.push_back(AsFloat(low[low.size() > 1 ? i : 0]));
    channel.high.push_back(AsFloat(high[high.size() > 1 ? i : 0]));
  }
  channels_.push_back(std::move(channel));
}

std::string ObservationBounds::Parts() const {
  std::string text;
  for (const BoundedChannel& channel : channels_) {
    if (channel.parts.size() < 2) continue;
    for (const Part& part : channel.parts) {
      const uint64_t n = Size(part);
      text += (text.empty() ? "obs: " : ", ") + std::to_string(part.first);
      if (n != 1) text += ".." + std::to_string(part.first + n - 1);
      text += " " + part.where;
    }
  }
  return text;
}

void ObservationBounds::Report(const BoundedChannel& bounds, uint64_t row, uint64_t agent, Outside found) {
  if (++count_ == next_log_) {
    host_->log(host_, BP_LOG_INFO, (std::to_string(count_) + " observations have been outside their bounds so far").c_str());
    next_log_ *= 10;
  }
  if (count_ > 1) return;
  std::string text = "row " + std::to_string(row);
  if (agent < agents_.size()) text += ", agent '" + agents_[agent] + "'";
  for (const Part& part : bounds.parts)
    if (found.element >= part.first && found.element < part.first + Size(part))
      text += ": expected " + part.where + Index(found.element - part.first, part.shape);
  text += " from " + Number(bounds.low[found.element]) + " to " + Number(bounds.high[found.element]) +
          ", as in observation_space, got " + Number(found.value);
  if (is_error_) throw bp::Error(BP_E_INTERNAL, text + "\nhint: out_of_bounds: report");
  host_->log(host_, BP_LOG_WARN,
             (text + "; further ones are counted in the log, and `out_of_bounds: error` rejects them").c_str());
}

}  // namespace backplane::python_env
