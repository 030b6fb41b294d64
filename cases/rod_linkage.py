"""A crank about the vertical, a slider on the vertical that hangs on a rod, and a rocker behind a link: one coordinate θ.

The rod of length L from the pin a e^{iθ} to the slider's line at d: z = −√(L² − |a e^{iθ} − d|²).  The link closes
a e^{iθ} + b e^{iφ} = D + c e^{iψ} as in `four_bar.py`.  Kinetic energy ½ M(θ) θ′², potential energy m g z; θ″ from Lagrange's
equation by DOP853.  Forces of rod and link from the slider's and the rocker's own equations; along its axis the link
carries the rocker's weight.  The time to reach the final angle is computed again by quadrature of energy conservation.
"""
import numpy as np
from scipy.integrate import quad

from case import G, integrate_twice, store

A, B, C, D, LENGTH, LINE = 0.4, 0.9, 0.7, 1.0, 1.0, 0.3
CRANK, SLIDER, ROCKER, WEIGHT = 0.05, 0.6, 0.01 + 0.5 * C * C, 0.5
THETA0, OMEGA0 = np.pi / 3, 6.0


def slider(theta):
    """Height with two derivatives."""
    u, u1, u2 = A * A + LINE * LINE - 2 * A * LINE * np.cos(theta), 2 * A * LINE * np.sin(theta), 2 * A * LINE * np.cos(theta)
    s = np.sqrt(LENGTH ** 2 - u)
    return -s, u1 / (2 * s), u2 / (2 * s) + u1 * u1 / (4 * s ** 3)


def rocker(theta):
    """Its angle with two derivatives, and the direction of the link; the link's far end is above the line to the rocker's axis."""
    s = D - A * np.exp(1j * theta)
    k = (B * B - C * C + abs(s) ** 2) / (2 * abs(s))
    link = (k + 1j * np.sqrt(B * B - k * k)) * s / abs(s)
    arm = A * np.exp(1j * theta) + link - D
    pin = A * np.exp(1j * theta)

    def rates(right):                                                    # i link x − i arm y = right, both parts
        return np.linalg.solve(np.array([[(1j * link).real, (-1j * arm).real], [(1j * link).imag, (-1j * arm).imag]]), [right.real, right.imag])
    p1, y1 = rates(-1j * pin)
    _, y2 = rates(pin + link * p1 ** 2 - arm * y1 ** 2)
    return np.angle(arm), y1, y2, link / B, arm


def inertia(theta):
    (_, z1, z2), (_, y1, y2, *_) = slider(theta), rocker(theta)
    return CRANK + SLIDER * z1 * z1 + ROCKER * y1 * y1, 2 * (SLIDER * z1 * z2 + ROCKER * y1 * y2)


def rates(t, y):
    m, m1 = inertia(y[0])
    return [y[1], -(0.5 * m1 * y[1] ** 2 + SLIDER * G * slider(y[0])[1]) / m]


def energy(theta, omega):
    return 0.5 * inertia(theta)[0] * omega ** 2 + SLIDER * G * slider(theta)[0]


def row(theta, omega):
    """Everything that is compared, at one state."""
    acc = rates(0, [theta, omega])[1]
    (z, z1, z2), (psi, y1, y2, e, arm) = slider(theta), rocker(theta)
    z_acc, psi_acc = z1 * acc + z2 * omega ** 2, y1 * acc + y2 * omega ** 2
    rod = SLIDER * (z_acc + G) / (z / LENGTH)                            # positive where it pushes
    link = ROCKER * psi_acc / (arm.real * e.imag - arm.imag * e.real)
    return [theta, omega, z, z1 * omega, psi, y1 * omega, rod, WEIGHT * G, link]


if __name__ == "__main__":
    times = np.linspace(0, 10, 41)
    y, difference = integrate_twice(rates, [THETA0, OMEGA0], times)
    E = [energy(*s) for s in y]
    time = quad(lambda x: 1 / np.sqrt(2 * (E[0] - SLIDER * G * slider(x)[0]) / inertia(x)[0]), THETA0, y[-1, 0], limit=2000, epsabs=1e-12, epsrel=1e-12)[0]
    names = ["crank.q0", "crank.v0", "slide.q0", "slide.v0", "rocker.q0", "rocker.v0", "rod.force0", "link.force0", "link.force1"]
    table = np.array([row(*s) for s in y])
    store(
        "rod-linkage", "crank 0.4 m at 60° and 6 rad/s, rod 1 m to a slider of 0.6 kg, link 0.9 m to a rocker of 0.7 m",
        dict(a=A, b=B, c=C, d=D, rod=LENGTH, line=LINE, theta0=THETA0, omega0=OMEGA0, g=G), times,
        dict(zip(names, table.T)),
        dict(difference_from_second_method=difference, energy_drift=float(np.ptp(E) / abs(E[0])), time_error_by_quadrature=float(time - 10.0)),
        [(names, [1.0, 10.0], 1e-8, "rtol 1e-12; the phase error of a turning linkage grows with the square of the time.")],
        [("energy.max_drift", 1e-9, "rtol 1e-12 per step."), ("loop_drift.position", 1e-13, "Couplings are closed to rounding at every stage."),
         ("loop_drift.velocity", 1e-12, "Couplings are closed to rounding at every stage.")])
