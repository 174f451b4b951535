//! Off-policy learners in Rust: the learner half of the C ABI (`backplane/learner.h`), a replay buffer in a file of the trial
//! (`backplane/replay.h`), and one layer over them in which an author writes acting and gradient steps in safe code. It is the
//! module `learner` of `backplane.rs`. Such a plugin needs a host of version 1.1.

use crate::abi::*;
use crate::{c_text, describe, guarded, seed, About, Opt, Options, Rng, Tables};
use abi::*;
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_void};
use std::sync::Once;

/// The ABI as the C headers have it, name by name. A test compares sizes and offsets with C's.
#[allow(non_camel_case_types)]
pub mod abi {
    use crate::abi::{bp_channel, bp_config, bp_env_spec, bp_host, bp_status, bp_tensor};
    use std::os::raw::{c_char, c_void};

    pub const BP_E_UNSUPPORTED: bp_status = -3;
    pub const BP_E_NUMERIC: bp_status = -7;
    pub const BP_E_IO: bp_status = -9;
    pub const BP_KIND_LEARNER: u32 = 2;
    pub const BP_ROLE_EXTRA: u16 = 18;
    pub const BP_FLAG_ROW_EXACT: u64 = 2;
    pub const BP_LEARNER_STATE_LARGE: u64 = 8;
    pub const BP_REQ_ROLLOUT: u32 = 1;
    pub const BP_ACT_GREEDY: u32 = 1;
    pub const BP_PURPOSE_ACT: u32 = 2;
    pub const BP_PURPOSE_LEARNER: u32 = 3;
    pub const BP_FILE_BLOCK: u64 = 1048576;

    #[repr(C)]
    pub struct bp_learner {
        _opaque: [u8; 0],
    }

    /// Not read by this layer.
    #[repr(C)]
    pub struct bp_limits {
        _opaque: [u8; 0],
    }

    #[repr(C)]
    pub struct bp_learner_spec {
        pub struct_size: u32,
        pub evaluation_rows: u32,
        pub act_in: *const *const c_char,
        pub keep: *const *const c_char,
        pub act_out: *const bp_channel,
        pub n_act_out: u64,
        pub n_params: u64,
        pub flags: u64,
    }

    /// For a rollout, `u` begins with horizon, policy_version and part.
    #[repr(C)]
    pub struct bp_request {
        pub struct_size: u32,
        pub kind: u32,
        pub u: [u64; 16],
    }

    #[repr(C)]
    pub struct bp_act {
        pub struct_size: u32,
        pub flags: u32,
        pub begin: u64,
        pub end: u64,
        pub row_base: u64,
        pub seed: u64,
        pub step: u64,
        pub r#in: *const *mut bp_tensor,
        pub out: *const *mut bp_tensor,
        pub candidate: *const i32,
        pub stream: *mut c_void,
    }

    #[repr(C)]
    pub struct bp_delivery {
        pub struct_size: u32,
        pub kind: u32,
        pub index: u32,
        pub count: u32,
        pub flags: u32,
        pub reserved: u32,
        pub n_tensors: u64,
        pub names: *const *const c_char,
        pub tensors: *const *mut bp_tensor,
        pub group_weight: f64,
        pub env_steps: u64,
        pub stream: *mut c_void,
    }

    #[repr(C)]
    pub struct bp_learner_api {
        pub struct_size: u32,
        pub reserved: u32,
        pub create: unsafe extern "C" fn(*const bp_host, *const bp_config, *const bp_env_spec, u64, u64, *mut *mut bp_learner) -> bp_status,
        pub destroy: unsafe extern "C" fn(*mut bp_learner),
        pub spec: unsafe extern "C" fn(*const bp_learner) -> *const bp_learner_spec,
        pub plan: unsafe extern "C" fn(*mut bp_learner, *const bp_limits, *mut bp_request) -> bp_status,
        pub consume: unsafe extern "C" fn(*mut bp_learner, *const bp_delivery) -> bp_status,
        pub act: unsafe extern "C" fn(*mut bp_learner, *const bp_act) -> bp_status,
        pub get_extension: unsafe extern "C" fn(*const bp_learner, *const c_char) -> *const c_void,
    }

    #[repr(C)]
    pub struct bp_writer {
        pub struct_size: u32,
        pub reserved: u32,
        pub r#impl: *mut c_void,
        pub write: unsafe extern "C" fn(*const bp_writer, *const c_void, u64) -> bp_status,
    }

