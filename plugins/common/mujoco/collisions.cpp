#include "mujoco/collisions.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "mujoco/data_pool.hpp"
#include "mujoco/errors.hpp"

namespace mj {
namespace {

// A margin at which geoms always count as touching, to list all pairs.
constexpr mjtNum kEverywhere = 1e3;
// Above this number, testing all pairs is slower than MuJoCo's search.
constexpr size_t kMostPairs = 256;

struct SpecDeleter {
  void operator()(mjSpec* spec) const { mj_deleteSpec(spec); }
};
using Spec = std::unique_ptr<mjSpec, SpecDeleter>;

Spec Parse(const std::string& name, const std::string& xml) {
  char text[1000] = "";
  mjSpec* spec = nullptr;
  Catch([&] {
    spec = xml.empty() ? mj_parseXML(name.c_str(), nullptr, text, sizeof text)
                       : mj_parseXMLString(xml.c_str(), nullptr, text, sizeof text);
  });
  return Spec(spec);
}

Model Compile(mjSpec* spec) {
  mjModel* model = nullptr;
  Catch([&] { model = mj_compile(spec, nullptr); });
  return Model(model);
}

bool AllZero(const mjtNum* values, int64_t n) {
  return std::all_of(values, values + n, [](mjtNum value) { return value == 0; });
}

// True if explicit pairs can express all contact properties of the model.
bool IsSimple(const mjModel* m) {
  const bool shapes = std::all_of(m->geom_type, m->geom_type + m->ngeom, [](int type) {
    return type == mjGEOM_PLANE || type == mjGEOM_SPHERE || type == mjGEOM_CAPSULE || type == mjGEOM_CYLINDER ||
           type == mjGEOM_BOX;
  });
  return shapes && StateIsWhole(m) && m->npair == 0 && m->nexclude == 0 && !(m->opt.enableflags & mjENBL_OVERRIDE) &&
         AllZero(m->geom_gap, m->ngeom) && AllZero(m->geom_adhesion, m->ngeom) &&
         AllZero(m->geom_surfacevel, 6 * static_cast<int64_t>(m->ngeom));
}

// Counts the pairs of geoms that may touch by MuJoCo's documented rules.
size_t CountPairs(const mjModel* m) {
  size_t count = 0;
  for (int a = 0; a < m->ngeom; ++a)
    for (int b = a + 1; b < m->ngeom; ++b) {
      const int weld_a = m->body_weldid[m->geom_bodyid[a]], weld_b = m->body_weldid[m->geom_bodyid[b]];
      const int parent_a = m->body_weldid[m->body_parentid[weld_a]], parent_b = m->body_weldid[m->body_parentid[weld_b]];
      const bool related = (weld_a == parent_b || weld_b == parent_a) && weld_a != 0 && weld_b != 0 &&
                           !(m->opt.disableflags & mjDSBL_FILTERPARENT);
      count += weld_a != weld_b && !related &&
               ((m->geom_contype[a] & m->geom_conaffinity[b]) || (m->geom_contype[b] & m->geom_conaffinity[a]));
    }
  return count;
}

// The contacts of a pose, in their order.
std::vector<mjContact> Contacts(const mjModel* model, const std::vector<mjtNum>& qpos) {
  const Data data = MakeData(model);
  std::copy(qpos.begin(), qpos.end(), data->qpos);
  const char* raised = Catch([&] { mj_kinematics(model, data.get()), mj_collision(model, data.get()); });
  if (raised) return {};
  return {data->contact, data->contact + data->ncon};
}

bool SameBits(const mjtNum* a, const mjtNum* b, int n) {
  return std::equal(a, a + n, b, [](mjtNum x, mjtNum y) { return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y); });
}

bool Same(const mjContact& a, const mjContact& b) {
  return SameBits(&a.dist, &b.dist, 1) && SameBits(a.pos, b.pos, 3) && SameBits(a.frame, b.frame, 9) &&
         SameBits(&a.includemargin, &b.includemargin, 1) && SameBits(a.friction, b.friction, 5) &&
         SameBits(a.solref, b.solref, mjNREF) && SameBits(a.solreffriction, b.solreffriction, mjNREF) &&
         SameBits(a.solimp, b.solimp, mjNIMP) && SameBits(&a.adhesion, &b.adhesion, 1) &&
         SameBits(a.surfacevel, b.surfacevel, 3) && a.dim == b.dim && std::equal(a.geom, a.geom + 2, b.geom) &&
         a.exclude == b.exclude;
}

bool SameContacts(const mjModel* a, const mjModel* b, const std::vector<mjtNum>& qpos) {
  const std::vector<mjContact> x = Contacts(a, qpos), y = Contacts(b, qpos);
  return x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin(), Same);
}

Model Copy(const mjModel* model) { return Model(mj_copyModel(nullptr, model)); }

// One contact of each pair; empty if some pair has none.
std::vector<mjContact> AllPairs(const mjModel* inflated, const std::vector<mjtNum>& qpos) {
  std::vector<mjContact> pairs = Contacts(inflated, qpos);
  const auto same_geoms = [](const mjContact& a, const mjContact& b) { return std::equal(a.geom, a.geom + 2, b.geom); };
  pairs.erase(std::unique(pairs.begin(), pairs.end(), same_geoms), pairs.end());
  if (pairs.size() != CountPairs(inflated) || pairs.size() > kMostPairs) pairs.clear();
  return pairs;
}

