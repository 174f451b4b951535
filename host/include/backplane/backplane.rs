//! Plugins in Rust. This file has the env half of the C ABI (`backplane/*.h`), and one layer over it in which an author writes one
//! row in safe code; `learner.rs` has off-policy learners. It needs nothing but `std` and is written for rustc 1.63 and later.
//!
//! ```text
//! rustc --edition 2021 -O --crate-type rlib backplane.rs
//! rustc --edition 2021 -O --crate-type cdylib --extern backplane=libbackplane.rlib my_env.rs -o env_my_env.so
//! backplane plugin seal env_my_env.so
//! ```
//!
//! Rust never joins `x * y + z` into one rounding by itself: an env's numbers need no compiler flag.

use std::any::Any;
use std::cell::UnsafeCell;
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Once;

pub mod learner;

/// The ABI as the C headers have it, name by name; there is what each field means. A test compares sizes and offsets with C's.
#[allow(non_camel_case_types)]
pub mod abi {
    use std::os::raw::{c_char, c_void};

    pub const BP_ABI_MINOR: u32 = 2;
    pub const BP_META_BYTES: usize = 65536;

    pub type bp_status = i32;
    pub const BP_OK: bp_status = 0;
    pub const BP_E_INVALID_ARG: bp_status = -1;
    pub const BP_E_CONFIG: bp_status = -2;
    pub const BP_E_INTERNAL: bp_status = -10;

    pub const BP_KIND_ENV: u32 = 1;
    pub const BP_DEVICE_CPU: i32 = 1;
    pub const BP_DTYPE_INT: u8 = 0;
    pub const BP_DTYPE_UINT: u8 = 1;
    pub const BP_DTYPE_FLOAT: u8 = 2;
    pub const BP_ROLE_OBS: u16 = 1;
    pub const BP_ROLE_ACTION: u16 = 3;
    pub const BP_ROLE_REWARD: u16 = 5;
    pub const BP_ROLE_TERMINATED: u16 = 6;
    pub const BP_ROLE_INFO: u16 = 15;
    pub const BP_SPACE_BOX: u16 = 1;
    pub const BP_SPACE_DISCRETE: u16 = 2;
    pub const BP_SCOPE_ROW: u16 = 1;
    pub const BP_PARAM_F64: u16 = 1;
    pub const BP_PARAM_I64: u16 = 2;
    pub const BP_PARAM_BOOL: u16 = 3;
    pub const BP_PARAM_STR: u16 = 4;
    pub const BP_PARAM_ENUM: u16 = 5;
    pub const BP_FLAG_ROWS_CONCURRENT: u64 = 1;

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct bp_device {
        pub r#type: i32,
        pub id: i32,
    }

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct bp_dtype {
        pub code: u8,
        pub bits: u8,
        pub lanes: u16,
    }

    #[repr(C)]
    pub struct bp_tensor {
        pub data: *mut c_void,
        pub device: bp_device,
        pub ndim: i32,
        pub dtype: bp_dtype,
        pub shape: *mut i64,
        pub strides: *mut i64,
        pub byte_offset: u64,
    }

    #[repr(C)]
    pub struct bp_channel {
        pub struct_size: u32,
        pub role: u16,
        pub space: u16,
        pub scope: u16,
        pub ndim: u16,
        pub dtype: bp_dtype,
        pub name: *const c_char,
        pub shape: *const i64,
        pub low: *const f64,
        pub high: *const f64,
        pub nvec: *const i64,
        pub n_bounds: u64,
        pub group: u32,
        pub reserved: u32,
    }

    #[repr(C)]
    pub struct bp_frame {
        pub struct_size: u32,
        pub slot: u32,
        pub tensors: *const *mut bp_tensor,
        pub stream: *mut c_void,
    }

    #[repr(C)]
    pub struct bp_host {
        pub struct_size: u32,
        pub abi_minor: u32,
        pub r#impl: *mut c_void,
        pub get_extension: unsafe extern "C" fn(*const bp_host, *const c_char) -> *const c_void,
        pub log: unsafe extern "C" fn(*const bp_host, i32, *const c_char),
        pub fail: unsafe extern "C" fn(*const bp_host, bp_status, *const c_char) -> bp_status,
        pub cancelled: unsafe extern "C" fn(*const bp_host) -> i32,
    }