    #[repr(C)]
    pub struct bp_reader {
        pub struct_size: u32,
        pub reserved: u32,
        pub r#impl: *mut c_void,
        pub read: unsafe extern "C" fn(*const bp_reader, *mut c_void, u64) -> bp_status,
    }

    #[repr(C)]
    pub struct bp_learner_state_1 {
        pub struct_size: u32,
        pub reserved: u32,
        pub save: unsafe extern "C" fn(*mut bp_learner, *const bp_writer) -> bp_status,
        pub load: unsafe extern "C" fn(*mut bp_learner, *const bp_reader) -> bp_status,
    }

    #[repr(C)]
    pub struct bp_learner_policy_1 {
        pub struct_size: u32,
        pub reserved: u32,
        pub save: unsafe extern "C" fn(*mut bp_learner, *const bp_writer) -> bp_status,
        pub load: unsafe extern "C" fn(*mut bp_learner, *const bp_reader) -> bp_status,
        pub form: unsafe extern "C" fn(*mut bp_learner) -> *const c_char,
        pub start: unsafe extern "C" fn(*mut bp_learner, *const bp_reader) -> bp_status,
    }

    #[repr(C)]
    pub struct bp_file {
        pub struct_size: u32,
        pub reserved: u32,
        pub r#impl: *mut c_void,
        pub data: *mut u8,
        pub bytes: u64,
    }

    #[repr(C)]
    pub struct bp_file_claim {
        pub struct_size: u32,
        pub reserved: u32,
        pub max_bytes: u64,
        pub iteration_bytes: u64,
        pub slack_bytes: u64,
    }

    #[repr(C)]
    pub struct bp_host_file_1 {
        pub struct_size: u32,
        pub reserved: u32,
        pub open: unsafe extern "C" fn(*const bp_host, *const c_char, *const bp_file_claim, *mut *mut bp_file) -> bp_status,
        pub grow: unsafe extern "C" fn(*mut bp_file, u64) -> bp_status,
        pub need: unsafe extern "C" fn(*mut bp_file, u64, u64) -> bp_status,
        pub written: unsafe extern "C" fn(*mut bp_file, u64, u64) -> bp_status,
    }
}

/// A code of the ABI (`BP_E_*`) and a sentence.
pub type Failure = (bp_status, String);

fn check(status: bp_status, text: &str) -> Result<(), Failure> {
    if status == BP_OK { Ok(()) } else { Err((status, text.to_string())) }
}

/// A stored step of one row. A truncated episode continues in `next_obs`, its last observation.
pub struct Transition<'a> {
    pub obs: &'a [f32],
    pub action: &'a [f32], // in [-1, 1]
    pub next_obs: &'a [f32],
    pub reward: f32,
    pub terminated: bool,
}

const HEAD: u64 = 8; // bytes of an entry before its numbers: the reward and two flags

/// The newest transitions, in a file of the trial: frames `first()` to `count() - 1`, each with `rows()` entries. `count` belongs
/// to the saved state, the content does not.
pub struct Replay {
    api: *const bp_host_file_1,
    file: *mut bp_file,
    obs: u64,     // numbers
    actions: u64, // numbers
    rows: u64,
    count: u64,
    capacity: u64, // frames that may be read
    frames: u64,   // places: the capacity, and a slack that protects the frames of checkpoints
}

impl Replay {
    unsafe fn open(host: *const bp_host, setup: &Setup, schedule: &Schedule) -> Result<Replay, Failure> {
        let api = ((*host).get_extension)(host, c_text("bp.host.file/1\0")).cast::<bp_host_file_1>();
        if api.is_null() {
            return Err((BP_E_UNSUPPORTED, "the replay buffer needs a host with files of the trial (bp.host.file/1)".to_string()));
        }
        let (obs, actions, rows) = (setup.obs as u64, setup.actions as u64, setup.rows);
        let mut ring = Replay { api, file: std::ptr::null_mut(), obs, actions, rows, count: 0, capacity: 0, frames: 0 };
        let frame = ring.frame_bytes();
        let iteration_bytes = schedule.horizon * frame;
        ring.capacity = (schedule.buffer_size + rows - 1) / rows;
        // As bp_replay_slack_bytes of replay.h.
        let most = (ring.capacity * frame / 4).min(1024 * BP_FILE_BLOCK).max(64 * BP_FILE_BLOCK);
        let iterations = (most / iteration_bytes).min(200).max(3);
        let slack = (iterations * iteration_bytes + 2 * BP_FILE_BLOCK + frame - 1) / frame;
        ring.frames = ring.capacity + slack;
        let claim = bp_file_claim {
            struct_size: std::mem::size_of::<bp_file_claim>() as u32,
            reserved: 0,
            max_bytes: ring.frames * frame,
            iteration_bytes,
            slack_bytes: slack * frame,
        };
        let status = ((*api).open)(host, c_text("replay\0"), &claim, &mut ring.file);
        check(status, "the host could not open the file of the replay buffer")?;
        Ok(ring)
    }

