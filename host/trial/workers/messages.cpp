#include "workers/messages.hpp"

#include <fmt/format.h>
#include <gnu/libc-version.h>

#include <cstring>

#include "base/hash64.hpp"
#include "record/host_info.hpp"

namespace backplane {

std::string ProcessorOfThis() { return fmt::format("{}, glibc {}", HostFacts().cpu_flags, gnu_get_libc_version()); }

RequestDigest DigestOf(const bp_request& request) {
  if (request.kind != BP_REQ_EVALUATE) return {.kind = request.kind};
  const auto& asked = request.u.evaluate;
  return {.kind = request.kind,
          .candidates = asked.candidates,
          .episodes_each = asked.episodes_each,
          .chunk = asked.chunk,
          .max_steps = asked.max_steps,
          .seeds = Hash64Of(asked.seeds, asked.candidates * asked.episodes_each * sizeof(uint64_t))};
}

std::string ToText(const RequestDigest& digest) {
  if (digest.kind != BP_REQ_EVALUATE) return fmt::format("a request of kind {}", digest.kind);
  return fmt::format("{} candidates with {} episodes each, chunk {}, max_steps {} and seeds {:016x}", digest.candidates,
                     digest.episodes_each, digest.chunk, digest.max_steps, digest.seeds);
}

namespace message_detail {

void Take::Raw(void* out, size_t size) {
  if (size > body.size() - at) throw FrameError("a message ends too early");
  std::memcpy(out, body.data() + at, size);
  at += size;
}

uint64_t Take::Count(size_t each) {
  uint64_t count = 0;
  Raw(&count, sizeof count);
  if (count > (body.size() - at) / each) throw FrameError("a message ends too early");
  return count;
}

void Take::CheckEnd() const {
  if (at != body.size()) throw FrameError(fmt::format("{} bytes of a message are left over", body.size() - at));
}

}  // namespace message_detail
}  // namespace backplane
