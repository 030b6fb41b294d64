"""Planar four-bar linkage under gravity: one coordinate, the crank angle θ.

Closure a e^{iθ} + b e^{iφ} = d + c e^{iψ} is solved for φ and ψ in closed form on the branch that stays clear of its
partner for every θ (Grashof).  θ″ from Lagrange's equation by DOP853; the time to reach the final angle is computed again
by quadrature of energy conservation.  Agreement is stored under `accuracy`.
"""
import numpy as np

from case import integrate_twice, store
from one_dof import energy, rates, solve_rates, time_between, turned

A, B, C, D = 0.4, 0.9, 0.7, 1.0                          # crank, coupler, rocker, ground
MASS = dict(crank=0.4, coupler=0.9, rocker=0.7)
THETA0, OMEGA0 = np.pi / 3, 6.0


def angles(theta):
    """Coupler and rocker angle with two derivatives; the coupler's far end is above the line to the rocker's pivot."""
    s = D - A * np.exp(1j * theta)
    k = (B * B - C * C + abs(s) ** 2) / (2 * abs(s))
    phi = np.angle((k + 1j * np.sqrt(B * B - k * k)) * s / abs(s))
    psi = np.angle(A * np.exp(1j * theta) + B * np.exp(1j * phi) - D)
    a, b, c = A * np.exp(1j * theta), B * np.exp(1j * phi), C * np.exp(1j * psi)
    p1, s1 = solve_rates(1j * b, -1j * c, -1j * a)
    p2, s2 = solve_rates(1j * b, -1j * c, a + b * p1 ** 2 - c * s1 ** 2)
    return (phi, p1, p2), (psi, s1, s2)


def linkage(theta):
    phi, psi = angles(theta)
    crank, pin = turned(A / 2, theta, 1.0, 0.0), turned(A, theta, 1.0, 0.0)
    coupler, rocker = pin + turned(B / 2, *phi), turned(C / 2, *psi) + np.array([D, 0, 0])
    inertia = lambda m, l: m * l * l / 12
    return [(MASS["crank"], inertia(MASS["crank"], A), crank, (theta, 1.0, 0.0)),
            (MASS["coupler"], inertia(MASS["coupler"], B), coupler, phi),
            (MASS["rocker"], inertia(MASS["rocker"], C), rocker, psi)]


if __name__ == "__main__":
    times = np.linspace(0, 10, 41)
    y, difference = integrate_twice(rates(linkage), [THETA0, OMEGA0], times)
    E = [energy(linkage, *s) for s in y]
    turn = time_between(linkage, E[0], 0, 2 * np.pi)
    rows = [angles(q) for q, _ in y]
    bodies = [linkage(q) for q, _ in y]
    store(
        "four-bar", "crank 0.4, coupler 0.9, rocker 0.7, ground 1.0; uniform bars of 1 kg/m; crank at 60° and 6 rad/s",
        dict(a=A, b=B, c=C, d=D, mass=MASS, theta0=THETA0, omega0=OMEGA0, g=9.81), times,
        {"theta.q0": y[:, 0], "theta.v0": y[:, 1], "psi.q0": [r[1][0] for r in rows], "psi.v0": [r[1][1] * v for r, v in zip(rows, y[:, 1])],
         "coupler.x": [b[1][2][0].real for b in bodies], "coupler.y": [b[1][2][0].imag for b in bodies]},
        dict(difference_from_second_method=difference, energy_drift=float(np.ptp(E) / E[0]),
             time_error_by_quadrature=float(time_between(linkage, E[0], THETA0, y[-1, 0]) - 10.0)),
        [(["theta.q0", "theta.v0", "psi.q0", "psi.v0", "coupler.x", "coupler.y"], [1.0, 10.0], 1e-8,
          "rtol 1e-12; the phase error of a turning linkage grows with the square of the time.")],
        [("energy.max_drift", 1e-9, "rtol 1e-12 per step."), ("loop_drift.position", 1e-10, "The engine's promise for closed loops."),
         ("loop_drift.velocity", 1e-10, "The engine's promise for closed loops.")],
        dict(period_of_full_turn=turn),
    )