    pub fn count(&self) -> u64 {
        self.count
    }
    pub fn first(&self) -> u64 {
        self.count.saturating_sub(self.capacity)
    }
    pub fn rows(&self) -> u64 {
        self.rows
    }

    fn entry_bytes(&self) -> u64 {
        HEAD + 4 * (self.actions + 2 * self.obs)
    }
    fn frame_bytes(&self) -> u64 {
        self.rows * self.entry_bytes()
    }
    fn place(&self, frame: u64, row: u64) -> u64 {
        (frame % self.frames * self.rows + row) * self.entry_bytes()
    }

    /// Draws a transition; compares checksums after a resume.
    pub fn draw(&self, rng: &mut Rng) -> Result<Transition<'_>, Failure> {
        let entry = rng.below((self.count - self.first()) * self.rows);
        self.at(self.first() + entry / self.rows, entry % self.rows)
    }

    pub fn at(&self, frame: u64, row: u64) -> Result<Transition<'_>, Failure> {
        assert!(self.first() <= frame && frame < self.count && row < self.rows, "expected a frame and a row of the replay buffer");
        let at = self.place(frame, row);
        unsafe {
            check(((*self.api).need)(self.file, at, self.entry_bytes()), "the replay buffer is damaged")?;
            let head = (*self.file).data.add(at as usize);
            let (obs, actions) = (self.obs as usize, self.actions as usize);
            let numbers = std::slice::from_raw_parts(head.add(HEAD as usize).cast::<f32>(), actions + 2 * obs);
            let (action, states) = numbers.split_at(actions);
            let (obs, next_obs) = states.split_at(obs);
            Ok(Transition { obs, action, next_obs, reward: *head.cast::<f32>(), terminated: *head.add(4) != 0 })
        }
    }

    // Makes room for the next n frames.
    unsafe fn reserve(&mut self, n: u64) -> Result<(), Failure> {
        if n > self.frames - self.capacity {
            return Err((BP_E_INVALID_ARG, format!("expected at most the horizon's frames, got {n}")));
        }
        let (step, most) = (16 * BP_FILE_BLOCK, self.frames * self.frame_bytes());
        let end = (self.count + n).min(self.frames) * self.frame_bytes();
        if end <= (*self.file).bytes {
            return Ok(());
        }
        let wanted = (end / step * step + step).min(most);
        check(((*self.api).grow)(self.file, wanted), "could not extend the file of the replay buffer; the disk may be full")
    }

    unsafe fn write(&mut self, row: u64, action: &[f32], obs: &[f32], next_obs: &[f32], reward: f32, ended: [u8; 2]) {
        let head = (*self.file).data.add(self.place(self.count, row) as usize);
        *head.cast::<f32>() = reward;
        std::ptr::copy_nonoverlapping([ended[0], ended[1], 0, 0].as_ptr(), head.add(4), 4);
        let mut to = head.add(HEAD as usize).cast::<f32>();
        for part in [action, obs, next_obs] {
            std::ptr::copy_nonoverlapping(part.as_ptr(), to, part.len());
            to = to.add(part.len());
        }
    }

    // The rows of the next frame are written.
    unsafe fn stored(&mut self) -> Result<(), Failure> {
        let status = ((*self.api).written)(self.file, self.place(self.count, 0), self.frame_bytes());
        check(status, "the host rejected a write to the replay buffer")?;
        self.count += 1;
        Ok(())
    }

    // For `load`. A file without these frames leaves the ring empty, as in an evaluation or in a next stage.
    unsafe fn restore(&mut self, count: u64) {
        self.count = if count.min(self.frames) * self.frame_bytes() <= (*self.file).bytes { count } else { 0 };
    }
}

/// The trial's env and seed.
pub struct Setup {
    pub obs: usize,
    pub actions: usize,
    pub low: Vec<f32>, // of each action
    pub high: Vec<f32>,
    pub rows: u64,
    pub seed: u64,
}

/// Each frame, a step of all rows, is followed by a gradient step.
pub struct Schedule {
    pub horizon: u64,         // frames of an iteration, a line of metrics
    pub learning_starts: u64, // env steps with random actions, before the first gradient step
    pub buffer_size: u64,     // newest transitions that are kept
}

