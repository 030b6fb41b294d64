"""Four bars hinged in a row, in the plane: what `joint_lock.py` and `tip_pinned.py` share.

Motion in the absolute angles θ of the bars (Lagrange's equations; every bar of mass m, length L and moment I about its middle):
M(θ) θ″ = f with M_ij = m L² a_ij cos(θ_i − θ_j), a_ij counting what hangs beyond.  At an event new conditions A θ′ = 0 are
imposed at once: M Δθ′ = Aᵀ λ, A θ′⁺ = 0.  The impulses in all hinges follow a second time from the bars' own impulse–momentum
equations in absolute coordinates (x, y, θ of every bar, one multiplier per hinge component); both must agree.
"""
import numpy as np
from scipy.integrate import solve_ivp

G, N, L, SECTION, DENSITY = 9.81, 4, 1.0, 0.001, 7860.0
MASS = DENSITY * SECTION * SECTION * L
I = MASS * (L * L + SECTION * SECTION) / 12
START = np.cumsum([1.047197551197] * N)
# Middle of bar k: the bars before it by their length, its own by half.
REACH = np.tril(np.ones((N, N)), -1) * L + np.eye(N) * L / 2
RELATIVE = np.eye(N) - np.diag(np.ones(N - 1), -1)         # relative angles from absolute ones


def mass(th):
    c = REACH.T @ REACH * MASS
    return c * np.cos(th[:, None] - th[None, :]) + I * np.eye(N)


def force(th, w):
    c = REACH.T @ REACH * MASS
    return -(c * np.sin(th[:, None] - th[None, :])) @ w ** 2 - MASS * G * REACH.sum(axis=0) * np.cos(th)


def rates(conditions):
    """Right-hand side under conditions A(θ) θ′ = 0; `conditions` gives A and A′ θ′."""
    def rhs(t, y):
        th, w = y[:N], y[N:]
        A, bias = conditions(th, w)
        k = len(A)
        kkt = np.block([[mass(th), -A.T], [A, np.zeros((k, k))]])
        return np.concatenate([w, np.linalg.solve(kkt, np.concatenate([force(th, w), -bias]))[:N]])
    return rhs


def none(th, w):
    return np.zeros((0, N)), np.zeros(0)


def advance(conditions, y, span, method="DOP853", rtol=1e-13):
    s = solve_ivp(rates(conditions), span, y, method=method, rtol=rtol, atol=1e-15 if method == "DOP853" else 1e-13)
    assert s.success
    return s.y[:, -1]


def jump(th, w, conditions):
    """Rates after, and the multipliers of the conditions."""
    A, _ = conditions(th, w)
    M = mass(th)
    lam = np.linalg.solve(A @ np.linalg.solve(M, A.T), -A @ w)
    return w + np.linalg.solve(M, A.T @ lam), lam


def energies(th, w):
    return 0.5 * w @ mass(th) @ w, MASS * G * (REACH @ np.sin(th)).sum()


def hinge_impulses(th, w, after, tip, moment):
    """Force impulse of every inner hinge on its bar, from each bar's own momentum, tip inwards.

    `tip` acts on the end of the last bar; `moment[k]` is the moment impulse on bar k.  Returns the impulses and what is left of the
    bars' moment equations, which nothing here has used.
    """
    e = np.stack([np.cos(th), np.sin(th)], axis=1)
    n = np.stack([-np.sin(th), np.cos(th)], axis=1)
    dv = np.array([sum(REACH[k, i] * n[i] * (after - w)[i] for i in range(N)) for k in range(N)])
    out, outer, left = np.zeros((N, 2)), np.array(tip, float), 0.0
    cross = lambda a, b: a[0] * b[1] - a[1] * b[0]
    for k in reversed(range(N)):
        out[k] = MASS * dv[k] - outer
        turn = cross(-e[k] * L / 2, out[k]) + cross(e[k] * L / 2, outer) + moment[k]
        left = max(left, abs(turn - I * (after - w)[k]))
        outer = -out[k]
    return out, left


def maximal(th, w, extra):
    """The same jump in absolute coordinates: velocities after and all multipliers, `extra` rows last."""
    e = np.stack([np.cos(th), np.sin(th)], axis=1)
    n = np.stack([-np.sin(th), np.cos(th)], axis=1)
    V = np.concatenate([np.append(sum(REACH[k, i] * n[i] * w[i] for i in range(N)), w[k]) for k in range(N)])
    M = np.diag([MASS, MASS, I] * N)
    rows = []
    for k in range(N):
        for axis in range(2):
            row = np.zeros(3 * N)
            row[3 * k + axis], row[3 * k + 2] = 1, -n[k][axis] * L / 2
            if k:
                row[3 * (k - 1) + axis], row[3 * (k - 1) + 2] = -1, -n[k - 1][axis] * L / 2
            rows.append(row)
    A = np.array(rows + extra(n))
    lam = np.linalg.solve(A @ np.linalg.solve(M, A.T), -A @ V)
    return V + np.linalg.solve(M, A.T @ lam), lam


def entries(event):
    """An event in the words of `events.jsonl`: speeds, impulses of the hinges, energy."""
    out = {"time": event["time"], "kinetic_energy.before": event["kinetic_before"], "kinetic_energy.after": event["kinetic_after"],
           "dissipated": event["kinetic_before"] - event["kinetic_after"]}
    for k in range(N):
        out[f"velocity_before.j{k + 1}.0"], out[f"velocity_after.j{k + 1}.0"] = event["speeds_before"][k], event["speeds_after"][k]
        out |= {f"impulses.j{k + 1}.{3 + axis}": event["hinge_impulses"][k][axis] for axis in (0, 1)}
    return out
