/* Steps 64 carts with poles with a hand-written rule, on two threads.
 * README.md shows the build. An argument replaces the env's options.
 */
#include <backplane/embed.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 64, STEPS = 2000 };

static void check(bp_status status) {
  if (status == BP_OK) return;
  fprintf(stderr, "%s\n", bp_embed_error());
  exit(1);
}

static void* data_of(bp_embed* env, const char* channel) {
  bp_view view;
  check(bp_embed_tensor(env, channel, &view));
  return view.data; /* valid until the env is closed; rows are contiguous */
}

int main(int argc, char** argv) {
  const char* options = argc > 1 ? argv[1] : "{\"max_episode_steps\": 500}";
  bp_embed* env = NULL;
  check(bp_embed_open(NULL, "cartpole", options, ROWS, /*seed=*/1, /*threads=*/2, &env));

  int32_t* action = data_of(env, "action");                     /* [ROWS] */
  const float(*obs)[4] = (const float(*)[4])data_of(env, "obs"); /* x, its speed, angle, its speed */
  const uint8_t *terminated = data_of(env, "terminated"), *truncated = data_of(env, "truncated");
  const double* ep_return = data_of(env, "ep_return");

  double sum = 0;
  int episodes = 0;
  check(bp_embed_reset(env, NULL, NULL));
  for (int t = 0; t < STEPS; ++t) {
    /* Push to where the pole falls, and a little against the cart's way. */
    for (int r = 0; r < ROWS; ++r) action[r] = obs[r][2] + 0.3f * obs[r][3] + 0.05f * obs[r][0] + 0.1f * obs[r][1] > 0;
    check(bp_embed_step(env)); /* finished rows reset in the same step */
    for (int r = 0; r < ROWS; ++r)
      if (terminated[r] || truncated[r]) sum += ep_return[r], ++episodes;
  }
  printf("%d episodes, mean return %.1f\n", episodes, episodes ? sum / episodes : 0.0);
  check(bp_embed_close(env));
  return 0;
}
