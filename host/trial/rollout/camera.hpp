// Requests pictures of an env's rows through "bp.env.render/1".
#pragma once

#include <cstdint>
#include <string>

#include "backplane/ext/render.h"
#include "rollout/instance.hpp"

namespace backplane {

class Camera {
 public:
  // Throws TrialFailure: BP_E_UNSUPPORTED if the env draws no pictures.
  explicit Camera(EnvInstance& env);

  bool png() const { return render_->format == BP_RENDER_PNG; }  // else SVG
  struct Size {
    uint32_t width = 0, height = 0;  // pixels
  };
  Size Measure();
  // For an env bound to one slot, between its other calls. [control]
  std::string Backdrop(uint64_t row) { return Draw(render_->backdrop, row, "backdrop"); }
  std::string Frame(uint64_t row) { return Draw(render_->frame, row, "frame"); }

 private:
  std::string Draw(bp_status (*draw)(bp_env*, uint64_t, const bp_writer*), uint64_t row, const char* what);

  EnvInstance& env_;
  const bp_env_render_1* render_;
};

}  // namespace backplane
