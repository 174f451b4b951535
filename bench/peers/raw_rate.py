"""Raw rate of one build of MuJoCo: mj_step and resets, no observation, no reward, no host. Prints one JSON object.

  PYTHON raw_rate.py LIBRARY MODEL.xml TASK THREADS SECONDS

LIBRARY is any file that exports mj_step: the wheel's libmujoco.so.X, or an extension module that has MuJoCo inside. Controls are
uniform in range; a row is reset after as many steps as an episode of random actions lasts on average. The loop runs in Python through
ctypes, which adds about 3 us per env step on every side alike; use the figures against each other only.
"""
import ctypes
import json
import random
import sys
import threading
import time

# nu, control range, steps between resets, frame skip
TASKS = {"ant": (8, 1.0, 150, 5), "humanoid": (17, 0.4, 22, 5), "half_cheetah": (6, 1.0, 1000, 5), "hopper": (3, 1.0, 20, 4),
         "humanoid_standup": (17, 0.4, 1000, 5), "inverted_double_pendulum": (1, 1.0, 6, 5), "inverted_pendulum": (1, 3.0, 6, 2),
         "pusher": (7, 2.0, 100, 5), "reacher": (2, 1.0, 50, 2), "swimmer": (2, 1.0, 1000, 4), "walker2d": (6, 1.0, 20, 4)}
ROWS, BATCHES = 32, 64


def load(library):
    lib = ctypes.CDLL(library)
    for name in ("mj_loadXML", "mj_makeData"):
        getattr(lib, name).restype = ctypes.c_void_p
    lib.mj_versionString.restype = ctypes.c_char_p
    for name in ("mj_step", "mj_resetData", "mj_forward"):
        getattr(lib, name).argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    lib.mj_stateSize.argtypes = [ctypes.c_void_p, ctypes.c_uint]
    lib.mj_setState.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint]
    lib.mj_makeData.argtypes = [ctypes.c_void_p]
    lib.mj_loadXML.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
    return lib


def control_bit(lib, model, nu):
    """The bit of mjtState for ctrl. Its number differs between versions, its size does not."""
    found = [1 << k for k in range(5, 13) if lib.mj_stateSize(model, 1 << k) == nu]
    if not found:
        raise SystemExit("raw_rate: no part of the state has the size of the controls")
    return found[0]


def run(lib, model, task, seconds, counts, index):
    nu, limit, episode, frame_skip = TASKS[task]
    bit = control_bit(lib, model, nu)
    numbers = random.Random(index)
    controls = [(ctypes.c_double * nu)(*(numbers.uniform(-limit, limit) for _ in range(nu))) for _ in range(BATCHES * ROWS)]
    data = [lib.mj_makeData(model) for _ in range(ROWS)]
    step, t, end = lib.mj_step, 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        for r, d in enumerate(data):
            lib.mj_setState(model, d, controls[(t * ROWS + 7 * r) % len(controls)], bit)
            for _ in range(frame_skip):
                step(model, d)
            if (t + r * episode // ROWS) % episode == episode - 1:
                lib.mj_resetData(model, d)
                lib.mj_forward(model, d)
        t += 1
    counts[index] = t * ROWS


def main(library, xml, task, threads, seconds):
    lib, error = load(library), ctypes.create_string_buffer(1000)
    model = lib.mj_loadXML(xml.encode(), None, error, len(error))
    if not model:
        raise SystemExit(f"raw_rate: {xml}: {error.value.decode()}")
    counts = [0] * int(threads)
    workers = [threading.Thread(target=run, args=(lib, model, task, float(seconds), counts, i)) for i in range(int(threads))]
    start = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(json.dumps({"version": lib.mj_versionString().decode(), "sps": sum(counts) / (time.perf_counter() - start)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