/// The saved state, number by number.
pub struct Writer<'a>(&'a bp_writer, bp_status);
impl Writer<'_> {
    pub fn put(&mut self, bytes: &[u8]) {
        if self.1 == BP_OK {
            self.1 = unsafe { (self.0.write)(self.0, bytes.as_ptr().cast(), bytes.len() as u64) };
        }
    }
    pub fn u64(&mut self, number: u64) {
        self.put(&number.to_le_bytes());
    }
    pub fn f64(&mut self, number: f64) {
        self.put(&number.to_le_bytes());
    }
    pub fn numbers(&mut self, numbers: &[f32]) {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.put(&bytes);
    }
}

/// Reads what `Writer` wrote, and rejects the end of the data.
pub struct Reader<'a>(&'a bp_reader);
impl Reader<'_> {
    pub fn get<const N: usize>(&mut self) -> Result<[u8; N], Failure> {
        let mut bytes = [0; N];
        check(unsafe { (self.0.read)(self.0, bytes.as_mut_ptr().cast(), N as u64) }, "the saved state is too short")?;
        Ok(bytes)
    }
    pub fn u64(&mut self) -> Result<u64, Failure> {
        Ok(u64::from_le_bytes(self.get()?))
    }
    pub fn f64(&mut self) -> Result<f64, Failure> {
        Ok(f64::from_le_bytes(self.get()?))
    }
    pub fn numbers(&mut self, out: &mut [f32]) -> Result<(), Failure> {
        for number in out {
            *number = f32::from_le_bytes(self.get()?);
        }
        Ok(())
    }
}

/// An actor as a perceptron, whose outputs tanh squashes. Layer by layer, its numbers are weights [in, out], then biases.
pub struct Actor {
    pub sizes: Vec<usize>,        // of the input and of each layer's output
    pub activation: &'static str, // "relu" or "tanh", between layers
}

/// A learner of one agent per row, with float32 observations and bounded continuous actions. The layer makes the schedule, the
/// replay buffer and the random actions at the start. Actions are in [-1, 1]; the layer scales them to the env's bounds.
pub trait OffPolicy: Sized + Send + Sync + 'static {
    const ABOUT: About;
    const OPTIONS: &'static [Opt];

    /// An error is a sentence with the expected and the found value.
    fn create(options: &Options, setup: &Setup) -> Result<Self, String>;
    fn schedule(&self) -> Schedule;
    /// Number of trained numbers, for the record.
    fn params(&self) -> usize;
    /// Several threads act at the same time. Without `rng`, the greedy action.
    fn act(&self, obs: &[f32], rng: Option<&mut Rng>, action: &mut [f32]);
    /// Gradient step `number`. `rng` is new with each step, so that a resumed trial draws the same numbers.
    fn update(&mut self, number: u64, rng: &mut Rng, ring: &Replay) -> Result<(), Failure>;
    /// The complete state, without the replay buffer. Equal states give equal bytes.
    fn save(&self, out: &mut Writer);
    fn load(&mut self, from: &mut Reader) -> Result<(), Failure>;
    /// What `act` reads, for rollout workers, `learner.start_from` and `export policy`: the numbers of `actor`, then other ones.
    fn save_policy(&self, out: &mut Writer);
    fn load_policy(&mut self, from: &mut Reader) -> Result<(), Failure>;
    /// The greedy action is tanh of this net's outputs. None: another net, which `export policy` rejects.
    fn actor(&self) -> Option<Actor>;
}

struct Instance<L> {
    host: *const bp_host,
    learner: L,
    setup: Setup,
    schedule: Schedule,
    ring: Replay,
    frames: u64,        // stored in this trial
    random_frames: u64, // with random actions
    updates: u64,
    planned: bool, // has planned, or loaded a policy
    form: CString,
    spec: bp_learner_spec,
    obs_name: CString,
    _action_name: CString,
    _names: [Vec<*const c_char>; 2],
    _outputs: Vec<bp_channel>,
    _numbers: (Vec<i64>, Vec<f64>, Vec<f64>),
}

// An array of structs is walked by the size of its first.
unsafe fn channel(env: &bp_env_spec, role: u16) -> Result<&bp_channel, Failure> {
    for i in 0..env.n_channels as usize {
        let one = &*env.channels.cast::<u8>().add(i * (*env.channels).struct_size as usize).cast::<bp_channel>();
        if one.role == role {
            return Ok(one);
        }
    }
    Err((BP_E_UNSUPPORTED, format!("expected an env with a channel of role {role}, got none")))
}