    #[repr(C)]
    pub struct bp_config {
        pub struct_size: u32,
        pub reserved: u32,
        pub r#impl: *mut c_void,
        pub f64: unsafe extern "C" fn(*const bp_config, *const c_char, *mut f64) -> bp_status,
        pub i64: unsafe extern "C" fn(*const bp_config, *const c_char, *mut i64) -> bp_status,
        pub str: unsafe extern "C" fn(*const bp_config, *const c_char, *mut *const c_char) -> bp_status,
        pub list: unsafe extern "C" fn(*const bp_config, *const c_char, u64, *mut f64, *mut u64) -> bp_status,
        pub json: unsafe extern "C" fn(*const bp_config) -> *const c_char,
        pub r#where: unsafe extern "C" fn(*const bp_config, *const c_char) -> *const c_char,
    }

    #[repr(C)]
    pub struct bp_param {
        pub struct_size: u32,
        pub r#type: u16,
        pub flags: u16,
        pub path: *const c_char,
        pub def: *const c_char,
        pub range: *const c_char,
        pub unit: *const c_char,
        pub doc: *const c_char,
        pub aliases: *const c_char,
        pub helps: *const c_char,
        pub reads_budget: *const c_char,
    }

    #[repr(C)]
    pub struct bp_descriptor {
        pub struct_size: u32,
        pub kind: u32,
        pub id: *const c_char,
        pub version: *const c_char,
        pub summary: *const c_char,
        pub license: *const c_char,
        pub flags: u64,
        pub needs: *const *const c_char,
        pub params: *const bp_param,
        pub n_params: u64,
        pub aliases: *const c_char,
        pub rows: u64,
    }

    #[repr(C)]
    pub struct bp_module {
        pub struct_size: u32,
        pub abi_minor: u32,
        pub min_minor: u32,
        pub reserved: u32,
        pub meta: *const c_char,
        pub build: *const c_char,
        pub init: Option<unsafe extern "C" fn(*const c_char) -> bp_status>,
        pub deinit: Option<unsafe extern "C" fn()>,
        pub count: unsafe extern "C" fn() -> u32,
        pub descriptor: unsafe extern "C" fn(u32) -> *const bp_descriptor,
        pub api: unsafe extern "C" fn(*const c_char) -> *const c_void,
    }

    /// The plugin's own; never looked into from here.
    #[repr(C)]
    pub struct bp_env {
        _opaque: [u8; 0],
    }

    #[repr(C)]
    pub struct bp_group {
        pub struct_size: u32,
        pub agents: u32,
        pub name: *const c_char,
    }

    #[repr(C)]
    pub struct bp_env_spec {
        pub struct_size: u32,
        pub max_agents: u32,
        pub channels: *const bp_channel,
        pub n_channels: u64,
        pub max_episode_steps: i64,
        pub device: bp_device,
        pub groups: *const bp_group,
        pub n_groups: u64,
    }

    #[repr(C)]
    pub struct bp_env_api {
        pub struct_size: u32,
        pub reserved: u32,
        pub create: unsafe extern "C" fn(*const bp_host, *const bp_config, u64, *mut *mut bp_env) -> bp_status,
        pub destroy: unsafe extern "C" fn(*mut bp_env),
        pub spec: unsafe extern "C" fn(*const bp_env) -> *const bp_env_spec,
        pub bind: unsafe extern "C" fn(*mut bp_env, *const bp_frame, u64) -> bp_status,
        pub reset: unsafe extern "C" fn(*mut bp_env, u32, u64, u64, *const u8, *const u64) -> bp_status,
        pub step: unsafe extern "C" fn(*mut bp_env, u32, u64, u64) -> bp_status,
        pub get_extension: unsafe extern "C" fn(*const bp_env, *const c_char) -> *const c_void,
    }
}

