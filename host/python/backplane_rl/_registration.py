"""The installed envs in Gymnasium's registry, of which it imports no more. `import backplane_rl` calls it; Gymnasium since 1.0 has no entry
point for that."""
from __future__ import annotations


def register_envs() -> None:
    """Registers each env that can be opened by its id ("backplane/ant") and its other names ("backplane/Ant-v5"), with the time limit of its
    default options. An env whose limit depends on more sets it itself."""
    from gymnasium.envs.registration import register, registry

    from .core import envs

    for env in envs():
        if env["refused"] is not None:
            continue
        for name in [env["id"].removeprefix("env."), *env["aliases"]]:
            id = f"backplane/{name}"
            if id not in registry:
                register(id, "backplane_rl.gymnasium:Env", vector_entry_point="backplane_rl.gymnasium:VectorEnv",
                         max_episode_steps=env["max_episode_steps"], kwargs={"plugin": env["id"]})
