"""A chain of five links in space that breaks twice: world coordinates and multipliers (`eventful.py`), DOP853 and LSODA."""
import numpy as np

from case import store
from eventful import twice

FORCE, BLOW = 14.0, [3.0, 0, 0]


def story(m):
    m.go_until(lambda y: m.force("j3", y) - FORCE, 1.0)
    m.release("j3")
    m.jump("break:j3:force")
    m.go(1.2)
    m.jump("blow", ("link2", BLOW))
    assert np.linalg.norm(m.happened[-1]["impulses"]["j2"][3:]) > 0.5
    m.release("j2")
    m.jump("break:j2:impulse")
    m.go(2.0)


times = [0.25, 0.5, 1.0, 1.2, 1.5, 2.0]
m, accuracy = twice(story, "breaking-chain", times)
snap, blow, end = m.happened
columns = {f"link{k}.{p}": [m.column(f"link{k}.{p}", m.seen[t]) for t in times] for k in range(1, 6) for p in ("x", "y", "z", "vx", "vy", "vz", "wx", "wy", "wz")}
checked = [f"link{k}.{p}" for k in (1, 2, 3, 5) for p in ("x", "y", "z", "vx", "vy", "vz")]
impulses = {f"impulses.{j}.{3 + k}": blow["impulses"][j][3 + k] for j in ("j1", "j2") for k in range(3)}
reason = "rtol 1e-11; the reference itself is good to its stored accuracy."
store(
    "breaking-chain", "five links on ball joints; j3 breaks at a force of 14, j2 by a blow",
    dict(force=FORCE, blow=BLOW, g=9.81), times, columns, accuracy,
    [(checked, [0.25, 1.0, 1.2, 2.0], 1e-7, reason)],
    [("energy.max_drift", 1e-9, "rtol 1e-11 per step; the work of the blow is counted.")], None,
    [("break:j3:force", 0, {"time": snap["time"], "kinetic_energy.after": snap["after"]}, 1e-8, reason),
     ("blow", 0, {"time": 1.2, "kinetic_energy.after": blow["after"], "kinetic_energy.of_jump": blow["of_jump"]} | impulses, 1e-7, reason),
     ("break:j2:impulse", 0, {"time": 1.2}, 0.0, "In the same instant as the blow.")],
    [("break:j3:force", 1, [("velocity_before.j1", "velocity_after.j1"), ("kinetic_energy.before", "kinetic_energy.after")], 1e-13,
      "A joint that breaks changes no velocity."),
     ("break:j2:impulse", 1, [("velocity_before.j1", "velocity_after.j1"), ("kinetic_energy.before", "kinetic_energy.after")], 1e-13,
      "It has transmitted its impulse before it breaks.")],
)