use abi::*;

/// The seed of item `n` of `row` for a purpose (`BP_PURPOSE_*`), by Philox4x32-10 (`backplane/rng.h`).
pub fn seed(seed: u64, purpose: u32, row: u32, n: u64) -> u64 {
    let (mut c, mut k) = ([n as u32, (n >> 32) as u32, row, purpose], [seed as u32, (seed >> 32) as u32]);
    for _ in 0..10 {
        let p0 = 0xD251_1F53_u64 * u64::from(c[0]);
        let p1 = 0xCD9E_8D57_u64 * u64::from(c[2]);
        c = [(p1 >> 32) as u32 ^ c[1] ^ k[0], p1 as u32, (p0 >> 32) as u32 ^ c[3] ^ k[1], p0 as u32];
        k = [k[0].wrapping_add(0x9E37_79B9), k[1].wrapping_add(0xBB67_AE85)];
    }
    u64::from(c[1]) << 32 | u64::from(c[0])
}

/// The one random generator of all plugins, Philox4x32-10 (`backplane/rng.h`): the same numbers as in C.
pub struct Rng {
    key: u64,
    n: u64,
}

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng { key: seed, n: 0 }
    }

    pub fn next_u64(&mut self) -> u64 {
        self.n += 1;
        seed(self.key, 0, 0, self.n - 1)
    }

    /// Uniform in [0, 1), 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Uniform in 0 .. n-1.
    pub fn below(&mut self, n: u64) -> u64 {
        (u128::from(self.next_u64()) * u128::from(n) >> 64) as u64
    }

    /// Standard normal by Box and Muller, one value per two draws.
    pub fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (6.283185307179586 * v).cos()
    }
}

/// Names of the plugin. `id` is "env." and the name in experiment files.
pub struct About {
    pub id: &'static str,
    pub version: &'static str,
    pub summary: &'static str,
    pub license: &'static str,
}

/// One option. `default` is YAML text, `range` "(0,1]", "[1,)" or, of an enumeration, "a|b"; "": any.
pub struct Opt {
    kind: u16,
    path: &'static str,
    default: &'static str,
    range: &'static str,
    doc: &'static str,
}

impl Opt {
    const fn of(kind: u16, path: &'static str, default: &'static str, range: &'static str, doc: &'static str) -> Opt {
        Opt { kind, path, default, range, doc }
    }
    pub const fn f64(path: &'static str, default: &'static str, range: &'static str, doc: &'static str) -> Opt {
        Opt::of(BP_PARAM_F64, path, default, range, doc)
    }
    pub const fn i64(path: &'static str, default: &'static str, range: &'static str, doc: &'static str) -> Opt {
        Opt::of(BP_PARAM_I64, path, default, range, doc)
    }
    pub const fn boolean(path: &'static str, default: &'static str, doc: &'static str) -> Opt {
        Opt::of(BP_PARAM_BOOL, path, default, "", doc)
    }
    pub const fn text(path: &'static str, default: &'static str, doc: &'static str) -> Opt {
        Opt::of(BP_PARAM_STR, path, default, "", doc)
    }
    pub const fn choice(path: &'static str, default: &'static str, choices: &'static str, doc: &'static str) -> Opt {
        Opt::of(BP_PARAM_ENUM, path, default, choices, doc)
    }
}

/// The options of one instance, checked by the host against `Env::OPTIONS`, defaults filled in. A path that is not declared, or is
/// of another type, panics, and so ends `create` with a sentence.
pub struct Options<'a> {
    config: &'a bp_config,
}