unsafe fn length(c: &bp_channel) -> usize {
    (0..c.ndim as usize).map(|i| *c.shape.add(i)).product::<i64>() as usize
}

unsafe fn setup_for(env: &bp_env_spec, rows: u64, seed: u64) -> Result<Setup, Failure> {
    let (obs, action) = (channel(env, BP_ROLE_OBS)?, channel(env, BP_ROLE_ACTION)?);
    let float = |c: &bp_channel| c.scope == BP_SCOPE_ROW && (c.dtype.code, c.dtype.bits) == (BP_DTYPE_FLOAT, 32);
    if !float(obs) || !float(action) || action.space != BP_SPACE_BOX || action.n_bounds == 0 {
        let text = "expected one agent with float32 observations and continuous actions with bounds";
        return Err((BP_E_UNSUPPORTED, text.to_string()));
    }
    let actions = length(action);
    let bounds = |of: *const f64| (0..actions).map(|k| *of.add(if action.n_bounds > 1 { k } else { 0 }) as f32).collect();
    let (low, high): (Vec<f32>, Vec<f32>) = (bounds(action.low), bounds(action.high));
    if !low.iter().chain(&high).all(|bound| bound.is_finite()) {
        return Err((BP_E_UNSUPPORTED, "expected actions with both bounds, because they are scaled to them".to_string()));
    }
    Ok(Setup { obs: length(obs), actions, low, high, rows, seed })
}

unsafe fn tensor(delivery: &bp_delivery, name: &str) -> Result<*const bp_tensor, Failure> {
    for i in 0..delivery.n_tensors as usize {
        if CStr::from_ptr(*delivery.names.add(i)).to_bytes() == name.as_bytes() {
            return Ok(*delivery.tensors.add(i));
        }
    }
    Err((BP_E_INVALID_ARG, format!("the delivery has no tensor '{name}'")))
}

// Element [i, row, ...] or, with one leading dimension, [i, ...].
unsafe fn element<T>(t: *const bp_tensor, i: u64, row: u64) -> *mut T {
    let at = i as i64 * *(*t).strides + if row == 0 { 0 } else { row as i64 * *(*t).strides.add(1) };
    (*t).data.cast::<u8>().add((*t).byte_offset as usize).cast::<T>().offset(at as isize)
}

unsafe fn view<'a>(t: *const bp_tensor, i: u64, row: u64, n: usize) -> &'a [f32] {
    std::slice::from_raw_parts(element(t, i, row), n)
}

impl<L: OffPolicy> Instance<L> {
    unsafe fn store(&mut self, part: &bp_delivery) -> Result<u64, Failure> {
        let of = |name: &str| tensor(part, name);
        let (reward, terminated, truncated) = (of("reward")?, of("terminated")?, of("truncated")?);
        let (obs, squashed) = (of(&self.obs_name.to_string_lossy())?, of("squashed")?);
        let last = (of("final_obs"), of("final_index"));
        let (n, n_actions, rows) = (self.setup.obs, self.setup.actions, self.setup.rows);
        let frames = *(*reward).shape as u64;
        self.ring.reserve(frames)?;
        let mut ends = 0;
        for t in 0..frames {
            for row in 0..rows {
                let ended = [*element::<u8>(terminated, t, row), *element::<u8>(truncated, t, row)];
                let next = if ended == [0, 0] {
                    view(obs, t + 1, row, n)
                } else {
                    let (all, index) = (last.0.clone()?, last.1.clone()?);
                    if ends >= *(*index).shape as u64 || *element::<i64>(index, ends, 0) != (t * rows + row) as i64 {
                        return Err((BP_E_INVALID_ARG, "the delivery lacks the last observation of an episode".to_string()));
                    }
                    ends += 1;
                    view(all, ends - 1, 0, n)
                };
                self.ring.write(row, view(squashed, t, row, n_actions), view(obs, t, row, n), next, *element(reward, t, row), ended);
            }
            self.ring.stored()?;
        }
        Ok(frames)
    }

    unsafe fn consume(&mut self, part: &bp_delivery) -> Result<(), Failure> {
        if part.kind != BP_REQ_ROLLOUT {
            return Err((BP_E_INVALID_ARG, format!("expected a part of a rollout, got a delivery of kind {}", part.kind)));
        }
        for _ in 0..self.store(part)? {
            self.frames += 1;
            if self.frames * self.setup.rows > self.schedule.learning_starts {
                let mut rng = Rng::new(seed(self.setup.seed, BP_PURPOSE_LEARNER, 0, self.updates));
                self.updates += 1;
                self.learner.update(self.updates, &mut rng, &self.ring)?;
            }
        }
        Ok(())
    }

