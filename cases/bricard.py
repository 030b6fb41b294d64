"""Bricard's mechanism (six revolute joints on a cube's skew hexagon): a one-parameter motion in closed form.

Joint axes y, z, x, y, z, x through P0 … P5, rod k from P(k−1) to Pk, the rod P5 P0 fixed.  By the threefold symmetry joints
0, 2, 4 turn by a and joints 1, 3, 5 by b, and the loop closes exactly where
    g(a, b) = sin a sin b + sin a + sin b = 0
(checked here to rounding along the whole curve).  On that closed curve (a, b)′ = s τ with τ = (−∂g/∂b, ∂g/∂a), T = ½ J s², so
    J s′ + ½ (∂τ J) s² + ∂τ V = 0,
with derivatives along τ by complex steps (exact to rounding).  DOP853, a second method, and energy conservation.
"""
import numpy as np

from scipy.integrate import solve_ivp

from case import G, integrate_twice, store

POINTS = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], float)
AXES = np.eye(3)[[1, 2, 0, 1, 2, 0]]
INERTIA = np.full(3, 1.01 / 12)                          # square section of 0.1: across the rod
ALONG = 0.02 / 12                                        # and along it


def turn(axis, c, s):
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + s * K + (1 - c) * (K @ K)


def closure(a, b):
    return np.sin(a) * np.sin(b) + np.sin(a) + np.sin(b)


def tangent(a, b):
    return np.array([-(1 + np.sin(a)) * np.cos(b), np.cos(a) * (1 + np.sin(b))])


def bodies(a, b):
    """Rotation and displaced origin after each joint: x ↦ R x + d, for rods 1 … 5 and the returning ground."""
    R, d, out = np.eye(3), np.zeros(3), []
    for k in range(6):
        q = b if k % 2 else a
        T = turn(AXES[k], np.cos(q), np.sin(q))
        R, d = R @ T, R @ (POINTS[k] - T @ POINTS[k]) + d
        out.append((R, d))
    return out


def kinetics(a, b, rate):
    """J and V for (a, b)′ = rate: analytic in a and b, so complex steps pass through."""
    poses = bodies(a, b)
    J = V = 0.0
    before = [(np.eye(3), np.zeros(3))] + poses
    screws = []
    for k in range(5):
        R, d = before[k]
        screws.append((R @ AXES[k], R @ POINTS[k] + d, rate[k % 2]))
        R, d = poses[k]
        centre = R @ ((POINTS[k] + POINTS[k + 1]) / 2) + d
        w = sum(z * u for z, _, u in screws)
        v = sum(np.cross(z, centre - p) * u for z, p, u in screws)
        rod = np.abs(POINTS[k + 1] - POINTS[k])
        wb = R.T @ w
        J = J + v @ v + wb @ ((INERTIA * (1 - rod) + ALONG * rod) * wb)
        V = V + G * centre[1]
    return J, V


def rates(t, y):
    a, b, s = y
    tau = tangent(a, b)
    h = 1e-30
    J, V = kinetics(a, b, tau)
    ac, bc = a + 1j * h * tau[0], b + 1j * h * tau[1]
    Jc, Vc = kinetics(ac, bc, tangent(ac, bc))
    return [s * tau[0], s * tau[1], -(0.5 * Jc.imag / h * s * s + Vc.imag / h) / J]


def closure_error(a, b):
    R, d = bodies(a, b)[5]
    return max(np.abs(R - np.eye(3)).max(), np.abs(d).max())


if __name__ == "__main__":
    times = np.linspace(0, 10, 41)
    start = [0.0, 0.0, 0.0]
    y, difference = integrate_twice(rates, start, times)
    E = [0.5 * J * s * s + V for (J, V), s in ((kinetics(a, b, tangent(a, b)), s) for a, b, s in y)]
    rest = solve_ivp(rates, (0, 6), start, method="DOP853", rtol=1e-13, atol=1e-15, events=lambda t, y: y[2]).t_events[0]
    columns = {f"P{k}.q0": y[:, k % 2] for k in range(6)} | {f"P{k}.v0": [s * tangent(a, b)[k % 2] for a, b, s in y] for k in range(6)}
    centre = np.array([R @ ((POINTS[2] + POINTS[3]) / 2) + d for R, d in (bodies(a, b)[2] for a, b, _ in y)])
    columns |= {f"rod3.{n}": centre[:, i] for i, n in enumerate("xyz")}
    store(
        "bricard", "Bricard's mechanism from rest on the cube's hexagon, gravity −y",
        dict(length=1.0, mass=1.0, section=0.1, g=9.81), times, columns,
        dict(difference_from_second_method=difference, energy_drift=float(np.ptp(E)), loop_closure=float(max(closure_error(a, b) for a, b, _ in y))),
        [([f"P{k}.q0" for k in range(6)] + ["P0.v0", "P1.v0", "rod3.x", "rod3.y", "rod3.z"], [1.0, 9.0], 1e-7,
          "rtol 1e-12; the phase error of a periodic motion grows linearly with time.")],
        [("energy.max_drift", 1e-8, "rtol 1e-12 per step (the benchmark asks for 1e-6)."),
         ("loop_drift.position", 1e-10, "The engine's promise for closed loops."), ("loop_drift.velocity", 1e-10, "The engine's promise for closed loops.")],
        dict(period=float(rest[rest > 3][0])),
    )
