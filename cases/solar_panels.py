"""A satellite that unfolds three panels, hinge after hinge: world coordinates and multipliers (`eventful.py`), DOP853 and LSODA."""
import math

from case import store
from eventful import twice

PAUSE, END = 0.5, 12.0


def story(m):
    m.lock("hinge2")
    m.lock("hinge3")
    m.jump("hold")
    for k in (1, 2, 3):
        # The hinge starts a half or a quarter turn away, so that its angle passes zero once.
        m.go_until(lambda y, k=k: math.sin(0.5 * m.column(f"hinge{k}.q0", y)) if abs(m.column(f"hinge{k}.q0", y)) < 3.0 else 1.0 - 2.0 * (k != 2), 11.0)
        m.lock(f"hinge{k}")
        m.jump(f"latch{k}")
        if k == 2:
            m.go(m.t + PAUSE)
        if k < 3:
            m.unlock(f"hinge{k + 1}")
            m.jump(f"unfold{k + 1}")
    m.go(END)


times = [1.0, 3.0, 5.0, 8.0, 12.0]
m, accuracy = twice(story, "solar-panels", times)
found = {e["name"]: e for e in m.happened}
bodies = ["hub", "panel1", "panel2", "panel3"]
columns = {f"{b}.{p}": [m.column(f"{b}.{p}", m.seen[t]) for t in times] for b in bodies for p in ("x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz")}
reason = "rtol 1e-11; the reference itself is good to its stored accuracy."
momenta = [("momentum_before.linear", "momentum_after.linear"), ("momentum_before.angular", "momentum_after.angular")]
start = found["hold"]["momentum"]
entries = {f"latch{k}": {"time": found[f"latch{k}"]["time"], "kinetic_energy.before": found[f"latch{k}"]["before"],
                         "kinetic_energy.after": found[f"latch{k}"]["after"]} for k in (1, 2, 3)}
entries["latch3"] |= {f"momentum_after.{kind}.{k}": start[3 * i + k] for i, kind in enumerate(("linear", "angular")) for k in range(3)}
store(
    "solar-panels", "free hub and three panels with springs and dampers in their hinges, which lock one after the other",
    dict(pause=PAUSE), times, columns, accuracy,
    [([f"{b}.{p}" for b in ("hub", "panel3") for p in ("x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz")], times, 1e-8, reason)],
    [("energy.max_drift", 1e-10, "rtol 1e-11 per step; dampers and locks are counted.")], None,
    [(name, 0, values, 1e-8, reason) for name, values in entries.items()],
    [(name, 1, momenta + [("dissipated", "kinetic_energy.of_jump")], 1e-11, "Inner impulses change no momentum; Carnot.") for name in entries]
    + [("*", 6, momenta, 1e-11, "Nothing acts on the satellite from outside.")],
)
