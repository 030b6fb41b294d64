"""Lagrange's heavy symmetric top with nutation: elliptic functions in 30 digits.

u = cos θ moves between two roots of u′² = (1 − u²)(α − β u) − (b − a u)² = β (u − u₁)(u − u₂)(u − u₃):
    u = u₁ + (u₂ − u₁) cd²(p t | m),  p = ½ √(β (u₃ − u₁)),  m = (u₂ − u₁)/(u₃ − u₁),
precession and spin by quadrature of φ′ = (b − a u)/(1 − u²), ψ′ = ω₃ − φ′ u.  Confirmed by DOP853 on Euler's equations.
"""
import numpy as np
from mpmath import acos, cos, ellipfun, ellipk, mp, mpf, polyroots, quad, sin, sqrt

from case import integrate, quaternion_rate, rotation, store

mp.dps = 30
MASS, ARM, IT, I3, SPIN, TILT, GRAVITY = mpf(1), mpf("0.1"), mpf("0.003"), mpf("0.005"), mpf(150), mpf("0.5"), mpf("9.81")
I1 = IT + MASS * ARM ** 2
A, BETA = I3 * SPIN / I1, 2 * MASS * GRAVITY * ARM / I1
B, ALPHA = A * cos(TILT), BETA * cos(TILT)                 # released without precession or nutation
U1, U2, U3 = sorted(mp.re(r) for r in polyroots([BETA, -(A ** 2 + ALPHA), 2 * A * B - BETA, ALPHA - B ** 2], maxsteps=200, extraprec=200))
P, M = sqrt(BETA * (U3 - U1)) / 2, (U2 - U1) / (U3 - U1)
cd, sd, nd = ellipfun("cd"), ellipfun("sd"), ellipfun("nd")
cosine = lambda t: U1 + (U2 - U1) * cd(P * t, m=M) ** 2
cosine_rate = lambda t: -2 * P * (U2 - U1) * (1 - M) * cd(P * t, m=M) * sd(P * t, m=M) * nd(P * t, m=M)
precession_rate = lambda t: (B - A * cosine(t)) / (1 - cosine(t) ** 2)
spin_rate = lambda t: SPIN - precession_rate(t) * cosine(t)

times = [mpf(k) / 4 for k in range(21)]
HALF = ellipk(M) / P                                       # quadratures are cut at the turning points of the nutation
phi = psi = mpf(0)
columns = []
for k, t in enumerate(times):
    if k:
        cuts = [times[k - 1]] + [j * HALF for j in range(1, int(times[-1] / HALF) + 1) if times[k - 1] < j * HALF < t] + [t]
        phi += quad(precession_rate, cuts)
        psi += quad(spin_rate, cuts)
    u = cosine(t)
    s = sqrt(1 - u ** 2)
    nutation = -cosine_rate(t) / s
    w = [-sin(phi) * nutation + s * cos(phi) * spin_rate(t), cos(phi) * nutation + s * sin(phi) * spin_rate(t), precession_rate(t) + u * spin_rate(t)]
    h = acos(u) / 2
    q = [cos(h) * cos((phi + psi) / 2), sin(h) * sin((psi - phi) / 2), sin(h) * cos((psi - phi) / 2), cos(h) * sin((phi + psi) / 2)]
    columns.append([ARM * s * cos(phi), ARM * s * sin(phi), ARM * u, *q, *w])

J, arm = np.array([float(I1), float(I1), float(I3)]), np.array([0, 0, float(ARM)])


def euler(t, y):
    down = rotation(y[:4] / np.linalg.norm(y[:4])).T @ [0, 0, -float(GRAVITY)]
    return np.concatenate([quaternion_rate(y[:4], y[4:]), (np.cross(arm, down) + np.cross(J * y[4:], y[4:])) / J])


y = integrate(euler, [np.cos(0.25), 0, np.sin(0.25), 0, 0, 0, float(SPIN)], [float(t) for t in times])
difference = 0.0
for state, c in zip(y, columns):
    R = rotation(state[:4] / np.linalg.norm(state[:4]))
    exact = [float(x) for x in c]
    difference = max(difference, np.abs(R @ arm - exact[:3]).max(), np.abs(R - rotation(exact[3:7])).max(), np.abs(R @ state[4:] - exact[7:]).max() / 150)

names = [f"top.{n}" for n in ("x", "y", "z", "qw", "qx", "qy", "qz", "wx", "wy", "wz")]
table = {n: [c[i] for c in columns] for i, n in enumerate(names)}
table["tip.v2"] = [SPIN] * len(times)
store(
    "heavy-top", "symmetric top on a ball joint, spinning at 150 rad/s, released at 0.5 rad from the vertical",
    dict(mass=1.0, arm=0.1, inertia_about_com=[0.003, 0.003, 0.005], spin=150.0, tilt=0.5, g=9.81),
    times, table, dict(formula="exact, 30 digits", difference_from_DOP853_relative=float(difference)),
    [(names[:7], [1.0, 5.0], 1e-7, "rtol 1e-12 over some thousand steps of a motion of 750 rad."),
     (names[7:] + ["tip.v2"], [1.0, 5.0], 1e-5, "The same, in units of the spin of 150 rad/s.")],
    [("energy.max_drift", 1e-9, "rtol 1e-12 per step over some thousand steps.")],
    dict(nutation_period=float(2 * HALF), mean_precession_rate=float(quad(precession_rate, [0, HALF]) / HALF), largest_tilt=float(acos(U1))),
)