impl Options<'_> {
    fn get<T>(&self, path: &str, mut value: T, read: impl FnOnce(*const c_char, &mut T) -> bp_status) -> T {
        let name = CString::new(path).expect("an option's path has no zero byte");
        let status = read(name.as_ptr(), &mut value);
        assert!(status == BP_OK, "option '{path}' is declared with a different type");
        value
    }
    pub fn f64(&self, path: &str) -> f64 {
        self.get(path, 0.0, |name, out| unsafe { (self.config.f64)(self.config, name, out) })
    }
    pub fn i64(&self, path: &str) -> i64 {
        self.get(path, 0, |name, out| unsafe { (self.config.i64)(self.config, name, out) })
    }
    pub fn boolean(&self, path: &str) -> bool {
        self.i64(path) != 0
    }
    /// For text and choices.
    pub fn text(&self, path: &str) -> String {
        let borrowed = self.get(path, std::ptr::null(), |name, out| unsafe { (self.config.str)(self.config, name, out) });
        unsafe { CStr::from_ptr(borrowed) }.to_string_lossy().into_owned()
    }
}

/// Type of an env's actions: `f32` for a box, `i32` for discrete ones.
pub trait Action: Copy + Default + 'static {
    const DTYPE: bp_dtype;
}
impl Action for f32 {
    const DTYPE: bp_dtype = bp_dtype { code: BP_DTYPE_FLOAT, bits: 32, lanes: 1 };
}
impl Action for i32 {
    const DTYPE: bp_dtype = bp_dtype { code: BP_DTYPE_INT, bits: 32, lanes: 1 };
}

/// The arrays of one row: how many observations and actions, their bounds, and names of further numbers ("ep/distance": averaged
/// over the episodes that end).
pub struct Spec<A: Action = f32> {
    obs: i64,
    actions: i64,
    bounds: Option<(f64, f64)>,
    choices: i64,
    infos: Vec<CString>,
    max_episode_steps: i64,
    marker: std::marker::PhantomData<A>,
}

impl Spec<f32> {
    /// `actions` numbers within [low, high].
    pub fn continuous(obs: usize, actions: usize, low: f64, high: f64) -> Spec<f32> {
        Spec { actions: actions as i64, bounds: Some((low, high)), ..Spec::with_obs(obs) }
    }
}

impl Spec<i32> {
    /// One action out of 0 .. choices-1.
    pub fn discrete(obs: usize, choices: usize) -> Spec<i32> {
        Spec { choices: choices as i64, ..Spec::with_obs(obs) }
    }
}

impl<A: Action> Spec<A> {
    fn with_obs(obs: usize) -> Spec<A> {
        let marker = std::marker::PhantomData;
        Spec { obs: obs as i64, actions: 0, bounds: None, choices: 0, infos: Vec::new(), max_episode_steps: 0, marker }
    }
    pub fn info(mut self, name: &str) -> Spec<A> {
        self.infos.push(CString::new(name).expect("a channel's name has no zero byte"));
        self
    }
    /// The host counts the steps and truncates.
    pub fn max_episode_steps(mut self, steps: i64) -> Spec<A> {
        self.max_episode_steps = steps;
        self
    }
}

/// Reward of one step, and true if the env's own rule ends the episode.
pub struct Outcome {
    pub reward: f64,
    pub terminated: bool,
}

/// One row. The layer makes the rows, their random streams and the buffers around it. Several threads step rows at the same
/// time, each row by one of them.
pub trait Env: Sized + Send + 'static {
    const ABOUT: About;
    const OPTIONS: &'static [Opt];
    /// Data shared by all rows, made once.
    type Model: Sync + 'static;
    type Action: Action;

    /// An error is a sentence with the expected and the found value.
    fn model(options: &Options) -> Result<Self::Model, String>;
    fn spec(model: &Self::Model) -> Spec<Self::Action>;
    /// Starts an episode. `rng` is new with each episode, and continues in its steps.
    fn reset(model: &Self::Model, rng: &mut Rng, obs: &mut [f32]) -> Self;
    /// `obs` and `info` hold old values: write all of both.
    fn step(&mut self, model: &Self::Model, rng: &mut Rng, action: &[Self::Action], obs: &mut [f32], info: &mut [f32]) -> Outcome;
}

struct Row<E> {
    state: Option<E>,
    rng: Rng,
    info: Vec<f32>,
}

// Places of the channels in the spec; infos follow.
const OBS: usize = 0;
const ACTION: usize = 1;
const REWARD: usize = 2;
const TERMINATED: usize = 3;
const INFO: usize = 4;

