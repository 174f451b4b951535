//! Soft actor-critic (Haarnoja et al., arXiv 1812.05905) for continuous actions, over `learner.rs` of the SDK: an actor,
//! two critics with targets, and a learned weight of the entropy.

use backplane::abi::BP_E_INVALID_ARG;
use backplane::learner::abi::{BP_E_NUMERIC, BP_PURPOSE_LEARNER};
use backplane::learner::{Actor, Failure, OffPolicy, Reader, Replay, Schedule, Setup, Transition, Writer};
use backplane::{export_learner, seed, About, Opt, Options, Rng};

/// A multi-layer perceptron with ReLU between its layers, its gradient, and Adam. One sample at a time, which is slow but short.
#[derive(Clone)]
struct Net {
    sizes: Vec<usize>,
    weights: Vec<f32>, // of a layer [in, out], followed by its biases
    gradient: Vec<f32>,
    m: Vec<f32>,
    v: Vec<f32>,
    steps: u64,
}

type Trace = Vec<Vec<f32>>; // outputs of all layers for one input, the input first

impl Net {
    fn new(sizes: &[usize], key: u64) -> Net {
        let mut rng = Rng::new(key);
        let mut weights = Vec::new();
        for layer in sizes.windows(2) {
            let bound = 1.0 / (layer[0] as f64).sqrt();
            weights.extend((0..(layer[0] + 1) * layer[1]).map(|_| rng.range(-bound, bound) as f32));
        }
        let zeros = vec![0.0; weights.len()];
        Net { sizes: sizes.to_vec(), weights, gradient: zeros.clone(), m: zeros.clone(), v: zeros, steps: 0 }
    }

    fn forward(&self, x: &[f32]) -> Trace {
        let mut trace = vec![x.to_vec()];
        let mut rest = &self.weights[..];
        for (l, layer) in self.sizes.windows(2).enumerate() {
            let (w, after) = rest.split_at(layer[0] * layer[1]);
            let (bias, after) = after.split_at(layer[1]);
            let mut y = bias.to_vec();
            for (x, row) in trace[l].iter().zip(w.chunks(layer[1])) {
                y.iter_mut().zip(row).for_each(|(y, w)| *y += x * w);
            }
            if l + 2 < self.sizes.len() {
                y.iter_mut().for_each(|y| *y = y.max(0.0));
            }
            trace.push(y);
            rest = after;
        }
        trace
    }

    fn output(trace: &Trace) -> &[f32] {
        &trace[trace.len() - 1]
    }

    /// Adds the gradient for the derivative `d` at the output, if `learns`; returns the derivative at the input.
    fn backward(&mut self, trace: &Trace, mut d: Vec<f32>, learns: bool) -> Vec<f32> {
        let mut at = self.weights.len();
        for l in (0..self.sizes.len() - 1).rev() {
            let (n, out) = (self.sizes[l], self.sizes[l + 1]);
            at -= (n + 1) * out;
            let mut before = vec![0.0; n];
            for i in 0..n {
                let row = at + i * out..at + (i + 1) * out;
                if l == 0 || trace[l][i] > 0.0 {
                    before[i] = self.weights[row.clone()].iter().zip(&d).map(|(w, d)| w * d).sum();
                }
                if learns {
                    self.gradient[row].iter_mut().zip(&d).for_each(|(g, d)| *g += trace[l][i] * d);
                }
            }
            if learns {
                self.gradient[at + n * out..at + (n + 1) * out].iter_mut().zip(&d).for_each(|(g, d)| *g += d);
            }
            d = before;
        }
        d
    }

    /// A step of Adam along the gradient, which becomes 0.
    fn step(&mut self, lr: f64) {
        self.steps += 1;
        let t = self.steps as f64;
        let rate = (lr * (1.0 - 0.999_f64.powf(t)).sqrt() / (1.0 - 0.9_f64.powf(t))) as f32;
        for i in 0..self.weights.len() {
            let g = std::mem::take(&mut self.gradient[i]);
            self.m[i] = 0.9 * self.m[i] + 0.1 * g;
            self.v[i] = 0.999 * self.v[i] + 0.001 * g * g;
            self.weights[i] -= rate * self.m[i] / (self.v[i].sqrt() + 1e-8);
        }
    }

