// The plugin's entry.
#include "learner.hpp"

namespace backplane::seq2seq {

class Seq2seq : public Learner, public bp::LearnerPlugin<Seq2seq> {
 public:
  static constexpr bp::About kAbout{.id = "learner.seq2seq",
                                    .version = "1.0.0",
                                    .summary = "Encoder-decoder of BART's shape that learns to write one text for another",
                                    .flags = BP_FLAG_ROWS_CONCURRENT};
  static constexpr auto& kOptions = seq2seq::kOptions;
  using Learner::Learner;
};

}  // namespace backplane::seq2seq

using backplane::seq2seq::Seq2seq;
BP_PLUGINS(Seq2seq);