#[doc(hidden)]
pub struct Instance<E: Env> {
    host: *const bp_host,
    model: E::Model,
    rows: Vec<UnsafeCell<Row<E>>>, // a row belongs to the thread that got its range
    wanted: Wanted,
    frames: *const bp_frame,
    n_frames: u64,
}

// A spec as the ABI has it, and what its pointers point to.
struct Wanted {
    channels: Vec<bp_channel>,
    spec: bp_env_spec,
    _shapes: Box<[i64; 3]>,
    _bounds: Box<[f64; 2]>,
    _infos: Vec<CString>,
}

impl Wanted {
    fn new<A: Action>(spec: Spec<A>) -> Wanted {
        let shapes = Box::new([spec.obs, spec.actions, spec.choices]);
        let (low, high) = spec.bounds.unwrap_or((0.0, 0.0));
        let bounds = Box::new([low, high]);
        let float = f32::DTYPE;
        let flag = bp_dtype { code: BP_DTYPE_UINT, bits: 8, lanes: 1 };
        let plain = |role, name: *const c_char, dtype| bp_channel {
            struct_size: std::mem::size_of::<bp_channel>() as u32,
            role,
            space: BP_SPACE_BOX,
            scope: BP_SCOPE_ROW,
            ndim: 0,
            dtype,
            name,
            shape: std::ptr::null(),
            low: std::ptr::null(),
            high: std::ptr::null(),
            nvec: std::ptr::null(),
            n_bounds: 0,
            group: 0,
            reserved: 0,
        };
        let obs = bp_channel { ndim: 1, shape: &shapes[0], ..plain(BP_ROLE_OBS, c_text("obs\0"), float) };
        let action = plain(BP_ROLE_ACTION, c_text("action\0"), A::DTYPE);
        let action = match spec.bounds {
            Some(_) => bp_channel { ndim: 1, shape: &shapes[1], low: &bounds[0], high: &bounds[1], n_bounds: 1, ..action },
            None => bp_channel { space: BP_SPACE_DISCRETE, nvec: &shapes[2], ..action },
        };
        let mut channels = vec![
            obs,
            action,
            plain(BP_ROLE_REWARD, c_text("reward\0"), float),
            plain(BP_ROLE_TERMINATED, c_text("terminated\0"), flag),
        ];
        channels.extend(spec.infos.iter().map(|name| plain(BP_ROLE_INFO, name.as_ptr(), float)));
        let made = bp_env_spec {
            struct_size: std::mem::size_of::<bp_env_spec>() as u32,
            max_agents: 1,
            channels: channels.as_ptr(),
            n_channels: channels.len() as u64,
            max_episode_steps: spec.max_episode_steps,
            device: bp_device { r#type: BP_DEVICE_CPU, id: 0 },
            groups: std::ptr::null(),
            n_groups: 0,
        };
        Wanted { channels, spec: made, _shapes: shapes, _bounds: bounds, _infos: spec.infos }
    }
}

fn c_text(with_zero: &'static str) -> *const c_char {
    debug_assert!(with_zero.ends_with('\0'));
    with_zero.as_ptr().cast()
}

fn sentence(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("the plugin panicked").to_string()
}

unsafe fn fail(host: *const bp_host, code: bp_status, text: &str) -> bp_status {
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    ((*host).fail)(host, code, text.as_ptr())
}

// No panic may leave a plugin.
unsafe fn guarded(host: *const bp_host, call: impl FnOnce() -> Result<(), (bp_status, String)>) -> bp_status {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => BP_OK,
        Ok(Err((code, text))) => fail(host, code, &text),
        Err(panic) => fail(host, BP_E_INTERNAL, &sentence(panic)),
    }
}

impl<E: Env> Instance<E> {
    // An array of structs is walked by the size of its first.
    unsafe fn tensor(&self, slot: u32, channel: usize) -> *const bp_tensor {
        let frame = self.frames.cast::<u8>().add(slot as usize * (*self.frames).struct_size as usize).cast::<bp_frame>();
        *(*frame).tensors.add(channel)
    }

