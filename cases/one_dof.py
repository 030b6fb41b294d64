"""Planar one-degree-of-freedom linkages from their kinematics, by Lagrange's equation.

A linkage is a function of its coordinate q that returns, per body, mass, inertia and the position of the centre of mass
(complex number x + iy) and the angle, each with first and second derivatives with respect to q.  Then
    T = ½ J(q) q′²,   V = Σ m g y,   J q″ + ½ J′ q′² + V′ = Q.
"""
import numpy as np
from scipy.integrate import quad

from case import G


def reduced(bodies):
    """J, J′, V, V′ of a list of (m, I, (r, r′, r″), (φ, φ′, φ″))."""
    J = sum(m * abs(r[1]) ** 2 + i * p[1] ** 2 for m, i, r, p in bodies)
    dJ = sum(2 * m * (r[1].conjugate() * r[2]).real + 2 * i * p[1] * p[2] for m, i, r, p in bodies)
    V = sum(m * G * r[0].imag for m, i, r, p in bodies)
    dV = sum(m * G * r[1].imag for m, i, r, p in bodies)
    return J, dJ, V, dV


def rates(linkage, force=lambda q, v: 0.0):
    """Right-hand side of (q, q′)."""
    def f(t, y):
        J, dJ, _, dV = reduced(linkage(y[0]))
        return [y[1], (force(*y) - dV - 0.5 * dJ * y[1] ** 2) / J]
    return f


def energy(linkage, q, v):
    J, _, V, _ = reduced(linkage(q))
    return 0.5 * J * v * v + V


def time_between(linkage, E, a, b):
    """Time to go from coordinate a to b at energy E without stopping, by quadrature of dq / q′."""
    def slowness(q):
        J, _, V, _ = reduced(linkage(q))
        return np.sqrt(J / (2 * (E - V)))
    cuts = np.linspace(a, b, max(2, int(abs(b - a)) + 2))
    return sum(quad(slowness, p, q, epsabs=0, epsrel=2e-14)[0] for p, q in zip(cuts, cuts[1:]))


def turned(length, angle, d1, d2):
    """Vector of fixed length at an angle with derivatives d1, d2: itself and two derivatives."""
    e = length * np.exp(1j * angle)
    return np.array([e, 1j * d1 * e, (1j * d2 - d1 * d1) * e])


def solve_rates(p, q, rhs):
    """Real a, b with p a + q b = rhs for complex p, q."""
    det = (p.conjugate() * q).imag
    return (rhs.conjugate() * q).imag / det, (p.conjugate() * rhs).imag / det