    unsafe fn act(&self, act: &bp_act) {
        let (obs, action, squashed) = (*act.r#in, *act.out, *act.out.add(1));
        let greedy = act.flags & BP_ACT_GREEDY != 0;
        let random = act.step < self.random_frames && !greedy && act.candidate.is_null();
        for row in act.begin..act.end {
            let mut rng = Rng::new(seed(act.seed, BP_PURPOSE_ACT, act.row_base.wrapping_add(row) as u32, act.step));
            let chosen = std::slice::from_raw_parts_mut(element::<f32>(squashed, row, 0), self.setup.actions);
            if random {
                chosen.iter_mut().for_each(|a| *a = rng.range(-1.0, 1.0) as f32);
            } else {
                self.learner.act(view(obs, row, 0, self.setup.obs), if greedy { None } else { Some(&mut rng) }, chosen);
            }
            let out = std::slice::from_raw_parts_mut(element::<f32>(action, row, 0), self.setup.actions);
            for (k, a) in chosen.iter().enumerate() {
                let (low, high) = (self.setup.low[k], self.setup.high[k]);
                out[k] = (low + (a + 1.0) / 2.0 * (high - low)).clamp(low, high);
            }
        }
    }

    unsafe fn save(&self, out: &mut Writer) {
        let ring = &self.ring;
        for number in [self.frames, self.random_frames, self.updates, ring.rows, ring.frames, ring.count] {
            out.u64(number);
        }
        self.learner.save(out);
    }

    unsafe fn load(&mut self, from: &mut Reader) -> Result<(), Failure> {
        self.frames = from.u64()?;
        self.random_frames = from.u64()?;
        self.updates = from.u64()?;
        let (rows, frames, count) = (from.u64()?, from.u64()?, from.u64()?);
        self.learner.load(from)?;
        let same = rows == self.ring.rows && frames == self.ring.frames;
        self.ring.restore(if same { count } else { 0 });
        if self.ring.count != self.frames {
            self.frames = 0; // a next stage: the loaded policy acts, and learning_starts counts again
            self.random_frames = 0;
        }
        Ok(())
    }

    // Before the first plan, a policy is one to begin with.
    unsafe fn save_policy(&self, out: &mut Writer) {
        self.learner.save_policy(out);
        out.u64(if self.planned { self.random_frames } else { 0 });
    }

    unsafe fn load_policy(&mut self, from: &mut Reader) -> Result<(), Failure> {
        self.learner.load_policy(from)?;
        self.random_frames = from.u64()?;
        self.planned = true;
        Ok(())
    }

    // The loaded policy acts from the first step, with an empty ring.
    unsafe fn start_policy(&mut self, from: &mut Reader) -> Result<(), Failure> {
        self.load_policy(from)?;
        self.frames = 0;
        self.random_frames = 0;
        self.ring.restore(0);
        Ok(())
    }
}

// As in ext/policy.h.
fn form_of<L: OffPolicy>(learner: &L, setup: &Setup, obs: &CStr, action: &CStr) -> String {
    let actor = match learner.actor() {
        Some(actor) => actor,
        None => return r#"{"kind":"rust"}"#.to_string(),
    };
    let mut at = 0;
    let layer = |of: &[usize]| {
        let weight = at;
        let bias = weight + 4 * of[0] * of[1];
        at = bias + 4 * of[1];
        format!(r#"{{"in":{},"out":{},"weight":{},"bias":{}}}"#, of[0], of[1], weight, bias)
    };
    let layers = actor.sizes.windows(2).map(layer).collect::<Vec<_>>().join(",");
    let (obs, action) = (obs.to_string_lossy(), action.to_string_lossy());
    format!(
        r#"{{"kind":"mlp","obs":[{obs:?}],"action":{action:?},"normalizer":null,"dtype":"float32","layers":[{layers}],"activation":"{}","head":{{"kind":"continuous","squash":true,"low":{:?},"high":{:?}}}}}"#,
        actor.activation, setup.low, setup.high
    )
}

unsafe fn make<L: OffPolicy>(host: *const bp_host, config: &bp_config, env: &bp_env_spec, rows: u64, seed: u64) -> Result<Box<Instance<L>>, Failure> {
    let setup = setup_for(env, rows, seed)?;
    let learner = L::create(&Options { config }, &setup).map_err(|text| (BP_E_CONFIG, text))?;
    let mut schedule = learner.schedule();
    schedule.horizon = schedule.horizon.max(1);
    let ring = Replay::open(host, &setup, &schedule)?;
    let (obs, action) = (channel(env, BP_ROLE_OBS)?, channel(env, BP_ROLE_ACTION)?);
    let (obs_name, action_name) = (CStr::from_ptr(obs.name).to_owned(), CStr::from_ptr(action.name).to_owned());
    let end = std::ptr::null();
    let keep = vec![obs_name.as_ptr(), c_text("reward\0"), c_text("terminated\0"), c_text("truncated\0"), c_text("squashed\0"), end];
    let names = [vec![obs_name.as_ptr(), end], keep];
    // Shapes and bounds are copied: the env's spec may be destroyed earlier.
    let mut shape: Vec<i64> = (0..action.ndim as usize).map(|i| *action.shape.add(i)).collect();
    shape.push(setup.actions as i64);
    let copied = |of: *const f64| (0..action.n_bounds as usize).map(|i| *of.add(i)).collect::<Vec<f64>>();
    let numbers = (shape, copied(action.low), copied(action.high));
    let like = |role, name, shape, ndim, bounds: bool| bp_channel {
        struct_size: std::mem::size_of::<bp_channel>() as u32,
        role,
        space: BP_SPACE_BOX,
        scope: BP_SCOPE_ROW,
        ndim,
        dtype: action.dtype,
        name,
        shape,
        low: if bounds { numbers.1.as_ptr() } else { std::ptr::null() },
        high: if bounds { numbers.2.as_ptr() } else { std::ptr::null() },
        nvec: std::ptr::null(),
        n_bounds: if bounds { action.n_bounds } else { 0 },
        group: 0,
        reserved: 0,
    };
    let own = numbers.0.as_ptr().add(action.ndim as usize);
    let outputs = vec![
        like(BP_ROLE_ACTION, action_name.as_ptr(), numbers.0.as_ptr(), action.ndim, true),
        like(BP_ROLE_EXTRA, c_text("squashed\0"), own, 1, false),
    ];
    let spec = bp_learner_spec {
        struct_size: std::mem::size_of::<bp_learner_spec>() as u32,
        evaluation_rows: 0,
        act_in: names[0].as_ptr(),
        keep: names[1].as_ptr(),
        act_out: outputs.as_ptr(),
        n_act_out: outputs.len() as u64,
        n_params: learner.params() as u64,
        flags: BP_LEARNER_STATE_LARGE,
    };
    let form = CString::new(form_of(&learner, &setup, &obs_name, &action_name)).expect("JSON without NUL");
    let random_frames = (schedule.learning_starts + rows - 1) / rows;
    Ok(Box::new(Instance {
        host,
        learner,
        setup,
        schedule,
        ring,
        frames: 0,
        random_frames,
        updates: 0,
        planned: false,
        form,
        spec,
        obs_name,
        _action_name: action_name,
        _names: names,
        _outputs: outputs,
        _numbers: numbers,
    }))
}

unsafe extern "C" fn create<L: OffPolicy>(
    host: *const bp_host,
    config: *const bp_config,
    env: *const bp_env_spec,
    rows: u64,
    seed: u64,
    out: *mut *mut bp_learner,
) -> bp_status {
    guarded(host, || {
        *out = Box::into_raw(make::<L>(host, &*config, &*env, rows, seed)?).cast();
        Ok(())
    })
}

unsafe extern "C" fn destroy<L: OffPolicy>(learner: *mut bp_learner) {
    let instance = Box::from_raw(learner.cast::<Instance<L>>());
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(instance)));
}