    // The `n` elements of row `r` in a channel. The caller has the row, and `bind` saw dtype and shape.
    unsafe fn of_row<T>(&self, tensor: *const bp_tensor, r: u64, n: usize) -> *mut [T] {
        let first = (*tensor).data.cast::<T>().add(r as usize * *(*tensor).strides as usize);
        std::ptr::slice_from_raw_parts_mut(first, n)
    }

    // Checks once the assumptions of the loops. A channel of INFO may be missing; the last slot of a rollout has no
    // transitions.
    unsafe fn bind(&mut self, frames: *const bp_frame, n_frames: u64) -> Result<(), (bp_status, String)> {
        self.frames = frames;
        self.n_frames = n_frames;
        for slot in 0..n_frames {
            for (c, wanted) in self.wanted.channels.iter().enumerate() {
                let tensor = self.tensor(slot as u32, c);
                let for_resets_only = n_frames > 1 && slot + 1 == n_frames && c != OBS;
                if tensor.is_null() && (c >= INFO || for_resets_only) {
                    continue;
                }
                let fits = !tensor.is_null() && {
                    let t = &*tensor;
                    let shape = std::slice::from_raw_parts(t.shape, t.ndim as usize);
                    let own = if wanted.ndim == 0 { &[] } else { std::slice::from_raw_parts(wanted.shape, wanted.ndim.into()) };
                    let same_type = (t.dtype.code, t.dtype.bits) == (wanted.dtype.code, wanted.dtype.bits);
                    same_type && shape.first() == Some(&(self.rows.len() as i64)) && &shape[1..] == own
                };
                if !fits {
                    let name = CStr::from_ptr(wanted.name).to_string_lossy();
                    return Err((BP_E_INVALID_ARG, format!("the buffer of '{name}' has the wrong shape or dtype")));
                }
            }
        }
        Ok(())
    }

    fn check(&self, slot: u32, begin: u64, end: u64) -> Result<(), (bp_status, String)> {
        if u64::from(slot) < self.n_frames && begin <= end && end <= self.rows.len() as u64 {
            return Ok(());
        }
        let (slots, rows) = (self.n_frames, self.rows.len());
        Err((BP_E_INVALID_ARG, format!("slot {slot}, rows [{begin}, {end}): expected one of {slots} slots and of {rows} rows")))
    }

    unsafe fn reset(&self, slot: u32, begin: u64, end: u64, mask: *const u8, seeds: *const u64) -> Result<(), (bp_status, String)> {
        self.check(slot, begin, end)?;
        let obs = self.tensor(slot, OBS);
        let n_obs = *self.wanted.channels[OBS].shape as usize;
        for r in begin..end {
            if !mask.is_null() && *mask.add(r as usize) == 0 {
                continue;
            }
            let row = &mut *self.rows[r as usize].get();
            row.rng = Rng::new(*seeds.add(r as usize));
            row.state = Some(E::reset(&self.model, &mut row.rng, &mut *self.of_row(obs, r, n_obs)));
        }
        Ok(())
    }

    unsafe fn step(&self, slot: u32, begin: u64, end: u64) -> Result<(), (bp_status, String)> {
        self.check(slot, begin, end)?;
        let (obs, action) = (self.tensor(slot, OBS), self.tensor(slot, ACTION));
        let (reward, terminated) = (self.tensor(slot, REWARD), self.tensor(slot, TERMINATED));
        if action.is_null() {
            return Err((BP_E_INVALID_ARG, "the slot serves resets only".to_string()));
        }
        let n_obs = *self.wanted.channels[OBS].shape as usize;
        let of_action = &self.wanted.channels[ACTION];
        let n_actions = if of_action.ndim == 0 { 1 } else { *of_action.shape as usize };
        for r in begin..end {
            let row = &mut *self.rows[r as usize].get();
            let state = row.state.as_mut().ok_or_else(|| (BP_E_INVALID_ARG, format!("row {r} was never reset")))?;
            let (actions, seen) = (&*self.of_row::<E::Action>(action, r, n_actions), &mut *self.of_row(obs, r, n_obs));
            let outcome = state.step(&self.model, &mut row.rng, actions, seen, &mut row.info);
            (*self.of_row::<f32>(reward, r, 1))[0] = outcome.reward as f32;
            (*self.of_row::<u8>(terminated, r, 1))[0] = outcome.terminated.into();
            for (i, value) in row.info.iter().enumerate() {
                let info = self.tensor(slot, INFO + i);
                if !info.is_null() {
                    (*self.of_row::<f32>(info, r, 1))[0] = *value;
                }
            }
        }
        Ok(())
    }
}

