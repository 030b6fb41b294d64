"""Torque-free box spinning about its intermediate axis: Euler's exact solution in 30 digits.

Body rates by Jacobi's functions for L² < 2 T I₂ (I₁ < I₂ < I₃):  ω₁ = a₁ dn u, ω₂ = a₂ sn u, ω₃ = a₃ cn u, u = K + p t.
Attitude by Euler angles about the fixed angular momentum: nutation and spin are algebraic in ω, precession is the
quadrature φ′ = L (I₁ω₁² + I₂ω₂²) / (I₁²ω₁² + I₂²ω₂²).  Confirmed by DOP853 on Euler's equations with a quaternion.
"""
import numpy as np
from mpmath import atan2, cos, ellipfun, ellipk, matrix, mp, mpf, quad, sin, sqrt

from case import integrate, quaternion_rate, rotation, store

mp.dps = 30
SIZE, DENSITY = [mpf("0.3"), mpf("0.2"), mpf("0.05")], mpf(1000)
MASS = DENSITY * SIZE[0] * SIZE[1] * SIZE[2]
I1, I2, I3 = (MASS / 12 * (sum(s * s for s in SIZE) - s * s) for s in SIZE)
W0 = [mpf("0.05"), mpf(5), mpf(0)]
V0 = [mpf("0.1"), mpf("-0.2"), mpf("0.05")]

T2 = I1 * W0[0] ** 2 + I2 * W0[1] ** 2
L = sqrt((I1 * W0[0]) ** 2 + (I2 * W0[1]) ** 2)
A1 = sqrt((T2 * I3 - L ** 2) / (I1 * (I3 - I1)))
A2 = sqrt((L ** 2 - T2 * I1) / (I2 * (I2 - I1)))
A3 = sqrt((L ** 2 - T2 * I1) / (I3 * (I3 - I1)))
P = sqrt((I2 - I1) * (T2 * I3 - L ** 2) / (I1 * I2 * I3))
M = (I3 - I2) * (L ** 2 - T2 * I1) / ((I2 - I1) * (T2 * I3 - L ** 2))
K = ellipk(M)


def rates(t):
    """Angular velocity in body axes."""
    u = K + P * t
    return [A1 * ellipfun("dn")(u, m=M), A2 * ellipfun("sn")(u, m=M), A3 * ellipfun("cn")(u, m=M)]


def precession_rate(t):
    w = rates(t)
    return L * (I1 * w[0] ** 2 + I2 * w[1] ** 2) / ((I1 * w[0]) ** 2 + (I2 * w[1]) ** 2)


def turn(axis, a):
    c, s = cos(a), sin(a)
    return matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]]) if axis == 2 else matrix([[1, 0, 0], [0, c, -s], [0, s, c]])


def attitude(t, phi):
    w = rates(t)
    theta = mp.acos(I3 * w[2] / L)
    return turn(2, phi) * turn(0, theta) * turn(2, atan2(I1 * w[0], I2 * w[1]))


def quaternion(R):
    """Of the sign with a positive largest component."""
    q = [1 + R[0, 0] + R[1, 1] + R[2, 2], 1 + R[0, 0] - R[1, 1] - R[2, 2], 1 - R[0, 0] + R[1, 1] - R[2, 2], 1 - R[0, 0] - R[1, 1] + R[2, 2]]
    k = max(range(4), key=lambda i: q[i])
    r = 2 * sqrt(q[k])
    off = {(0, 1): R[2, 1] - R[1, 2], (0, 2): R[0, 2] - R[2, 0], (0, 3): R[1, 0] - R[0, 1], (1, 2): R[0, 1] + R[1, 0], (1, 3): R[0, 2] + R[2, 0], (2, 3): R[1, 2] + R[2, 1]}
    return [sqrt(q[k]) / 2 if i == k else off[min(i, k), max(i, k)] / r for i in range(4)]


times = [mpf(k) / 4 for k in range(41)]
first = attitude(mpf(0), mpf(0))
phi, columns = mpf(0), []
for k, t in enumerate(times):
    if k:
        phi += quad(precession_rate, [times[k - 1], t])
    R = first.T * attitude(t, phi)
    w = R * matrix(rates(t))
    columns.append([*(v * t for v in V0), *quaternion(R), *w])
names = ["x", "y", "z", "qw", "qx", "qy", "qz", "wx", "wy", "wz"]

J = np.array([float(i) for i in (I1, I2, I3)])
euler = lambda t, y: np.concatenate([quaternion_rate(y[:4], y[4:]), np.cross(J * y[4:], y[4:]) / J])
y = integrate(euler, [1, 0, 0, 0, *map(float, W0)], [float(t) for t in times], rtol=3e-14)
difference = 0.0
for s, c in zip(y, columns):
    q, exact = s[:4] / np.linalg.norm(s[:4]), np.array([float(x) for x in c[3:7]])
    spin = rotation(q) @ s[4:] - [float(x) for x in c[7:]]
    difference = max(difference, np.abs(q * np.sign(q @ exact) - exact).max(), np.abs(spin).max())

every = [f"box.{n}" for n in names]
store(
    "tumbling-box", "box 0.3 × 0.2 × 0.05, density 1000, spinning at 5 rad/s about its intermediate axis y with 1 % about x",
    dict(mass=float(MASS), inertia=[float(I1), float(I2), float(I3)], w0=[float(w) for w in W0], v0=[float(v) for v in V0]),
    times, {f"box.{n}": [c[i] for c in columns] for i, n in enumerate(names)},
    dict(formula="exact, 30 digits", difference_from_DOP853=float(difference)),
    [(every, [1.0, 5.0], 1e-8, "rtol 1e-13; near the unstable axis an error in energy of d shifts the next flip by about 1e4 d seconds."),
     (every, [10.0], 1e-7, "rtol 1e-13 and two flips.")],
    [("energy.max_drift", 1e-11, "rtol 1e-13 per step over some 500 steps.")],
    dict(half_period_between_flips=float(2 * K / P), angular_momentum=[float(I1 * W0[0]), float(I2 * W0[1]), 0.0]),
)
