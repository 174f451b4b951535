// Names and units of a channel's numbers ("bp.env.labels/1"). Part of env.hpp, which authors include and which lists the
// members of a batch or a row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "backplane/env_slot.hpp"
#include "backplane/ext/labels.h"
#include "backplane/signatures.hpp"

namespace bp {

// {"angle of hip_1", "rad"}. A number without a unit has "", and an undeclared number an empty name.
struct Label {
  std::string name, unit;
};

namespace detail {

BP_NAMED(Labels)

template <class B>
concept HasLabels = requires(const B& c) {
  std::vector<Label>{c.Labels(std::string_view())};
};

template <class T, class Model>
concept HasLabelsOfRow = requires(const Model& m) {
  std::vector<Label>{T::Labels(m, std::string_view())};
};

// The table over instances of I, which has batch(); NULL for any other id.
template <class I>
struct LabelCalls {
  using Batch = std::remove_reference_t<decltype(std::declval<I&>().batch())>;

  static const void* Table(std::string_view id) {
    if constexpr (HasLabels<Batch>) {
      static constexpr bp_env_labels_1 table = {sizeof(bp_env_labels_1), 0, At};
      if (id == BP_ENV_LABELS_1) return &table;
    }
    return nullptr;
  }

 private:
  static uint32_t At(const bp_env* env, const char* channel, uint64_t i, char* out_name, char* out_unit, uint64_t size) try {
    const std::vector<Label> labels = reinterpret_cast<const I*>(env)->batch().Labels(channel);
    if (i >= labels.size() || labels[i].name.empty() || size == 0) return 0;
    Write(labels[i].name, out_name, size);
    Write(labels[i].unit, out_unit, size);
    return 1;
  } catch (...) {
    return 0;  // a label is no reason to fail
  }
  static void Write(const std::string& text, char* out, uint64_t size) {
    const size_t n = std::min<size_t>(text.size(), size - 1);
    std::memcpy(out, text.data(), n);
    out[n] = '\0';
  }
};

}  // namespace detail
}  // namespace bp