unsafe extern "C" fn create<E: Env>(host: *const bp_host, config: *const bp_config, rows: u64, out: *mut *mut bp_env) -> bp_status {
    guarded(host, || {
        let model = E::model(&Options { config: &*config }).map_err(|text| (BP_E_CONFIG, text))?;
        let wanted = Wanted::new(E::spec(&model));
        let n_infos = wanted.channels.len() - INFO;
        let row = |_| UnsafeCell::new(Row { state: None, rng: Rng::new(0), info: vec![0.0; n_infos] });
        let rows = (0..rows).map(row).collect();
        let instance = Instance::<E> { host, model, rows, wanted, frames: std::ptr::null(), n_frames: 0 };
        *out = Box::into_raw(Box::new(instance)).cast();
        Ok(())
    })
}

unsafe extern "C" fn destroy<E: Env>(env: *mut bp_env) {
    let instance = Box::from_raw(env.cast::<Instance<E>>());
    let _ = catch_unwind(AssertUnwindSafe(|| drop(instance)));
}

unsafe extern "C" fn spec<E: Env>(env: *const bp_env) -> *const bp_env_spec {
    &(*env.cast::<Instance<E>>()).wanted.spec
}

unsafe extern "C" fn bind<E: Env>(env: *mut bp_env, frames: *const bp_frame, n_frames: u64) -> bp_status {
    let instance = env.cast::<Instance<E>>();
    guarded((*instance).host, || (*instance).bind(frames, n_frames))
}

unsafe extern "C" fn reset<E: Env>(env: *mut bp_env, slot: u32, begin: u64, end: u64, mask: *const u8, seeds: *const u64) -> bp_status {
    let instance = &*env.cast::<Instance<E>>();
    guarded(instance.host, || instance.reset(slot, begin, end, mask, seeds))
}

unsafe extern "C" fn step<E: Env>(env: *mut bp_env, slot: u32, begin: u64, end: u64) -> bp_status {
    let instance = &*env.cast::<Instance<E>>();
    guarded(instance.host, || instance.step(slot, begin, end))
}

unsafe extern "C" fn get_extension(_: *const bp_env, _: *const c_char) -> *const c_void {
    std::ptr::null()
}

/// The tables of a plugin file; made by `export_env!` and `export_learner!`.
#[doc(hidden)]
pub struct Tables {
    pub api: *const c_void,
    pub descriptor: bp_descriptor,
}

// For the life of the process.
fn describe(kind: u32, about: &About, options: &[Opt], flags: u64) -> bp_descriptor {
    let kept = |text: &str| -> *const c_char {
        if text.is_empty() {
            return std::ptr::null();
        }
        CString::new(text).expect("a text of the description has no zero byte").into_raw()
    };
    let params: Vec<bp_param> = (options.iter())
        .map(|option| bp_param {
            struct_size: std::mem::size_of::<bp_param>() as u32,
            r#type: option.kind,
            flags: 0,
            path: kept(option.path),
            def: kept(option.default),
            range: kept(option.range),
            unit: std::ptr::null(),
            doc: kept(option.doc),
            aliases: std::ptr::null(),
            helps: std::ptr::null(),
            reads_budget: std::ptr::null(),
        })
        .collect();
    let params = params.leak();
    bp_descriptor {
        struct_size: std::mem::size_of::<bp_descriptor>() as u32,
        kind,
        id: kept(about.id),
        version: kept(about.version),
        summary: kept(about.summary),
        license: kept(about.license),
        flags,
        needs: std::ptr::null(),
        params: params.as_ptr(),
        n_params: params.len() as u64,
        aliases: std::ptr::null(),
        rows: 0,
    }
}

