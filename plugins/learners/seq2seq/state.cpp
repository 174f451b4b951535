// Saving and loading: weights, AdamW's moments, updates done. Fixed order and no padding, so the same state gives the same
// bytes.
#include "learner.hpp"
#include "pretrained.hpp"

namespace backplane::seq2seq {
namespace {

constexpr uint64_t kMagic = 0x3151325342;  // "BS2Q1"

}  // namespace

void Learner::Save(const bp::Writer& writer) const {
  const Layout& layout = model_->layout();
  writer.Put(kMagic);
  writer.Put(static_cast<uint64_t>(layout.parameters().size()));
  for (const Parameter& parameter : layout.parameters()) writer.Put(static_cast<uint64_t>(parameter.size));
  writer.PutAll(model_->weights(), static_cast<uint64_t>(layout.size()));
  writer.PutAll(model_->first_moment(), static_cast<uint64_t>(layout.trained()));
  writer.PutAll(model_->second_moment(), static_cast<uint64_t>(layout.trained()));
  writer.Put(model_->updates());
  if (options_.save_pretrained.empty()) return;
  try {
    SavePretrained(options_.save_pretrained, config_, layout, model_->weights());
  } catch (const std::runtime_error& e) {
    throw bp::Error(BP_E_IO, std::string("save_pretrained: ") + e.what());
  }
}

void Learner::Load(const bp::Reader& reader) {
  if (reader.Get<uint64_t>() != kMagic)
    throw bp::Error(BP_E_INVALID_ARG, "the saved state is not one of learner.seq2seq, format 1");
  const Layout& layout = model_->layout();
  reader.Expect(layout.parameters().size(), "number of parameters");
  for (const Parameter& parameter : layout.parameters())
    reader.Expect(static_cast<uint64_t>(parameter.size), parameter.name.c_str());
  reader.GetAll(model_->weights(), static_cast<uint64_t>(layout.size()), "number of weights");
  reader.GetAll(model_->first_moment(), static_cast<uint64_t>(layout.trained()), "size of AdamW's first moment");
  reader.GetAll(model_->second_moment(), static_cast<uint64_t>(layout.trained()), "size of AdamW's second moment");
  model_->set_updates(reader.Get<uint64_t>());
  DropGroup();
}

}  // namespace backplane::seq2seq
