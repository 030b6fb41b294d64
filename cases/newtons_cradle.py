"""Newton's cradle with a millimetre between the balls: five pendulums and elastic impacts one after the other.

Each ball hangs on a massless arm: θ″ = −m g l sin θ / (m l² + 2/5 m r²).  Two neighbours collide when their centres are 2 r apart;
the impulse acts along the line of centres, and their relative speed along it turns around.  With gaps no two impacts happen at once, so that
the outcome does not depend on a law for simultaneous impacts.
"""
import numpy as np
from scipy.integrate import solve_ivp

from case import G, store

N, RADIUS, ARM, MASS, GAP, START, STEP = 5, 0.05, 1.0, 1.0, 1e-3, -0.5, 5e-5
INERTIA = MASS * ARM ** 2 + 0.4 * MASS * RADIUS ** 2
PIVOTS = (2 * RADIUS + GAP) * np.arange(N)


def centres(q):
    """θ > 0 swings towards x."""
    return np.array([PIVOTS + ARM * np.sin(q), -ARM * np.cos(q)])


def distance(q, k):
    c = centres(q)
    return np.linalg.norm(c[:, k + 1] - c[:, k]) - 2 * RADIUS


def collide(q, v, k):
    c = centres(q)
    n = (c[:, k + 1] - c[:, k]) / np.linalg.norm(c[:, k + 1] - c[:, k])
    lever = [ARM * (np.cos(q[j]) * n[0] + np.sin(q[j]) * n[1]) for j in (k, k + 1)]
    closing = lever[1] * v[k + 1] - lever[0] * v[k]
    impulse = -2 * closing * INERTIA / (lever[0] ** 2 + lever[1] ** 2)
    v = v.copy()
    v[k] -= lever[0] * impulse / INERTIA
    v[k + 1] += lever[1] * impulse / INERTIA
    return v


def run(end, method="DOP853", rtol=1e-12, start=START):
    rates = lambda t, y: np.concatenate([y[N:], -MASS * G * ARM / INERTIA * np.sin(y[:N])])
    t, y, pieces, impacts = 0.0, np.concatenate([[start] + [0.0] * (N - 1), np.zeros(N)]), [], []
    while t < end:
        events = []
        for k in range(N - 1):
            event = lambda s, z, k=k: distance(z[:N], k)
            event.terminal, event.direction = True, -1
            events.append(event)
        s = solve_ivp(rates, (t, end), y, method=method, rtol=rtol, atol=1e-14, events=events, dense_output=True, max_step=0.002)
        pieces.append((t, s.t[-1], s.sol))
        t, y = s.t[-1], s.y[:, -1].copy()
        for k, te in enumerate(s.t_events):
            if len(te):
                y[N:] = collide(y[:N], y[N:], k)
                impacts.append((float(t), k, [float(x) for x in y[N:]]))
    return pieces, impacts


def at(pieces, t):
    return next(p for p in reversed(pieces) if p[0] <= t)[2](t)


if __name__ == "__main__":
    times = [0.4, 0.6, 1.0, 1.4, 1.7, 2.0]
    (pieces, impacts), (other, others) = run(2.0), run(2.0, "LSODA", 1e-11)
    y, z = (np.array([at(p, t) for t in times]) for p in (pieces, other))
    nudged = np.array([at(run(2.0, start=START + 1e-6)[0], t) for t in times])
    print("growth of errors", abs(nudged - y).max() / 1e-6)
    for i in impacts:
        print(i)
    columns = {f"arm{k}.q0": y[:, k] for k in range(N)} | {f"arm{k}.v0": y[:, N + k] for k in range(N)}
    store("newtons-cradle", "five balls a millimetre apart; the first is let go at 0.5 rad",
          dict(balls=N, radius=RADIUS, arm=ARM, mass=MASS, gap=GAP, start=START, g=G), times, columns,
          dict(difference_from_LSODA=float(abs(y - z).max()), impact_times=float(max(abs(a[0] - b[0]) for a, b in zip(impacts, others))), same_sequence=[i[1] for i in impacts] == [i[1] for i in others]),
          [(list(columns), times, 15 * STEP, "First order in the step of 5e-5 s: an impact is known to a step.")],
          [("residual.rel", 1e-10, "Every step's contact problem is solved.")],
          dict(impacts=[dict(time=t, between=[k, k + 1], speeds_after=v) for t, k, v in impacts]))