unsafe extern "C" fn spec<L: OffPolicy>(learner: *const bp_learner) -> *const bp_learner_spec {
    &(*learner.cast::<Instance<L>>()).spec
}

unsafe extern "C" fn plan<L: OffPolicy>(learner: *mut bp_learner, _: *const bp_limits, out: *mut bp_request) -> bp_status {
    let instance = &mut *learner.cast::<Instance<L>>();
    instance.planned = true;
    let request = &mut *out;
    request.kind = BP_REQ_ROLLOUT;
    request.u[..3].copy_from_slice(&[instance.schedule.horizon, instance.updates, 1]); // parts of one frame
    BP_OK
}

unsafe extern "C" fn consume<L: OffPolicy>(learner: *mut bp_learner, delivery: *const bp_delivery) -> bp_status {
    let instance = &mut *learner.cast::<Instance<L>>();
    guarded(instance.host, || instance.consume(&*delivery))
}

unsafe extern "C" fn act<L: OffPolicy>(learner: *mut bp_learner, act: *const bp_act) -> bp_status {
    let instance = &*learner.cast::<Instance<L>>();
    guarded(instance.host, || {
        instance.act(&*act);
        Ok(())
    })
}

unsafe extern "C" fn save<L: OffPolicy>(learner: *mut bp_learner, writer: *const bp_writer) -> bp_status {
    let instance = &*learner.cast::<Instance<L>>();
    guarded(instance.host, || {
        let mut out = Writer(&*writer, BP_OK);
        instance.save(&mut out);
        check(out.1, "the host could not store the state")
    })
}

