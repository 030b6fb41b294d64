"""A slender block rocks on its edges, Housner's equation [housner1963].

About the edge that carries it the block has θ″ = −p² sin(α − θ) for θ > 0, p² = 3 g / (4 R), tan α = b/h, R² = b² + h², and the mirror
image for θ < 0.  When it passes θ = 0 the other edge takes over: the angular momentum about it stays, so θ′ shrinks by 1 − (3/2) sin² α.
"""
import numpy as np
from scipy.integrate import solve_ivp

from case import G, store

B, H, THETA, STEP = 0.1, 0.5, 0.12, 1e-4                # half width, half height, first tilt
ALPHA, R = np.arctan2(B, H), np.hypot(B, H)
P2, RATIO = 3 * G / (4 * R), 1 - 1.5 * np.sin(ALPHA) ** 2


def rates(side):
    return lambda t, y: [y[1], -side * P2 * np.sin(ALPHA - side * y[0])]


def run(end, method, rtol):
    pieces, impacts, t, y, side = [], [], 0.0, np.array([THETA, 0.0]), 1
    while t < end:
        flat = lambda s, z: z[0] * side
        flat.terminal, flat.direction = True, -1
        start = y if impacts == [] else y + 1e-15 * side * np.array([1, 0])
        s = solve_ivp(rates(side), (t, end), start, method=method, rtol=rtol, atol=1e-14, events=flat, dense_output=True, max_step=0.01)
        pieces.append((t, s.t[-1], s.sol))
        t, y = s.t[-1], s.y[:, -1]
        if len(s.t_events[0]):
            before, side = y[1], -side
            y = np.array([0.0, RATIO * before])
            impacts.append((t, before, y[1]))
    return pieces, impacts


def at(pieces, t):
    _, t1, sol = next(p for p in reversed(pieces) if p[0] <= t)
    return sol(min(t, t1))


def pose(theta):
    side = 1 if theta >= 0 else -1
    c, s = np.cos(theta), np.sin(theta)
    return side * B * (1 - c) + H * s, side * B * s + H * c


if __name__ == "__main__":
    times = [0.3, 0.6, 1.0, 1.5, 2.0, 3.0]
    (pieces, impacts), (other, others) = run(3.0, "DOP853", 1e-12), run(3.0, "LSODA", 1e-11)
    y = np.array([at(pieces, t) for t in times])
    z = np.array([at(other, t) for t in times])
    x = np.array([pose(q) for q, _ in y])
    impulse_ratio = H * (1 - RATIO) / (B * (1 + RATIO))
    store("rocking-block", "a block of 0.2 × 0.2 × 1 m released at a tilt of 0.12 rad", dict(half_width=B, half_height=H, tilt=THETA, g=G), times,
          {"block.x": x[:, 0], "block.z": x[:, 1], "block.qw": np.cos(y[:, 0] / 2), "block.qx": 0 * y[:, 0], "block.qy": np.sin(y[:, 0] / 2), "block.qz": 0 * y[:, 0],
           "block.wy": y[:, 1], "block.y": 0 * y[:, 0]},
          dict(difference_from_LSODA=float(abs(y - z).max()), impact_times=float(max(abs(a[0] - b[0]) for a, b in zip(impacts, others)))),
          [(["block.x", "block.z", "block.qw", "block.qx", "block.qy", "block.qz"], times, 20 * STEP, "First order in the step of 1e-4 s; each impact moves those that follow."),
           (["block.wy"], times, 400 * STEP, "First order in the step of 1e-4 s; each impact moves those that follow."),
           (["block.y"], times, 1e-9, "Nothing moves it across.")],
          [("residual.rel", 1e-10, "Every step's contact problem is solved.")],
          dict(speed_ratio=float(RATIO), impacts=[dict(time=float(a), before=float(b), after=float(c)) for a, b, c in impacts], friction_needed_at_impacts=float(impulse_ratio)))
    print(len(impacts), "impacts", impacts[:4], "friction at impacts", impulse_ratio)
