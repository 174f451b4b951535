#include "cartpole_loop.h"

#include <math.h>

#include "backplane/rng.h"

enum { kMostSteps = 500 };

void cartpole_start(cartpole_row* row, uint64_t trial_seed, uint32_t index) {
  bp_rng rng = {bp_seed(trial_seed, BP_PURPOSE_ENV_EPISODE, index, row->episode++), 0};
  row->x = bp_rng_range(&rng, -0.05, 0.05);
  row->x_dot = bp_rng_range(&rng, -0.05, 0.05);
  row->theta = bp_rng_range(&rng, -0.05, 0.05);
  row->theta_dot = bp_rng_range(&rng, -0.05, 0.05);
  row->steps = 0;
}

// Gymnasium's CartPole-v1, operation by operation.
static int Step(cartpole_row* row, int right) {
  const double total_mass = 1.0 + 0.1, pole_mass_length = 0.1 * 0.5;
  const double limit = 12 * 2 * 3.14159265358979323846 / 360;
  const double force = right ? 10.0 : -10.0, cosine = cos(row->theta), sine = sin(row->theta);
  const double temp = (force + pole_mass_length * (row->theta_dot * row->theta_dot) * sine) / total_mass;
  const double theta_acc = (9.8 * sine - cosine * temp) / (0.5 * (4.0 / 3.0 - 0.1 * (cosine * cosine) / total_mass));
  const double x_acc = temp - pole_mass_length * theta_acc * cosine / total_mass;
  row->x = row->x + 0.02 * row->x_dot;
  row->x_dot = row->x_dot + 0.02 * x_acc;
  row->theta = row->theta + 0.02 * row->theta_dot;
  row->theta_dot = row->theta_dot + 0.02 * theta_acc;
  return row->x < -2.4 || row->x > 2.4 || row->theta < -limit || row->theta > limit;
}

void cartpole_loop(cartpole_row* rows, uint64_t n_rows, uint64_t horizon, uint64_t trial_seed, const int32_t* actions,
                   float* obs, float* rewards, uint8_t* ended) {
  for (uint64_t t = 0; t < horizon; ++t) {
    for (uint64_t i = 0; i < n_rows; ++i) {
      cartpole_row* row = &rows[i];
      const int fallen = Step(row, *actions++ == 1);
      const int over = fallen || ++row->steps == kMostSteps;
      *rewards++ = 1.0f;
      *ended++ = (uint8_t)over;
      if (over) cartpole_start(row, trial_seed, (uint32_t)i);
      *obs++ = (float)row->x;
      *obs++ = (float)row->x_dot;
      *obs++ = (float)row->theta;
      *obs++ = (float)row->theta_dot;
    }
  }
}
