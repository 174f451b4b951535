#include "trial/film.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>

#include "backplane/ext/render.h"

namespace backplane {
namespace {

// What a picture may measure along a side. Larger ones are no film for a page.
constexpr uint32_t kMaxSide = 8192;

bp_status AppendText(const bp_writer* writer, const void* data, uint64_t n) {
  static_cast<std::string*>(writer->impl)->append(static_cast<const char*>(data), n);
  return BP_OK;
}

std::string Base64(const std::string& bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // EVP ends it with a 0
  const auto* from = reinterpret_cast<const unsigned char*>(bytes.data());
  text.resize(EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), from, static_cast<int>(bytes.size())));
  return text;
}

// "ep/success_rate" as a person says it: "success rate".
std::string InWords(const std::string& name) {
  std::string words = name.substr(name.find('/') + 1);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

// Asks an env for the pictures of its only row.
class Camera {
 public:
  explicit Camera(EnvInstance& env) : env_(env), render_(env.Extension<bp_env_render_1>(BP_ENV_RENDER_1)) {
    if (render_ == nullptr)
      throw TrialFailure(BP_E_UNSUPPORTED, env.id(), "draws no pictures: it does not offer " BP_ENV_RENDER_1);
    if (render_->format != BP_RENDER_SVG && render_->format != BP_RENDER_PNG)
      throw TrialFailure(BP_E_UNSUPPORTED, env.id(),
                         "draws in format " + std::to_string(render_->format) + ", this host knows SVG (1) and PNG (2)");
  }

  void Describe(Film* film) {
    const bp_status s = Call([&] { return render_->size(env_.handle(), &film->width, &film->height); });
    if (s != BP_OK) env_.Fail(s, "size of a picture");
    if (film->width == 0 || film->height == 0 || film->width > kMaxSide || film->height > kMaxSide)
      throw TrialFailure(BP_E_INTERNAL, env_.id(),
                         "a side of its pictures should be 1 to " + std::to_string(kMaxSide) + " pixels, got " +
                             std::to_string(film->width) + " x " + std::to_string(film->height));
    film->png = render_->format == BP_RENDER_PNG;
  }
  std::string Backdrop() { return Take(render_->backdrop, "backdrop"); }
  std::string Frame() { return Take(render_->frame, "frame"); }

 private:
  template <class Function>
  bp_status Call(Function&& function) {
    return CallPlugin(env_.id(), std::forward<Function>(function));
  }
  std::string Take(bp_status (*draw)(bp_env*, uint64_t, const bp_writer*), const char* what) {
    std::string picture;
    const bp_writer writer{sizeof(bp_writer), 0, &picture, AppendText};
    if (const bp_status s = Call([&] { return draw(env_.handle(), 0, &writer); }); s != BP_OK) env_.Fail(s, what);
    return render_->format == BP_RENDER_PNG ? Base64(picture) : picture;
  }

  EnvInstance& env_;
  const bp_env_render_1* render_;
};

}  // namespace

Film PlayFilm(EnvInstance& env, LearnerInstance& learner, TrialThreads& threads, uint64_t seed, uint64_t episode,
              const std::atomic<bool>& cancelled) {
  if (env.resets_itself())
    throw TrialFailure(BP_E_UNSUPPORTED, env.id(),
                       "begins the next episode in the step that ends one, so that the end of an episode cannot be filmed");
  Camera camera(env);
  Film film;
  camera.Describe(&film);
  Evaluator evaluator(
      env, learner, threads.collectors(), 1, seed, cancelled, [] {}, episode);
  evaluator.OnEveryState([&] {
    if (film.frames.empty()) film.backdrop = camera.Backdrop();
    film.frames.push_back(camera.Frame());
  });
  const EvaluationResult result = evaluator.Play(Evaluator::Policy::kLearner, threads.clocks());
  film.notes.push_back(fmt::format("return {:.4g}", result.returns[0]));
  for (const auto& [name, values] : result.infos) film.notes.push_back(fmt::format("{} {:.4g}", InWords(name), values[0]));
  return film;
}

}  // namespace backplane
