"""A tippe top: a ball whose centre of mass is off its middle spins on a floor with friction, and turns over.

Velocity of the centre of mass and angular velocity; the middle of the ball keeps its height R.  The contact force is N (ẑ − μ v/|v|), v the
velocity of the point of the ball that touches.  Its line of action passes through the contact point, so that Jellett's
number H·(R ẑ − ε e) is constant whatever the friction: H the angular momentum about the centre of mass, e the axis, ε the offset.
"""
import numpy as np
from scipy.integrate import solve_ivp

from case import G, quaternion_rate, rotation, store

R, EPS, M = 0.1, 0.02, 1.0                              # radius, distance of the centre of mass below the middle, mass
I = np.diag([0.0036, 0.0036, 0.004])
MU, SPIN, TILT, STEP, END = 0.3, 60.0, 0.2, 1e-4, 2.1
UP = np.array([0, 0, 1.0])


def forces(y):
    """Accelerations, the contact force and the velocity of the touching point."""
    Rm, v, w = rotation(y[3:7]), y[7:10], y[10:13]      # ω in world axes
    e = Rm[:, 2]
    world = Rm @ I @ Rm.T
    inverse = np.linalg.inv(world)
    r = EPS * e - R * UP                                # from the centre of mass to the contact
    slip = v + np.cross(w, r)
    speed = np.hypot(slip[0], slip[1])
    f = UP - MU * np.array([slip[0], slip[1], 0]) / speed
    a0, alpha0 = -G * UP, inverse @ -np.cross(w, world @ w)
    # The middle of the ball, ε e from the centre of mass, has no vertical acceleration.
    middle = lambda a, alpha: a[2] + np.cross(alpha, EPS * e)[2]
    bias = np.cross(w, np.cross(w, EPS * e))[2]
    per = middle(f / M, inverse @ np.cross(r, f))
    N = -(middle(a0, alpha0) + bias) / per
    return a0 + N * f / M, alpha0 + inverse @ np.cross(r, N * f), N, speed, e


def rates(t, y):
    y = y.copy()
    y[3:7] /= np.linalg.norm(y[3:7])
    a, alpha, *_ = forces(y)
    return np.concatenate([y[7:10], quaternion_rate(y[3:7], rotation(y[3:7]).T @ y[10:13]), a, alpha])


def jellett(y):
    Rm = rotation(y[3:7] / np.linalg.norm(y[3:7]))
    return (Rm @ I @ Rm.T @ y[10:13]) @ (R * UP - EPS * Rm[:, 2])


def start():
    q = np.array([np.cos(TILT / 2), 0, np.sin(TILT / 2), 0])
    e = rotation(q)[:, 2]
    w = SPIN * UP
    x = R * UP - EPS * e
    return np.concatenate([x, q, [0, 0, 0], w])         # spins about the vertical, its centre of mass at rest


def run(method="DOP853", rtol=1e-12):
    lift = lambda t, y: forces(y)[2]
    rolls = lambda t, y: forces(y)[3] - 1e-6
    lift.terminal = rolls.terminal = True
    s = solve_ivp(rates, (0, END), start(), method=method, rtol=rtol, atol=1e-13, dense_output=True, events=[lift, rolls], max_step=0.005)
    return s


if __name__ == "__main__":
    s = run()
    other = run("LSODA", 1e-11)
    assert s.t[-1] == END, "it lifts off or rolls"
    times = [0.5, 1.0, 1.5, 2.0]
    y, z = (np.array([r.sol(t) for t in times]) for r in (s, other))
    number = [jellett(r) for r in s.y.T]
    axis = [float(forces(r)[4][2]) for r in y]
    store("tippe-top", "a ball with its centre of mass off its middle spins at 60 rad/s and turns over",
          dict(radius=R, offset=EPS, mass=M, inertia=list(np.diag(I)), friction=MU, spin=SPIN, tilt=TILT, g=G), times,
          {"top.z": y[:, 2], "top.wz": y[:, 12]},
          dict(difference_from_LSODA=float(abs(y - z).max()), jellett_drift=float(np.ptp(number) / number[0])),
          [(["top.z"], times, 3 * STEP, "First order in the step of 1e-4 s, of a height that changes by 0.04 m."),
           (["top.wz"], times, 1000 * STEP, "First order in the step of 1e-4 s, of a spin of 60 rad/s.")],
          [("residual.rel", 1e-10, "Every step's contact problem is solved.")],
          dict(jellett=float(number[0]), cosine_of_tilt=axis))
    print("cosine of tilt", axis)
