"""Slider-crank with a driving torque and a damped slider: one coordinate, the crank angle θ.

r sin θ + l sin φ = 0 gives the rod angle φ, x = r cos θ + l cos φ the slider.  J θ″ + ½ J′ θ′² + V′ = τ − c x′(θ)² θ′ by DOP853
and by Radau; the balance of energy, torque work and dissipation is integrated along and stored.
"""
import numpy as np

from case import integrate, store
from one_dof import energy, reduced, turned

R, L = 0.2, 0.5
CRANK, ROD, SLIDER = (1.0, 0.004), (0.8, 0.018), 0.5     # mass and inertia about z
CRANK_COM = 0.08
TORQUE, DAMPING = 1.5, 4.0
THETA0, OMEGA0 = 0.5, 5.0


def rod(theta):
    """φ with two derivatives."""
    phi = -np.arcsin(R / L * np.sin(theta))
    p1 = -R * np.cos(theta) / (L * np.cos(phi))
    p2 = (R * np.sin(theta) + L * np.sin(phi) * p1 ** 2) / (L * np.cos(phi))
    return phi, p1, p2


def linkage(theta):
    phi = rod(theta)
    pin = turned(R, theta, 1.0, 0.0)
    return [(*CRANK, turned(CRANK_COM, theta, 1.0, 0.0), (theta, 1.0, 0.0)), (*ROD, pin + turned(L / 2, *phi), phi),
            (SLIDER, 0.0, pin + turned(L, *phi), (0.0, 0.0, 0.0))]


def rates(t, y):
    q, v = y[:2]
    J, dJ, _, dV = reduced(linkage(q))
    slide = linkage(q)[2][2][1].real
    brake = DAMPING * slide ** 2 * v
    return [v, (TORQUE - brake - dV - 0.5 * dJ * v * v) / J, brake * v]


times = np.linspace(0, 10, 41)
y = integrate(rates, [THETA0, OMEGA0, 0.0], times)
z = integrate(rates, [THETA0, OMEGA0, 0.0], times, rtol=1e-12, atol=1e-13, method="Radau")
balance = [energy(linkage, q, v) + loss - TORQUE * q for q, v, loss in y]
bodies = [linkage(q) for q in y[:, 0]]
store(
    "slider-crank", "crank 0.2, rod 0.5, constant torque on the crank, viscous damping of the slider",
    dict(r=R, l=L, crank=CRANK, crank_com=CRANK_COM, rod=ROD, slider=SLIDER, torque=TORQUE, damping=DAMPING, theta0=THETA0, omega0=OMEGA0, g=9.81),
    times,
    {"theta.q0": y[:, 0], "theta.v0": y[:, 1], "slide.q0": [b[2][2][0].real for b in bodies], "slide.v0": [b[2][2][1].real * v for b, v in zip(bodies, y[:, 1])],
     "rod.x": [b[1][2][0].real for b in bodies], "rod.y": [b[1][2][0].imag for b in bodies]},
    dict(difference_from_Radau=float(np.abs(y - z).max()), energy_balance=float(np.ptp(balance) / max(abs(y[-1, 2]), 1))),
    [(["theta.q0", "theta.v0", "slide.q0", "slide.v0", "rod.x", "rod.y"], [1.0, 10.0], 1e-8, "rtol 1e-12; damping keeps errors from growing.")],
    [("energy.max_drift", 1e-9, "rtol 1e-12 per step; torque work and dissipation are counted."),
     ("loop_drift.position", 1e-10, "The engine's promise for closed loops."), ("loop_drift.velocity", 1e-10, "The engine's promise for closed loops.")],
)