/// Makes the tables of `E` on the first call, for the life of the process.
#[doc(hidden)]
pub fn tables<E: Env>(once: &'static Once, place: *mut *const Tables) -> *const Tables {
    once.call_once(|| {
        let api: *const bp_env_api = Box::leak(Box::new(bp_env_api {
            struct_size: std::mem::size_of::<bp_env_api>() as u32,
            reserved: 0,
            create: create::<E>,
            destroy: destroy::<E>,
            spec: spec::<E>,
            bind: bind::<E>,
            reset: reset::<E>,
            step: step::<E>,
            get_extension,
        }));
        let descriptor = describe(BP_KIND_ENV, &E::ABOUT, E::OPTIONS, BP_FLAG_ROWS_CONCURRENT);
        unsafe { *place = Box::leak(Box::new(Tables { api: api.cast(), descriptor })) };
    });
    unsafe { *place }
}

/// The section that `backplane plugin seal` writes into.
#[doc(hidden)]
#[repr(C, align(64))]
pub struct Meta(pub [u8; BP_META_BYTES]);

#[doc(hidden)]
pub const fn unsealed() -> Meta {
    let mut bytes = [0; BP_META_BYTES];
    bytes[0] = 1;
    Meta(bytes)
}

/// Exports the one symbol of a plugin file, whose only plugin is this env.
#[macro_export]
macro_rules! export_env {
    ($env:ty) => {
        $crate::export_module!($crate::tables::<$env>, 0);
    };
}

/// `tables`: makes the tables of the plugin; `since`: the least minor version of the host.
#[doc(hidden)]
#[macro_export]
macro_rules! export_module {
    ($tables:expr, $since:expr) => {
        #[link_section = ".bp.meta"]
        #[used]
        static BP_META: $crate::Meta = $crate::unsealed();
        static TABLES_ONCE: std::sync::Once = std::sync::Once::new();
        static mut TABLES: *const $crate::Tables = std::ptr::null();

        fn tables() -> &'static $crate::Tables {
            unsafe { &*$tables(&TABLES_ONCE, std::ptr::addr_of_mut!(TABLES)) }
        }
        unsafe extern "C" fn count() -> u32 {
            1
        }
        unsafe extern "C" fn descriptor(index: u32) -> *const $crate::abi::bp_descriptor {
            if index == 0 {
                &tables().descriptor
            } else {
                std::ptr::null()
            }
        }
        unsafe extern "C" fn api(id: *const std::os::raw::c_char) -> *const std::os::raw::c_void {
            let own = std::ffi::CStr::from_ptr(tables().descriptor.id);
            if std::ffi::CStr::from_ptr(id) == own {
                tables().api
            } else {
                std::ptr::null()
            }
        }

        #[no_mangle]
        pub extern "C" fn bp_module_v1() -> *const $crate::abi::bp_module {
            struct Module($crate::abi::bp_module);
            unsafe impl Sync for Module {}
            static MODULE: Module = Module($crate::abi::bp_module {
                struct_size: std::mem::size_of::<$crate::abi::bp_module>() as u32,
                abi_minor: $crate::abi::BP_ABI_MINOR,
                min_minor: $since,
                reserved: 0,
                meta: unsafe { std::ptr::addr_of!(BP_META) as *const std::os::raw::c_char },
                build: $crate::BUILD.as_ptr() as *const std::os::raw::c_char,
                init: None,
                deinit: None,
                count,
                descriptor,
                api,
            });
            &MODULE.0
        }
    };
}

/// Facts of the build: a plugin in Rust has none of what decides whether a C++ one may be loaded.
#[doc(hidden)]
pub const BUILD: &str =
    "{\"compiler\":\"rustc\",\"cxx11abi\":null,\"torch\":\"\",\"mujoco\":\"\",\"sanitizer\":\"\",\"debug\":false}\0";
