#include "rollout/camera.hpp"

#include "backplane/ext/source.h"

namespace backplane {
namespace {

// The largest side of a picture, in pixels. Larger ones do not suit a page.
constexpr uint32_t kMaxSide = 8192;

bp_status AppendText(const bp_writer* writer, const void* data, uint64_t n) {
  static_cast<std::string*>(writer->impl)->append(static_cast<const char*>(data), n);
  return BP_OK;
}

}  // namespace

Camera::Camera(EnvInstance& env) : env_(env.innermost()), render_(env_.Extension<bp_env_render_1>(BP_ENV_RENDER_1)) {
  if (render_ == nullptr)
    throw TrialFailure(BP_E_UNSUPPORTED, env.id(),
                       env.Extension<bp_env_source_1>(BP_ENV_SOURCE_1) != nullptr
                           ? "is a data set, which has no episodes to film"
                           : "cannot draw pictures, because it does not offer " BP_ENV_RENDER_1);
  if (render_->format != BP_RENDER_SVG && render_->format != BP_RENDER_PNG)
    throw TrialFailure(BP_E_UNSUPPORTED, env.id(),
                       "expected pictures in format 1 (SVG) or 2 (PNG), got " + std::to_string(render_->format));
}

Camera::Size Camera::Measure() {
  Size size;
  env_.Call("size of a picture", [&](bp_env* env) { return render_->size(env, &size.width, &size.height); });
  if (size.width == 0 || size.height == 0 || size.width > kMaxSide || size.height > kMaxSide)
    throw TrialFailure(BP_E_INTERNAL, env_.id(),
                       "expected pictures with sides of 1 to " + std::to_string(kMaxSide) + " pixels, got " +
                           std::to_string(size.width) + " x " + std::to_string(size.height));
  return size;
}

std::string Camera::Draw(bp_status (*draw)(bp_env*, uint64_t, const bp_writer*), uint64_t row, const char* what) {
  std::string picture;
  const bp_writer writer{sizeof(bp_writer), 0, &picture, AppendText};
  env_.Call(what, [&](bp_env* env) { return draw(env, row, &writer); });
  return picture;
}

}  // namespace backplane
