// The physical limit of CartPole on one core: a plain C loop over rows with autoreset, as a reference for the host.
#ifndef BENCH_CARTPOLE_LOOP_H_
#define BENCH_CARTPOLE_LOOP_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cartpole_row {
  double x, x_dot, theta, theta_dot;
  uint64_t steps, episode;  // of the current episode; started episodes
} cartpole_row;

// Starts the row's next episode like the host: same seed, same draws.
void cartpole_start(cartpole_row* row, uint64_t trial_seed, uint32_t index);
// `horizon` steps of all rows: actions and rewards [horizon, rows], obs [horizon, rows, 4], ended [horizon, rows].
void cartpole_loop(cartpole_row* rows, uint64_t n_rows, uint64_t horizon, uint64_t trial_seed, const int32_t* actions,
                   float* obs, float* rewards, uint8_t* ended);

#ifdef __cplusplus
}
#endif
#endif  // BENCH_CARTPOLE_LOOP_H_
