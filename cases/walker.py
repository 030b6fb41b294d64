"""The compass gait: a walker of two stiff legs that goes down a slope by itself [goswami1998].

A hip of mass m_h, two legs with mass and inertia, point feet.  Speeds u = (hip velocity along and normal to the slope, φ₁′, φ₂′); a leg
reaches from its foot to the hip in the direction (sin φ, cos φ).  The standing foot is held by two multipliers; the
swinging foot lands when it comes down onto the slope ahead; then the impulse at the landing foot stops it, and the other foot is free to leave.  The gait is the fixed point of the map from
one landing to the next, found by Newton's method; its multipliers are inside the unit circle, so errors die out.

In the plane the swinging foot would scrape the slope in passing; here the two feet walk on two rows of tiles, and pass beside
each other's.  Gravity is tilted instead of the slope.
"""
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve

from case import G, store

LEG, BELOW, M_LEG, I_LEG, M_HIP, SLOPE = 1.0, 0.5, 5.0, 0.05, 10.0, np.radians(3.0)
STEP, STEPS = 2e-4, 8
PULL = G * np.array([np.sin(SLOPE), -np.cos(SLOPE)])


def reach(phi, d):
    """Point of a leg at the distance d from the hip: offset, its Jacobian in φ, second derivative."""
    s, c = np.sin(phi), np.cos(phi)
    return -d * np.array([s, c]), -d * np.array([c, -s]), d * np.array([s, c])


def system(y):
    phi, w = y[2:4], y[6:8]
    mass, force = np.diag([M_HIP, M_HIP, I_LEG, I_LEG]), np.concatenate([M_HIP * PULL, np.zeros(2)])
    for k in range(2):
        _, j, a = reach(phi[k], BELOW)
        J = np.zeros((2, 4))
        J[:, :2], J[:, 2 + k] = np.eye(2), j
        mass = mass + M_LEG * J.T @ J
        force = force + J.T @ (M_LEG * PULL - M_LEG * a * w[k] ** 2)
    return mass, force


def foot(y, k):
    """Place of a foot, Jacobian, bias acceleration."""
    r, j, a = reach(y[2 + k], LEG)
    J = np.zeros((2, 4))
    J[:, :2], J[:, 2 + k] = np.eye(2), j
    return y[:2] + r, J, a * y[6 + k] ** 2


def standing(y, k):
    """Accelerations and the force on the standing foot."""
    mass, force = system(y)
    _, J, bias = foot(y, k)
    free = np.linalg.solve(mass, force)
    spread = np.linalg.solve(mass, J.T)
    f = -np.linalg.solve(J @ spread, J @ free + bias)
    return free + spread @ f, f


def land(y, k):
    """Speeds after foot k has landed, and the impulse on it."""
    mass, _ = system(y)
    _, J, _ = foot(y, k)
    spread = np.linalg.solve(mass, J.T)
    p = -np.linalg.solve(J @ spread, J @ y[4:])
    z = y.copy()
    z[4:] += spread @ p
    return z, p


def stride(y, k, method="DOP853", rtol=1e-12):
    """From one landing (standing foot k) to the next."""
    rates = lambda t, y: np.concatenate([y[4:], standing(y, k)[0]])
    # The other foot lands ahead; in passing it is lower than the tile of the standing one, and beside it.
    ahead = lambda t, y: foot(y, 1 - k)[0][1] - foot(y, k)[0][1] if y[2 + k] > 0.02 else 1.0
    ahead.terminal, ahead.direction = True, -1
    return solve_ivp(rates, (0, 2), y, method=method, rtol=rtol, atol=1e-14, events=ahead, dense_output=True, max_step=0.01)


def start(p, k=0, foot_x=0.0):
    """State of a standing leg at φ = −p₀ (it leans back), the other at +p₀, with rates p₁, p₂."""
    y = np.zeros(8)
    y[2 + k], y[3 - k], y[6 + k], y[7 - k] = -p[0], p[0], p[1], p[2]
    y[:2] = -reach(y[2 + k], LEG)[0] + [foot_x, 0]
    y[4:6] = -reach(y[2 + k], LEG)[1] * y[6 + k]
    return y


def section(y, k):
    return np.array([-y[2 + k], y[6 + k], y[7 - k]])


def one_step(p):
    s = stride(start(p), 0)
    assert len(s.t_events[0]) == 1, "fell"
    y, _ = land(s.y[:, -1], 1)
    return section(y, 1)


def walk(y, method="DOP853", rtol=1e-12, steps=STEPS):
    k, t, pieces, landings = 0, 0.0, [], []
    for _ in range(steps):
        s = stride(y, k, method, rtol)
        assert len(s.t_events[0]) == 1, "fell"
        pieces.append((t, t + s.t[-1], s.sol, k))
        t, before = t + s.t[-1], s.y[:, -1]
        y, p = land(before, 1 - k)
        lift = foot(y, k)[1] @ y[4:]
        landings.append(dict(time=float(t), foot=1 - k, place=float(foot(y, 1 - k)[0][0]), impulse=[float(x) for x in p], lift_off=float(lift[1])))
        k = 1 - k
    return pieces, landings


def at(pieces, t):
    t0, _, sol, _ = next(p for p in reversed(pieces) if p[0] <= t)
    return sol(t - t0)


if __name__ == "__main__":
    p = np.array([0.27, 1.09, 0.38])
    for _ in range(60):
        p = one_step(p)
    p = fsolve(lambda p: one_step(p) - p, p, xtol=1e-13)
    print("gait", p, "left", abs(one_step(p) - p).max())
    D = np.array([(one_step(p + d) - one_step(p - d)) / 2e-6 for d in 1e-6 * np.eye(3)]).T
    print("multipliers", np.abs(np.linalg.eigvals(D)))
    # The walk starts near the gait: the first numbers that a scene file can hold exactly.
    p0 = np.round(p, 4)
    pieces, landings = walk(start(p0))
    other, others = walk(start(p0), "LSODA", 1e-11)
    names = {"hip.x": 0, "hip.z": 1, "joint0.q0": 2, "joint1.q0": 3}
    rates = {"hip.vx": 4, "hip.vz": 5, "joint0.v0": 6, "joint1.v0": 7}
    times = [0.5, 1.0, 2.0, 3.5, 5.0, 6.0]
    y, z = (np.array([at(q, t) for t in times]) for q in (pieces, other))
    friction = max(abs(f[0]) / f[1] for t in np.linspace(0, 6, 2000)
                   for f in [standing(at(pieces, t), next(q for q in reversed(pieces) if q[0] <= t)[3])[1]])
    store("walker", "a compass-gait walker goes down a slope of 3 degrees",
          dict(leg=LEG, below_hip=BELOW, leg_mass=M_LEG, leg_inertia=I_LEG, hip_mass=M_HIP, slope=SLOPE, g=G, start=list(p0)), times,
          {c: y[:, k] for c, k in (names | rates).items()},
          dict(difference_from_LSODA=float(abs(y - z).max()), landing_times=float(max(abs(a["time"] - b["time"]) for a, b in zip(landings, others)))),
          [(list(names), times, 60 * STEP, "First order in the step of 2e-4 s; a stable gait forgets errors."),
           (list(rates), times, 60 * STEP, "First order in the step of 2e-4 s; a stable gait forgets errors.")],
          [("residual.rel", 1e-10, "Every step's contact problem is solved.")],
          dict(gait=[float(x) for x in p], multipliers=[float(abs(x)) for x in np.linalg.eigvals(D)], landings=landings, friction_needed=float(friction)))
