// The policy functions of backplane/embed.h: check arguments and convert exceptions to statuses.
#include <cstring>

#include "backplane/embed.h"
#include "embed/embedded_policy.hpp"
#include "embed/last_error.hpp"

namespace backplane {
namespace {

constexpr uint64_t kMostRows = 1'000'000;

template <class Body>
bp_status InPolicy(const bp_embed_policy* handle, Body&& body) noexcept {
  HandleUse use(reinterpret_cast<const bp_embed*>(handle));
  if (use.policy() == nullptr) return BP_E_INVALID_ARG;
  return Answer([&] { body(use, *use.policy()); });
}

}  // namespace
}  // namespace backplane

using namespace backplane;

bp_status bp_embed_policy_open(const char* out, const char* trial, const char* checkpoint, uint64_t rows,
                               bp_embed_policy** policy) {
  return Answer([&] {
    Require(out, "out");
    Require(policy, "policy");
    *policy = nullptr;
    if (rows == 0 || rows > kMostRows)
      throw TrialFailure(BP_E_INVALID_ARG, "",
                         "rows: expected 1 to " + std::to_string(kMostRows) + ", got " + std::to_string(rows));
    auto made = std::make_unique<EmbeddedPolicy>(out, trial ? trial : "", checkpoint ? checkpoint : "last", rows);
    *policy = reinterpret_cast<bp_embed_policy*>(NewHandle(std::move(made)));
  });
}

bp_status bp_embed_policy_tensor(bp_embed_policy* handle, const char* channel, bp_view* out) {
  return InPolicy(handle, [&](HandleUse&, EmbeddedPolicy& policy) {
    Require(channel, "channel");
    Require(out, "out");
    std::memcpy(out, policy.Channel(channel).entry(0), sizeof *out);
  });
}

bp_status bp_embed_policy_act(bp_embed_policy* handle) {
  return InPolicy(handle, [](HandleUse&, EmbeddedPolicy& policy) { policy.Act(); });
}

bp_status bp_embed_policy_reset(bp_embed_policy* handle, const uint8_t* mask) {
  return InPolicy(handle, [&](HandleUse&, EmbeddedPolicy& policy) { policy.Reset(mask); });
}

bp_status bp_embed_policy_close(bp_embed_policy* handle) {
  return InPolicy(handle, [](HandleUse& use, EmbeddedPolicy&) { use.Close(); });
}
