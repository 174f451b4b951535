//! A point mass on a line, to be steered to 0: the env of `backplane new env`, in Rust. It equals the C++ and C versions bit for
//! bit.

use backplane::{export_env, About, Env, Opt, Options, Outcome, Rng, Spec};

struct Point {
    x: f64, // m
    v: f64, // m/s
}

struct Model {
    dt: f64,          // s
    reset_range: f64, // m
    max_episode_steps: i64,
}

impl Point {
    fn observe(&self, obs: &mut [f32]) {
        obs[0] = self.x as f32;
        obs[1] = self.v as f32;
    }
}

impl Env for Point {
    const ABOUT: About = About {
        id: "env.point_rust",
        version: "1.0.0",
        summary: "A point mass on a line, to be steered to 0 (in Rust).",
        license: "Apache-2.0",
    };
    const OPTIONS: &'static [Opt] = &[
        Opt::f64("dt", "0.05", "(0,1]", "Seconds per step; larger steps are harder to steer."),
        Opt::f64("reset_range", "1.0", "(0,10]", "Episodes start at a position drawn from +- this range, in metres."),
        Opt::i64("max_episode_steps", "200", "[1,)", "Steps after which the host ends an episode."),
    ];
    type Model = Model;
    type Action = f32;

    fn model(options: &Options) -> Result<Model, String> {
        Ok(Model {
            dt: options.f64("dt"),
            reset_range: options.f64("reset_range"),
            max_episode_steps: options.i64("max_episode_steps"),
        })
    }

    fn spec(model: &Model) -> Spec {
        Spec::continuous(2, 1, -1.0, 1.0).info("ep/distance").max_episode_steps(model.max_episode_steps)
    }

    fn reset(model: &Model, rng: &mut Rng, obs: &mut [f32]) -> Point {
        let point = Point { x: rng.range(-model.reset_range, model.reset_range), v: 0.0 };
        point.observe(obs);
        point
    }

    // Reward: minus the squared distance and a small cost of the force. The episode ends 10 m away.
    fn step(&mut self, model: &Model, _: &mut Rng, action: &[f32], obs: &mut [f32], info: &mut [f32]) -> Outcome {
        let force = f64::from(action[0]).clamp(-1.0, 1.0);
        self.v += model.dt * force;
        self.x += model.dt * self.v;
        self.observe(obs);
        info[0] = self.x.abs() as f32;
        Outcome { reward: -(self.x * self.x) - 0.01 * (force * force), terminated: self.x.abs() > 10.0 }
    }
}

export_env!(Point);