// Excludes all geoms of the spec from the search and returns their names; "" for a geom that is not in the model.
bool TakeOutOfSearch(mjSpec* spec, std::vector<std::string>* names) {
  for (mjsElement* e = mjs_firstElement(spec, mjOBJ_GEOM); e; e = mjs_nextElement(spec, e)) {
    const int id = mjs_getId(e);
    if (id < 0 || id >= static_cast<int>(names->size())) return false;
    std::string& name = (*names)[static_cast<size_t>(id)];
    name = mjs_getString(mjs_getName(e));
    if (name.empty()) {
      name = "geom " + std::to_string(id);
      if (mjs_setName(e, name.c_str()) != 0) return false;
    }
    mjsGeom* const geom = mjs_asGeom(e);
    geom->contype = geom->conaffinity = 0;
  }
  return std::none_of(names->begin(), names->end(), [](const std::string& name) { return name.empty(); });
}

void AddPair(mjSpec* spec, const mjContact& c, const std::vector<std::string>& names, mjtNum margin) {
  mjsPair* const pair = mjs_addPair(spec, nullptr);
  mjs_setString(pair->geomname1, names[static_cast<size_t>(c.geom[0])].c_str());
  mjs_setString(pair->geomname2, names[static_cast<size_t>(c.geom[1])].c_str());
  pair->condim = c.dim;
  std::copy_n(c.solref, mjNREF, pair->solref);
  std::copy_n(c.solreffriction, mjNREF, pair->solreffriction);
  std::copy_n(c.solimp, mjNIMP, pair->solimp);
  std::copy_n(c.friction, 5, pair->friction);
  pair->margin = margin;
  pair->gap = pair->adhesion = 0;
}

bool HasSameState(const mjModel* a, const mjModel* b) {
  return a->nq == b->nq && a->ngeom == b->ngeom && mj_stateSize(a, mjSTATE_INTEGRATION) == mj_stateSize(b, mjSTATE_INTEGRATION);
}

// True if a model of explicit pairs has the same contacts as `plain` and, with its margins, the same as `inflated`.
bool FindsSameContacts(const mjModel* model, const mjModel* plain, const mjModel* inflated, mjtNum margin,
                       const std::vector<mjtNum>& start) {
  const Model asked = Copy(model);
  std::fill_n(asked->pair_margin, asked->npair, margin);
  std::vector<mjtNum> other = start;
  for (size_t i = 0; i < other.size(); ++i) other[i] += 0.01 * static_cast<double>(i % 7) - 0.03;
  return SameContacts(inflated, asked.get(), start) && SameContacts(inflated, asked.get(), other) &&
         SameContacts(plain, model, start) && SameContacts(plain, model, other);
}

// Returns a model whose contacts equal the contacts of `plain` in every number and in order, or null if that is uncertain or
// brings no gain. MuJoCo itself lists the pairs with their order and parameters, and verifies the new model.
Model WithPairs(const mjModel* plain, const std::string& name, const std::string& xml) {
  if (!IsSimple(plain)) return nullptr;
  const std::vector<mjtNum> start(plain->qpos0, plain->qpos0 + plain->nq);
  const Model inflated = Copy(plain);
  std::fill_n(inflated->geom_margin, plain->ngeom, kEverywhere);
  std::fill_n(inflated->body_margin, plain->nbody, kEverywhere);
  const std::vector<mjContact> pairs = AllPairs(inflated.get(), start);
  if (pairs.empty()) return nullptr;
  const mjtNum together = pairs[0].includemargin;  // of two such margins
  if (together != kEverywhere && together != 2 * kEverywhere) return nullptr;
  const auto margin = [&](const mjContact& c) {
    const mjtNum a = plain->geom_margin[c.geom[0]], b = plain->geom_margin[c.geom[1]];
    return together == kEverywhere ? std::max(a, b) : a + b;
  };

  const Spec spec = Parse(name, xml);
  std::vector<std::string> names(static_cast<size_t>(plain->ngeom));
  if (!spec || spec->compiler.discardvisual || !Compile(spec.get()) || !TakeOutOfSearch(spec.get(), &names)) return nullptr;
  for (const mjContact& pair : pairs) AddPair(spec.get(), pair, names, margin(pair));
  Model model = Compile(spec.get());
  if (!model || model->npair != static_cast<int>(pairs.size()) || !HasSameState(model.get(), plain)) return nullptr;
  return FindsSameContacts(model.get(), plain, inflated.get(), together, start) ? std::move(model) : nullptr;
}

}  // namespace

Model Quickened(Model plain, const std::string& name, const std::string& xml) {
  Model paired = WithPairs(plain.get(), name, xml);
  Model model = paired ? std::move(paired) : std::move(plain);
  // Without a pair that may touch, a search finds nothing.
  if (model->npair == 0 && model->nflex == 0 && CountPairs(model.get()) == 0) model->opt.disableflags |= mjDSBL_CONTACT;
  // A single island would contain everything.
  if (model->ntree == 1 && model->opt.noslip_iterations == 0) model->opt.disableflags |= mjDSBL_ISLAND;
  return model;
}

}  // namespace mj
