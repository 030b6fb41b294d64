"""Two satellites in free flight become one body and part again: Euler's equations, and the momentum of a rigid body.

Each satellite: straight line and Euler's free rotation.  Where the ports are a centimetre apart they become one rigid body of the same
momentum P and angular momentum H about the common centre of mass: v = P/m, ω = I⁻¹ H.  Release changes no velocity.
"""
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from case import quaternion_rate, rotation, store


def unit(q):
    return np.array(q) / np.linalg.norm(q)


MASS, INERTIA = [80.0, 50.0], [np.array([12.0, 9, 15]), np.array([5.0, 7, 4])]
PORT = [np.array([0.7, 0, 0]), np.array([0, 0, 0.6])]
X0, V0 = [np.array([-0.1, 0, 0]), np.array([2.9866, -1.1909, -0.1009])], [np.array([0.02, 0, 0]), np.array([-0.3921, 0.2546, 0.1789])]
Q0 = [unit([0.7208, -0.0348, 0.2903, -0.6285]), unit([-0.3395, 0.1441, -0.1917, -0.9095])]
W0 = [np.array([-0.0569, -0.2369, 0.3454]), np.array([-0.0736, -0.399, 0.0881])]  # world axes
GAP, TOGETHER, END = 0.01, 3.0, 10.0


def spin(inertia, q, w, t0, t1, method):
    """Attitude and angular velocity (world axes) at t1 of a free body with an inertia matrix in body axes."""
    inverse = np.linalg.inv(inertia)

    def f(t, y):
        w = y[4:]
        return np.concatenate([quaternion_rate(y[:4], w), inverse @ np.cross(inertia @ w, w)])
    if t1 == t0:
        return q, w
    y = solve_ivp(f, (t0, t1), np.concatenate([q, rotation(q).T @ w]), method=method, rtol=1e-13, atol=1e-15).y[:, -1]
    q = unit(y[:4])
    return q, rotation(q) @ y[4:]


def tell(method, times):
    def apart(t, start=0.0, x=X0, v=V0, q=Q0, w=W0):
        return [(x[k] + (t - start) * v[k], v[k], *spin(np.diag(INERTIA[k]), q[k], w[k], start, t, method)) for k in (0, 1)]

    def distance(t):
        (xa, _, qa, _), (xb, _, qb, _) = apart(t)
        return np.linalg.norm(xa + rotation(qa) @ PORT[0] - xb - rotation(qb) @ PORT[1]) - GAP
    dock = brentq(distance, 4.0, 4.99, xtol=1e-15, rtol=1e-15)
    before = apart(dock)
    (xa, va, qa, wa), (xb, vb, qb, wb) = before
    m, centre = sum(MASS), (MASS[0] * xa + MASS[1] * xb) / sum(MASS)
    P = MASS[0] * va + MASS[1] * vb
    common, H, kinetic = np.zeros((3, 3)), np.zeros(3), 0.0
    for k, (x, v, q, w) in enumerate(before):
        I, r = rotation(q) @ np.diag(INERTIA[k]) @ rotation(q).T, x - centre
        common += I + MASS[k] * (r @ r * np.eye(3) - np.outer(r, r))
        H += I @ w + MASS[k] * np.cross(r, v - P / m)
        kinetic += 0.5 * MASS[k] * v @ v + 0.5 * w @ I @ w
    w_common = np.linalg.solve(common, H)
    after = 0.5 * P @ P / m + 0.5 * H @ w_common

    def joined(t):
        """The rigid body, whose frame had the world's axes at docking."""
        q, w = spin(common, np.array([1.0, 0, 0, 0]), w_common, dock, t, method)
        out = []
        for x0, q0 in ((xa, qa), (xb, qb)):
            r, c, v = q[0], q[1:], rotation(q) @ (x0 - centre)
            turned = np.array([r * q0[0] - c @ q0[1:], *(r * q0[1:] + q0[0] * c + np.cross(c, q0[1:]))])
            out.append((centre + (t - dock) * P / m + v, P / m + np.cross(w, v), turned, w))
        return out
    undock = dock + TOGETHER
    parted = joined(undock)

    def at(t):
        if t < dock:
            return apart(t)
        return joined(t) if t < undock else apart(t, undock, *(list(part) for part in zip(*parted)))
    rows = np.array([[np.concatenate(body) for body in at(t)] for t in times])
    # On the target, in world axes: what changes its momentum.
    I = rotation(qb) @ np.diag(INERTIA[1]) @ rotation(qb).T
    force = MASS[1] * (joined(dock)[1][1] - vb)
    return dock, kinetic, after, rows, force


times = np.arange(0, END + 0.25, 0.5)
dock, before, after, rows, force = tell("DOP853", times)
dock2, before2, after2, rows2, _ = tell("LSODA", times)
parts = ["x", "y", "z", "vx", "vy", "vz", "qw", "qx", "qy", "qz", "wx", "wy", "wz"]
columns = {f"{name}.{part}": rows[:, k, i] for k, name in enumerate(("chaser", "target")) for i, part in enumerate(parts)}
store(
    "docking", "two free satellites, welded where their ports come within a centimetre, released three seconds later",
    dict(mass=MASS, inertia=[i.tolist() for i in INERTIA], port=[p.tolist() for p in PORT], gap=GAP, together=TOGETHER),
    times, columns, dict(difference_from_LSODA=float(np.abs(rows - rows2).max()), time_of_docking=abs(dock - dock2)),
    [(list(columns), [2.0, 6.0, 10.0], 1e-9, "rtol 1e-12 over some 200 steps of a slow tumble.")],
    [("energy.max_drift", 1e-10, "rtol 1e-12 per step; what docking takes is counted as dissipated.")], None,
    [("dock", 0, {"time": dock, "kinetic_energy.before": before, "kinetic_energy.after": after, "dissipated": before - after}
      | {f"impulses.dock.{3 + k}": force[k] for k in range(3)}, 1e-9, "The motion before docking at rtol 1e-12."),
     ("undock", 0, {"time": dock + TOGETHER}, 1e-9, "As accurate as the time of docking.")],
    [("dock", 1, [("momentum_before.linear", "momentum_after.linear"), ("momentum_before.angular", "momentum_after.angular"),
                  ("dissipated", "kinetic_energy.of_jump")], 1e-13, "Inner impulses change no momentum; Carnot."),
     ("undock", 1, [("momentum_before.linear", "momentum_after.linear"), ("momentum_before.angular", "momentum_after.angular"),
                    ("kinetic_energy.before", "kinetic_energy.after")], 1e-13, "Release changes no velocity.")],
)
