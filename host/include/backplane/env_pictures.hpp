// Pictures of rows ("bp.env.render/1") and the duration of a step in them ("bp.env.clock/1"). Part of env.hpp, which authors
// include and which lists the members of a batch or a row.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

#include "backplane/env_slot.hpp"
#include "backplane/ext/clock.h"
#include "backplane/ext/render.h"

namespace bp {

struct PictureSize {
  uint32_t width, height;  // pixels
};

// Appends an element of at most 511 characters to a picture.
__attribute__((format(printf, 2, 3))) inline void Print(std::string* picture, const char* format, ...) {
  char text[512];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  *picture += text;
}

namespace detail {

template <class B>
constexpr uint32_t PictureFormat() {
  if constexpr (requires { B::kPictureFormat; }) return B::kPictureFormat;
  return BP_RENDER_SVG;
}

BP_NAMED(SizeOfPicture)
BP_NAMED(DrawBackdrop)
BP_NAMED(DrawFrame)
BP_NAMED(SecondsOfStep)

template <class B>
concept DrawsFrames = requires(B& b, std::string* out) {
  PictureSize{b.SizeOfPicture()};
  b.DrawFrame(uint64_t{}, out);
};

template <class B>
concept HasClock = requires(const B& c) {
  double{c.SecondsOfStep()};
};

template <class B>
constexpr void CheckPictures() {
  static_assert(DrawsFrames<B> || !(Names_SizeOfPicture<B> || Names_DrawFrame<B> || Names_DrawBackdrop<B>),
                "pictures of an env need: bp::PictureSize SizeOfPicture() const, void DrawFrame(uint64_t row, std::string*)");
  static_assert(
      !Names_DrawBackdrop<B> || requires(B & b, std::string * out) { b.DrawBackdrop(uint64_t{}, out); },
      "DrawBackdrop of an env should be: void DrawBackdrop(uint64_t row, std::string*)");
  static_assert(!Names_SecondsOfStep<B> || HasClock<B>, "SecondsOfStep of an env should be: double SecondsOfStep() const");
}

// The tables of the extensions over instances of I, which has host(), rows() and batch(); NULL for any other id.
template <class I>
struct Pictures {
  using Batch = std::remove_reference_t<decltype(std::declval<I&>().batch())>;

  static const void* Table(std::string_view id) {
    if constexpr (DrawsFrames<Batch>) {
      static constexpr bp_env_render_1 render = {sizeof(bp_env_render_1), PictureFormat<Batch>(), Size, Backdrop, Frame};
      if (id == BP_ENV_RENDER_1) return &render;
    }
    if constexpr (HasClock<Batch>) {
      static constexpr bp_env_clock_1 clock = {sizeof(bp_env_clock_1), 0, [](const bp_env* env) {
                                                 return reinterpret_cast<const I*>(env)->batch().SecondsOfStep();
                                               }};
      if (id == BP_ENV_CLOCK_1) return &clock;
    }
    return nullptr;
  }

 private:
  static bp_status Size(const bp_env* env, uint32_t* out_width, uint32_t* out_height) {
    I& instance = *reinterpret_cast<I*>(const_cast<bp_env*>(env));
    return Guard(instance.host(), [&] {
      const PictureSize size = instance.batch().SizeOfPicture();
      *out_width = size.width, *out_height = size.height;
    });
  }
  static bp_status Backdrop(bp_env* env, uint64_t row, const bp_writer* out) {
    return Draw(env, row, out, [&](Batch& batch, std::string* picture) {
      if constexpr (requires { batch.DrawBackdrop(row, picture); }) batch.DrawBackdrop(row, picture);
    });
  }
  static bp_status Frame(bp_env* env, uint64_t row, const bp_writer* out) {
    return Draw(env, row, out, [&](Batch& batch, std::string* picture) { batch.DrawFrame(row, picture); });
  }
  template <class Drawing>
  static bp_status Draw(bp_env* env, uint64_t row, const bp_writer* out, Drawing&& drawing) {
    I& instance = *reinterpret_cast<I*>(env);
    return Guard(instance.host(), [&] {
      if (row >= instance.rows()) throw Error(BP_E_INVALID_ARG, "there is no row " + std::to_string(row) + " to draw");
      std::string picture;
      drawing(instance.batch(), &picture);
      if (!picture.empty() && out->write(out, picture.data(), picture.size()) != BP_OK)
        throw Error(BP_E_IO, "the host did not accept a picture");
    });
  }
};

}  // namespace detail
}  // namespace bp
