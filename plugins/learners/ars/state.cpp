#include "state.hpp"

#include "rl/saved_numbers.hpp"
#include "rl/saved_sizes.hpp"

namespace backplane::ars {
namespace {

constexpr uint64_t kMagic = 0x315352412D5042;  // "BP-ARS1"

}  // namespace

void WriteState(const bp::Writer& writer, const StateShape& shape, const std::vector<double>& mean,
                const std::vector<double>& adam_m, const std::vector<double>& adam_v, const ObsFilter& filter,
                const Counters& counters) {
  for (const uint64_t each : {kMagic, shape.kind, shape.obs, shape.outputs}) writer.Put(each);
  writer.PutAll(shape.hidden.data(), shape.hidden.size());
  writer.PutAll(mean.data(), mean.size());
  if (shape.kind & StateShape::kNormalize) filter.Save(writer);
  writer.Put(counters.seed);
  writer.Put(counters.iteration);
  if (!(shape.kind & StateShape::kAdam)) return;
  writer.PutAll(adam_m.data(), adam_m.size());
  writer.PutAll(adam_v.data(), adam_v.size());
  writer.Put(counters.adam_steps);
}

void ReadState(const bp::Reader& reader, const StateShape& shape, std::vector<double>* mean, std::vector<double>* adam_m,
               std::vector<double>* adam_v, ObsFilter* filter, Counters* counters) {
  if (reader.Get<uint64_t>() != kMagic)
    throw bp::Error(BP_E_INVALID_ARG, "the saved state is not one of learner.ars, format 1");
  reader.Expect(shape.kind,
                "the kind of policy (1 discrete, 2 normalize_obs, 4 bias, 8 tanh, 16 squash_output, 32 adam, added up)");
  reader.Expect(shape.obs, "observation size");
  reader.Expect(shape.outputs, "number of actions");
  rl::ExpectSizes(reader, shape.hidden, "number of hidden layers", "hidden layer");
  reader.GetAll(mean->data(), mean->size(), "weights");
  rl::NeedSavedFinite(mean->data(), mean->size(), "weights");
  if (shape.kind & StateShape::kNormalize) filter->Load(reader);
  counters->seed = reader.Get<uint64_t>();
  counters->iteration = reader.Get<uint64_t>();
  if (!(shape.kind & StateShape::kAdam)) return;
  reader.GetAll(adam_m->data(), adam_m->size(), "first moments of Adam");
  reader.GetAll(adam_v->data(), adam_v->size(), "second moments of Adam");
  counters->adam_steps = reader.Get<int64_t>();
  rl::NeedSavedFinite(adam_m->data(), adam_m->size(), "first moments of Adam");
  rl::NeedSavedFromZero(adam_v->data(), adam_v->size(), "second moments of Adam");
  rl::NeedSavedFromZero(&counters->adam_steps, 1, "a number of steps");
}

}  // namespace backplane::ars
