"""The four-bar linkage of `four_bar.py` with a stop at its rocker: one coordinate, and an impact that turns every speed around.

The rocker's angle ψ may not exceed a limit.  At an impact the linkage has one freedom, so that restitution e on ψ′ is restitution e on the
crank: θ′⁺ = −e θ′⁻, whatever the masses.  Between impacts Lagrange's equation of `four_bar.py`.
"""
import numpy as np
from scipy.integrate import solve_ivp

from case import store
from four_bar import A, B, C, D, MASS, THETA0, angles, linkage
from one_dof import energy, rates

LIMIT, E, OMEGA0, STEP, END = 1.8, 0.6, 6.0, 1e-4, 2.0
REST = 1e-6                                         # crank speeds below this end a sequence of impacts


def run(method="DOP853", rtol=1e-12, omega=OMEGA0):
    t, y, pieces, impacts = 0.0, np.array([THETA0, omega]), [], []
    while t < END:
        # A short flight must not pass within one step.
        step = min(0.005, abs(y[1] / rates(linkage)(t, y)[1]) / 3) if impacts else 0.005
        stop = lambda s, z: LIMIT - angles(z[0])[1][0]
        stop.terminal, stop.direction = True, -1
        s = solve_ivp(rates(linkage), (t, END), y, method=method, rtol=rtol, atol=1e-14, events=stop, dense_output=True, max_step=step)
        pieces.append((t, s.t[-1], s.sol))
        t, y = s.t[-1], s.y[:, -1].copy()
        if len(s.t_events[0]) and abs(y[1]) < REST:
            # Impacts accumulate, and the weight of the bars holds the rocker at its stop from then on.
            pushed = rates(linkage)(t, [y[0], 0.0])[1] * y[1]
            assert pushed > 0, (t, y)
            held = np.array([y[0], 0.0])
            pieces.append((t, END, lambda s: held))
            break
        if len(s.t_events[0]):
            impacts.append(dict(time=float(t), theta=float(y[0]), before=float(y[1]), after=float(-E * y[1]), kinetic_before=float(energy(linkage, *y) - energy(linkage, y[0], 0.0))))
            y[1] *= -E
    return pieces, impacts


def at(pieces, t):
    return next(p for p in reversed(pieces) if p[0] <= t)[2](t)


if __name__ == "__main__":
    times = [round(0.1 * k, 1) for k in range(1, 21)]
    (pieces, impacts), (other, others) = run(), run("LSODA", 1e-11)
    y, z = (np.array([at(p, t) for t in times]) for p in (pieces, other))
    nudged = np.array([at(run(omega=OMEGA0 + 1e-6)[0], t) for t in times])
    print("growth of errors", abs(nudged - y).max(axis=1) / 1e-6)
    for i in impacts:
        print(i)
    rows = [angles(q) for q, _ in y]
    print([(t, float(r[1][0])) for t, r in zip(times, rows)])
    store("four-bar-stop", "the linkage of four-bar with a stop at the rocker, restitution 0.6",
          dict(a=A, b=B, c=C, d=D, mass=MASS, limit=LIMIT, e=E, theta0=THETA0, omega0=OMEGA0, g=9.81), times,
          {"theta.q0": y[:, 0], "theta.v0": y[:, 1], "psi.q0": [r[1][0] for r in rows], "psi.v0": [r[1][1] * v for r, v in zip(rows, y[:, 1])]},
          dict(difference_from_LSODA=float(abs(y - z).max()), impact_times=float(max(abs(a["time"] - b["time"]) for a, b in zip(impacts, others)))),
          [(["theta.q0", "psi.q0"], [0.1, 0.5, 1.0, 2.0], 20 * STEP, "First order in the step of 1e-4 s; an impact is known to a step."),
           (["theta.v0", "psi.v0"], [0.1, 0.5, 1.0, 2.0], 100 * STEP, "First order in the step of 1e-4 s; accelerations of up to 100 rad/s².")],
          [("residual.rel", 1e-10, "Every step's contact problem is solved."), ("loop_drift.position", 1e-10, "The engine's promise for closed loops."),
           ("loop_drift.velocity", 1e-10, "The engine's promise for closed loops.")],
          dict(impacts=impacts))