    fn follow(&mut self, other: &Net, share: f32) {
        self.weights.iter_mut().zip(&other.weights).for_each(|(w, other)| *w += share * (other - *w));
    }

    fn save(&self, out: &mut Writer) {
        [&self.weights, &self.m, &self.v].iter().for_each(|numbers| out.numbers(numbers));
        out.u64(self.steps);
    }

    fn load(&mut self, from: &mut Reader) -> Result<(), Failure> {
        for numbers in [&mut self.weights, &mut self.m, &mut self.v] {
            from.numbers(numbers)?;
        }
        self.steps = from.u64()?;
        Ok(())
    }
}

/// An action in [-1, 1] with its log-probability, drawn from the actor's output (means, then logarithms of deviations).
struct Choice {
    action: Vec<f32>,
    noise: Vec<f32>,
    logp: f64,
}

fn choose(head: &[f32], mut rng: Option<&mut Rng>) -> Choice {
    let n = head.len() / 2;
    let mut c = Choice { action: Vec::new(), noise: Vec::new(), logp: 0.0 };
    for k in 0..n {
        let log_std = f64::from(head[n + k]).clamp(-20.0, 2.0);
        let noise = rng.as_mut().map_or(0.0, |rng| rng.normal());
        let u = f64::from(head[k]) + log_std.exp() * noise;
        c.action.push(u.tanh() as f32);
        c.noise.push(noise as f32);
        // The density of u, and of the change of variables: ln(1 - tanh(u)^2), written so that it is finite for every u.
        let change = 2.0 * (2_f64.ln() - u.abs() - (-2.0 * u.abs()).exp().ln_1p());
        c.logp -= noise * noise / 2.0 + log_std + 0.918938533 + change;
    }
    c
}

fn joined(obs: &[f32], action: &[f32]) -> Vec<f32> {
    [obs, action].concat()
}

struct Sac {
    lr: f64,
    gamma: f64,
    tau: f64,
    batch_size: usize,
    schedule: (u64, u64, u64),
    inputs: usize,
    outputs: usize,
    actor: Net,
    critics: [Net; 2],
    targets: [Net; 2],
    log_alpha: f64,
    alpha_m: f64,
    alpha_v: f64,
}

impl Sac {
    /// Adds the critics' gradient of a transition, and returns its squared error.
    fn learn_value(&mut self, step: &Transition, rng: &mut Rng) -> f64 {
        let next = choose(Net::output(&self.actor.forward(step.next_obs)), Some(rng));
        let mut target = f64::from(step.reward);
        if !step.terminated {
            let x = joined(step.next_obs, &next.action);
            let value = |net: &Net| Net::output(&net.forward(&x))[0];
            let least = value(&self.targets[0]).min(value(&self.targets[1]));
            target += self.gamma * (f64::from(least) - self.log_alpha.exp() * next.logp);
        }
        let x = joined(step.obs, step.action);
        let mut error = 0.0;
        for critic in &mut self.critics {
            let trace = critic.forward(&x);
            let apart = f64::from(Net::output(&trace)[0]) - target;
            critic.backward(&trace, vec![(apart / self.batch_size as f64) as f32], true);
            error += apart * apart / 2.0;
        }
        error
    }