unsafe extern "C" fn save_policy<L: OffPolicy>(learner: *mut bp_learner, writer: *const bp_writer) -> bp_status {
    let instance = &*learner.cast::<Instance<L>>();
    guarded(instance.host, || {
        let mut out = Writer(&*writer, BP_OK);
        instance.save_policy(&mut out);
        check(out.1, "the host could not store the policy")
    })
}

unsafe extern "C" fn load_policy<L: OffPolicy>(learner: *mut bp_learner, reader: *const bp_reader) -> bp_status {
    let instance = &mut *learner.cast::<Instance<L>>();
    guarded(instance.host, || instance.load_policy(&mut Reader(&*reader)))
}

unsafe extern "C" fn start_policy<L: OffPolicy>(learner: *mut bp_learner, reader: *const bp_reader) -> bp_status {
    let instance = &mut *learner.cast::<Instance<L>>();
    guarded(instance.host, || instance.start_policy(&mut Reader(&*reader)))
}

unsafe extern "C" fn form<L: OffPolicy>(learner: *mut bp_learner) -> *const c_char {
    (*learner.cast::<Instance<L>>()).form.as_ptr()
}

unsafe extern "C" fn load<L: OffPolicy>(learner: *mut bp_learner, reader: *const bp_reader) -> bp_status {
    let instance = &mut *learner.cast::<Instance<L>>();
    guarded(instance.host, || instance.load(&mut Reader(&*reader)))
}

struct State<L>(std::marker::PhantomData<L>);
impl<L: OffPolicy> State<L> {
    const TABLE: &'static bp_learner_state_1 = &bp_learner_state_1 {
        struct_size: std::mem::size_of::<bp_learner_state_1>() as u32,
        reserved: 0,
        save: save::<L>,
        load: load::<L>,
    };
    const POLICY: &'static bp_learner_policy_1 = &bp_learner_policy_1 {
        struct_size: std::mem::size_of::<bp_learner_policy_1>() as u32,
        reserved: 0,
        save: save_policy::<L>,
        load: load_policy::<L>,
        form: form::<L>,
        start: start_policy::<L>,
    };
}

unsafe extern "C" fn get_extension<L: OffPolicy>(_: *const bp_learner, id: *const c_char) -> *const c_void {
    match CStr::from_ptr(id).to_bytes() {
        b"bp.learner.state/1" => State::<L>::TABLE as *const bp_learner_state_1 as *const c_void,
        b"bp.learner.policy/1" => State::<L>::POLICY as *const bp_learner_policy_1 as *const c_void,
        _ => std::ptr::null(),
    }
}

/// Makes the tables of `L` on the first call, for the life of the process.
#[doc(hidden)]
pub fn tables<L: OffPolicy>(once: &'static Once, place: *mut *const Tables) -> *const Tables {
    once.call_once(|| {
        let api = Box::leak(Box::new(bp_learner_api {
            struct_size: std::mem::size_of::<bp_learner_api>() as u32,
            reserved: 0,
            create: create::<L>,
            destroy: destroy::<L>,
            spec: spec::<L>,
            plan: plan::<L>,
            consume: consume::<L>,
            act: act::<L>,
            get_extension: get_extension::<L>,
        }));
        let flags = BP_FLAG_ROWS_CONCURRENT | BP_FLAG_ROW_EXACT;
        let descriptor = describe(BP_KIND_LEARNER, &L::ABOUT, L::OPTIONS, flags);
        let api: *const bp_learner_api = api;
        unsafe { *place = Box::leak(Box::new(Tables { api: api.cast(), descriptor })) };
    });
    unsafe { *place }
}

/// Exports the one symbol of a plugin file, whose only plugin is this learner.
#[macro_export]
macro_rules! export_learner {
    ($learner:ty) => {
        $crate::export_module!($crate::learner::tables::<$learner>, 1);
    };
}
