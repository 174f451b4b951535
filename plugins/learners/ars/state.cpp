#include "state.hpp"

#include "rl/saved_numbers.hpp"
#include "rl/saved_shape.hpp"

namespace backplane::ars {
namespace {

rl::SavedShape BytesOf(const StateShape& shape) {
  return {.magic = 0x315352412D5042,  // "BP-ARS1"
          .format = "learner.ars, format 1",
          .numbers = {{shape.kind,
                       "the kind of policy (1 discrete, 2 normalize_obs, 4 bias, 8 tanh, 16 squash_output, 32 adam, added up)"},
                      {shape.obs, "observation size"},
                      {shape.outputs, "number of actions"}},
          .hidden = shape.hidden};
}

}  // namespace

void WriteState(const bp::Writer& writer, const StateShape& shape, const std::vector<double>& mean,
                const std::vector<double>& adam_m, const std::vector<double>& adam_v, const ObsFilter& filter,
                const Counters& counters) {
  BytesOf(shape).Write(writer);
  writer.PutAll(mean.data(), mean.size());
  if (shape.kind & StateShape::kNormalize) filter.Save(writer);
  writer.Put(counters.seed);
  writer.Put(counters.iteration);
  if (!(shape.kind & StateShape::kAdam)) return;
  writer.PutAll(adam_m.data(), adam_m.size());
  writer.PutAll(adam_v.data(), adam_v.size());
  writer.Put(counters.adam_steps);
}

uint64_t HeaderSize(const StateShape& shape) { return BytesOf(shape).size(); }

void ReadState(const bp::Reader& reader, const StateShape& shape, std::vector<double>* mean, std::vector<double>* adam_m,
               std::vector<double>* adam_v, ObsFilter* filter, Counters* counters) {
  BytesOf(shape).Expect(reader);
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