    /// Adds the actor's gradient of alpha ln p(a) - Q(s, a), and returns ln p(a).
    fn learn_action(&mut self, step: &Transition, rng: &mut Rng) -> f64 {
        let trace = self.actor.forward(step.obs);
        let head = Net::output(&trace);
        let c = choose(head, Some(rng));
        let x = joined(step.obs, &c.action);
        let values = [self.critics[0].forward(&x), self.critics[1].forward(&x)];
        let less = usize::from(Net::output(&values[0])[0] > Net::output(&values[1])[0]);
        let dq = self.critics[less].backward(&values[less], vec![1.0], false);
        let (alpha, share) = (self.log_alpha.exp() as f32, 1.0 / self.batch_size as f32);
        let mut d = vec![0.0; 2 * self.outputs];
        for k in 0..self.outputs {
            let (a, log_std) = (c.action[k], head[self.outputs + k]);
            d[k] = share * (2.0 * alpha * a - dq[self.inputs + k] * (1.0 - a * a));
            if log_std > -20.0 && log_std < 2.0 {
                d[self.outputs + k] = d[k] * log_std.exp() * c.noise[k] - share * alpha;
            }
        }
        self.actor.backward(&trace, d, true);
        c.logp
    }

    /// Adam on log alpha, towards an entropy of minus the number of actions.
    fn learn_temperature(&mut self, logp: f64, number: u64) {
        let (gradient, t) = (self.outputs as f64 - logp, number as f64);
        self.alpha_m = 0.9 * self.alpha_m + 0.1 * gradient;
        self.alpha_v = 0.999 * self.alpha_v + 0.001 * gradient * gradient;
        let deviation = (self.alpha_v / (1.0 - 0.999_f64.powf(t))).sqrt() + 1e-8;
        self.log_alpha -= self.lr * self.alpha_m / (1.0 - 0.9_f64.powf(t)) / deviation;
    }

    /// Places of the actor's numbers, so that its means come before its deviations, as layers of a perceptron of their own.
    fn policy_order(&self) -> Vec<usize> {
        let (hidden, n) = (self.actor.sizes[2], self.outputs);
        let head = self.actor.weights.len() - (hidden + 1) * 2 * n;
        let half = |from: usize| (0..=hidden).flat_map(move |row| (0..n).map(move |k| head + row * 2 * n + from + k));
        (0..head).chain(half(0)).chain(half(n)).collect()
    }

    fn nets(&self) -> [&Net; 5] {
        let ([c1, c2], [t1, t2]) = (&self.critics, &self.targets);
        [&self.actor, c1, c2, t1, t2]
    }
}

