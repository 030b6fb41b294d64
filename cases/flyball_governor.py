"""Flyball governor with free shaft: two coordinates, the arm angle α and the shaft angle φ, Lagrange's equations by hand.

    T = ½ A(α) α′² + ½ B(α) φ′²,   A α″ + ½ A′ α′² − ½ B′ φ′² + V′ = 0,   B φ′ = const.
A, B, V and derivatives from the kinematics of one side in the rotating plane (radius + i height).  DOP853 and a second
method; energy and angular momentum are conserved to rounding.
"""
import numpy as np
from scipy.integrate import solve_ivp

from case import G, integrate_twice, store
from one_dof import turned

OFFSET, ARM_PIN, LINK = 0.05, 0.25, 0.3                  # hinge radius, pin along the arm, link length
ARM = dict(mass=2.0, com=0.45, inertia=(0.02, 0.02, 0.005))        # arm with ball: distance of the centre of mass, about x y z
ROD = dict(mass=0.2, com=0.15, inertia=(0.0015, 0.0015, 1e-4))
SLEEVE, SLEEVE_SPIN, SHAFT_SPIN = 1.0, 0.004, 0.02       # mass; inertias about the shaft
STIFFNESS, REST = 150.0, -0.45
ALPHA0, SPIN0 = 0.5, 9.0


def link_angle(alpha):
    """Angle of the link from the vertical, with two derivatives: b sin λ = p sin α."""
    lam = np.arcsin(ARM_PIN / LINK * np.sin(alpha))
    l1 = ARM_PIN * np.cos(alpha) / (LINK * np.cos(lam))
    l2 = (-ARM_PIN * np.sin(alpha) + LINK * np.sin(lam) * l1 ** 2) / (LINK * np.cos(lam))
    return lam, l1, l2


def reduced(alpha):
    """A, A′, B, B′, V, V′ and the height of the sleeve with its derivative."""
    lam, l1, l2 = link_angle(alpha)
    # along the arm: −i e^{iα} (outward and down); along the link: −i e^{−iλ} (inward and down)
    arm = lambda d: -1j * turned(d, alpha, 1.0, 0.0)
    link = lambda d: -1j * turned(d, -lam, -l1, -l2)
    base = np.array([OFFSET, 0, 0])
    ball, rod = base + arm(ARM["com"]), base + arm(ARM_PIN) + link(ROD["com"])
    sleeve = (arm(ARM_PIN) + link(LINK)).imag
    A, dA = SLEEVE * sleeve[1] ** 2, 2 * SLEEVE * sleeve[1] * sleeve[2]
    B, dB = SHAFT_SPIN + SLEEVE_SPIN, 0.0
    V, dV = SLEEVE * G * sleeve[0] + 0.5 * STIFFNESS * (sleeve[0] - REST) ** 2, (SLEEVE * G + STIFFNESS * (sleeve[0] - REST)) * sleeve[1]
    for part, r, (t, t1, t2) in ((ARM, ball, (alpha, 1.0, 0.0)), (ROD, rod, (lam, l1, l2))):
        m, (ix, iy, iz) = part["mass"], part["inertia"]
        A += 2 * (m * abs(r[1]) ** 2 + iy * t1 ** 2)
        dA += 4 * (m * (r[1].conjugate() * r[2]).real + iy * t1 * t2)
        B += 2 * (m * r[0].real ** 2 + ix * np.sin(t) ** 2 + iz * np.cos(t) ** 2)
        dB += 4 * (m * r[0].real * r[1].real + (ix - iz) * np.sin(t) * np.cos(t) * t1)
        V += 2 * m * G * r[0].imag
        dV += 2 * m * G * r[1].imag
    return A, dA, B, dB, V, dV, sleeve


def rates(t, y):
    a, phi, v, w = y
    A, dA, B, dB, _, dV, _ = reduced(a)
    return [v, w, (0.5 * dB * w * w - 0.5 * dA * v * v - dV) / A, -dB * v * w / B]


if __name__ == "__main__":
    times = np.linspace(0, 10, 41)
    y, difference = integrate_twice(rates, [ALPHA0, 0.0, 0.0, SPIN0], times)
    parts = [reduced(a) for a in y[:, 0]]
    E = [0.5 * p[0] * s[2] ** 2 + 0.5 * p[2] * s[3] ** 2 + p[4] for p, s in zip(parts, y)]
    L = [p[2] * s[3] for p, s in zip(parts, y)]
    event = solve_ivp(rates, (0, 1), [ALPHA0, 0.0, 0.0, SPIN0], method="DOP853", rtol=1e-13, atol=1e-15, events=lambda t, y: y[2])
    rest, widest = event.t_events[0], event.y_events[0][event.t_events[0] > 0.1][0][0]
    names = ["alpha1.q0", "alpha1.v0", "spin.q0", "spin.v0", "slide.q0", "slide.v0"]
    store(
        "flyball-governor", "flyball governor: two arms with balls, two links, a sprung sleeve on a freely turning shaft",
        dict(offset=OFFSET, arm_pin=ARM_PIN, link=LINK, arm=ARM, rod=ROD, sleeve=[SLEEVE, SLEEVE_SPIN], shaft=SHAFT_SPIN, stiffness=STIFFNESS, rest=REST,
             alpha0=ALPHA0, spin0=SPIN0, g=G),
        times,
        {"alpha1.q0": y[:, 0], "alpha2.q0": y[:, 0], "alpha1.v0": y[:, 2], "spin.q0": y[:, 1], "spin.v0": y[:, 3],
         "slide.q0": [p[6][0] for p in parts], "slide.v0": [p[6][1] * v for p, v in zip(parts, y[:, 2])]},
        dict(difference_from_second_method=difference, energy_drift=float(np.ptp(E) / abs(E[0])), angular_momentum_drift=float(np.ptp(L) / L[0])),
        [(names + ["alpha2.q0"], [1.0, 10.0], 1e-8, "rtol 1e-12; the phase error of a periodic motion grows linearly with time.")],
        [("energy.max_drift", 1e-9, "rtol 1e-12 per step."), ("loop_drift.position", 1e-10, "The engine's promise for closed loops."),
         ("loop_drift.velocity", 1e-10, "The engine's promise for closed loops.")],
        dict(period=float(rest[rest > 0.5][0]), widest_angle=float(widest)),
    )
