"""Six links that curl up, close into a ring and open again: world coordinates and multipliers (`eventful.py`), DOP853 and LSODA."""
import numpy as np

from case import store
from eventful import twice

GAP, CLOSED, END = 0.05, 0.8, 4.0


def story(m):
    m.go_until(lambda y: np.linalg.norm(m.place("link6", [0.5, 0, 0], y) - m.place("link1", [-0.5, 0, 0], y)) - GAP, 3.0)
    m.attach("clasp")
    m.jump("close")
    m.go(m.t + CLOSED)
    m.release("clasp")
    m.jump("open")
    m.go(END)


times = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0]
m, accuracy = twice(story, "ring", times)
closing, opening = m.happened
columns = {f"link{k}.{p}": [m.column(f"link{k}.{p}", m.seen[t]) for t in times] for k in range(1, 7) for p in ("x", "y", "vx", "vy", "wz")}
columns |= {f"j{k}.{p}": [m.column(f"j{k}.{p}", m.seen[t]) for t in times] for k in range(1, 6) for p in ("q0", "v0")}
impulses = {f"impulses.{j}.{k}": closing["impulses"][j][k] for j in ("clasp", "j1", "j3") for k in (3, 4)}
reason = "rtol 1e-11; the reference itself is good to its stored accuracy."
momenta = [("momentum_before.linear", "momentum_after.linear"), ("momentum_before.angular", "momentum_after.angular")]
store(
    "ring", "six links with springs, clasp closed where the ends are 0.05 apart, opened 0.8 later",
    dict(gap=GAP, closed=CLOSED), times, columns, accuracy,
    [([f"j{k}.{p}" for k in range(1, 6) for p in ("q0", "v0")] + ["link1.x", "link1.y", "link6.vx", "link6.vy"], [1.0, 2.0, 2.5, 4.0], 1e-8, reason)],
    [("energy.max_drift", 1e-10, "rtol 1e-11 per step; what closing takes is counted as dissipated."),
     ("loop_drift.position", 1e-10, "The engine's promise for closed loops."), ("loop_drift.velocity", 1e-10, "The engine's promise for closed loops.")], None,
    [("close", 0, {"time": closing["time"], "kinetic_energy.before": closing["before"], "kinetic_energy.after": closing["after"]} | impulses, 1e-8, reason),
     ("open", 0, {"time": closing["time"] + CLOSED, "kinetic_energy.after": opening["after"]}, 1e-8, reason)],
    [("close", 1, momenta + [("dissipated", "kinetic_energy.of_jump")], 1e-12, "Inner impulses change no momentum; Carnot."),
     ("open", 1, momenta + [("kinetic_energy.before", "kinetic_energy.after")], 1e-13, "Release changes no velocity.")],
)
