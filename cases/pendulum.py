"""Compound pendulum of large amplitude: Jacobi elliptic functions in 30 digits.

With ω₀² = m g l / J and m = k² = sin²(θ₀/2):  sin(θ/2) = k cd(ω₀ t | m), period 4 K(m) / ω₀.
Exact; the stored numbers are rounded to 16 digits.  A numerical integration of θ″ = −ω₀² sin θ confirms the formula.
"""
import numpy as np
from mpmath import asin, ellipfun, ellipk, mp, mpf, sin, sqrt

from case import integrate, store

mp.dps = 30
MASS, LENGTH, THETA0, GRAVITY = mpf(1), mpf(1), mpf(2), mpf("9.81")
OMEGA = sqrt(MASS * GRAVITY * LENGTH / 2 / (MASS * LENGTH ** 2 / 3))
M = sin(THETA0 / 2) ** 2
PERIOD = 4 * ellipk(M) / OMEGA


def angle(t):
    """θ and θ′ at time t."""
    cd, sd, nd = ellipfun("cd"), ellipfun("sd"), ellipfun("nd")
    u = OMEGA * t
    s = sqrt(M) * cd(u, m=M)
    rate = -2 * sqrt(M) * (1 - M) * OMEGA * sd(u, m=M) * nd(u, m=M) / sqrt(1 - s ** 2)
    return 2 * asin(s), rate


times = [mpf(k) / 2 for k in range(21)]
q, v = zip(*(angle(t) for t in times))
w2 = float(OMEGA) ** 2
y = integrate(lambda t, y: [y[1], -w2 * np.sin(y[0])], [float(THETA0), 0.0], [float(t) for t in times])
difference = max(max(abs(float(a) - b[0]), abs(float(c) - b[1])) for a, c, b in zip(q, v, y))

store(
    "pendulum", "uniform rod hinged at one end, released from rest at 2 rad",
    dict(mass=1.0, length=1.0, theta0=2.0, g=9.81),
    times, {"hinge.q0": q, "hinge.v0": v, "rod.x": [0.5 * sin(a) for a in q], "rod.z": [-0.5 * mp.cos(a) for a in q]},
    dict(formula="exact, 30 digits", difference_from_DOP853=difference),
    [(["hinge.q0", "hinge.v0", "rod.x", "rod.z"], [1.0, 10.0], 1e-9,
      "rtol 1e-12 over some 200 steps; the phase error of a pendulum grows linearly with time.")],
    [("energy.max_drift", 1e-10, "rtol 1e-12 per step over some 200 steps.")],
    dict(period=float(PERIOD)),
)