impl OffPolicy for Sac {
    const ABOUT: About = About {
        id: "learner.template_off_policy_rust",
        version: "1.0.0",
        summary: "A small soft actor-critic (in Rust).",
        license: "Apache-2.0",
    };
    const OPTIONS: &'static [Opt] = &[
        Opt::f64("lr", "1.0e-3", "(0,)", "Learning rate of Adam."),
        Opt::f64("gamma", "0.98", "[0,1]", "Discount per step."),
        Opt::f64("tau", "0.01", "(0,1]", "Share of the critics in their targets after a step."),
        Opt::i64("hidden", "64", "[1,1024]", "Size of the two hidden layers of each net."),
        Opt::i64("batch_size", "64", "[1,)", "Transitions per gradient step."),
        Opt::i64("buffer_size", "100000", "[1,)", "Transitions that are kept."),
        Opt::i64("learning_starts", "500", "[0,)", "Env steps with random actions before the first gradient step."),
        Opt::i64("horizon", "1000", "[1,)", "Steps per env of an iteration."),
    ];

    fn create(options: &Options, setup: &Setup) -> Result<Sac, String> {
        let hidden = options.i64("hidden") as usize;
        let net = |inputs, outputs, number| {
            Net::new(&[inputs, hidden, hidden, outputs], seed(setup.seed, BP_PURPOSE_LEARNER, 1, number))
        };
        let (inputs, outputs) = (setup.obs, setup.actions);
        let critics = [net(inputs + outputs, 1, 1), net(inputs + outputs, 1, 2)];
        let whole = |path| options.i64(path) as u64;
        Ok(Sac {
            lr: options.f64("lr"),
            gamma: options.f64("gamma"),
            tau: options.f64("tau"),
            batch_size: options.i64("batch_size") as usize,
            schedule: (whole("horizon"), whole("learning_starts"), whole("buffer_size")),
            inputs,
            outputs,
            actor: net(inputs, 2 * outputs, 0),
            targets: critics.clone(),
            critics,
            log_alpha: 0.0,
            alpha_m: 0.0,
            alpha_v: 0.0,
        })
    }

    fn schedule(&self) -> Schedule {
        let (horizon, learning_starts, buffer_size) = self.schedule;
        Schedule { horizon, learning_starts, buffer_size }
    }

    fn params(&self) -> usize {
        self.nets()[..3].iter().map(|net| net.weights.len()).sum()
    }

    fn act(&self, obs: &[f32], rng: Option<&mut Rng>, action: &mut [f32]) {
        action.copy_from_slice(&choose(Net::output(&self.actor.forward(obs)), rng).action);
    }

    fn update(&mut self, number: u64, rng: &mut Rng, ring: &Replay) -> Result<(), Failure> {
        let batch = (0..self.batch_size).map(|_| ring.draw(rng)).collect::<Result<Vec<_>, _>>()?;
        let error: f64 = batch.iter().map(|step| self.learn_value(step, rng)).sum();
        if !error.is_finite() {
            return Err((BP_E_NUMERIC, "the loss of the critics is not finite; a smaller lr may help".to_string()));
        }
        let lr = self.lr;
        self.critics.iter_mut().for_each(|critic| critic.step(lr));
        let logp: f64 = batch.iter().map(|step| self.learn_action(step, rng)).sum();
        self.actor.step(lr);
        self.learn_temperature(logp / self.batch_size as f64, number);
        for (target, critic) in self.targets.iter_mut().zip(&self.critics) {
            target.follow(critic, self.tau as f32);
        }
        Ok(())
    }

    fn save(&self, out: &mut Writer) {
        out.u64(self.params() as u64);
        self.nets().iter().for_each(|net| net.save(out));
        [self.log_alpha, self.alpha_m, self.alpha_v].iter().for_each(|number| out.f64(*number));
    }

    fn load(&mut self, from: &mut Reader) -> Result<(), Failure> {
        let (expected, got) = (self.params() as u64, from.u64()?);
        if got != expected {
            return Err((BP_E_INVALID_ARG, format!("expected a state of {expected} parameters, got {got}")));
        }
        let ([c1, c2], [t1, t2]) = (&mut self.critics, &mut self.targets);
        for net in [&mut self.actor, c1, c2, t1, t2] {
            net.load(from)?;
        }
        for number in [&mut self.log_alpha, &mut self.alpha_m, &mut self.alpha_v] {
            *number = from.f64()?;
        }
        Ok(())
    }

    fn save_policy(&self, out: &mut Writer) {
        let actor: Vec<f32> = self.policy_order().iter().map(|at| self.actor.weights[*at]).collect();
        out.numbers(&actor);
        self.nets()[1..].iter().for_each(|net| out.numbers(&net.weights));
        out.f64(self.log_alpha);
    }

    fn load_policy(&mut self, from: &mut Reader) -> Result<(), Failure> {
        let order = self.policy_order();
        let mut actor = vec![0.0; order.len()];
        from.numbers(&mut actor)?;
        order.iter().zip(&actor).for_each(|(at, number)| self.actor.weights[*at] = *number);
        let ([c1, c2], [t1, t2]) = (&mut self.critics, &mut self.targets);
        for net in [c1, c2, t1, t2] {
            from.numbers(&mut net.weights)?;
        }
        self.log_alpha = from.f64()?;
        Ok(())
    }

    fn actor(&self) -> Option<Actor> {
        let mut sizes = self.actor.sizes.clone();
        sizes[3] = self.outputs; // the means
        Some(Actor { sizes, activation: "relu" })
    }
}

export_learner!(Sac);
