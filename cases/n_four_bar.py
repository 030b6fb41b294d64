"""N-four-bar mechanism on its parallelogram branch: a pendulum in disguise.

N windows, 2N + 1 uniform rods (m = 1, L = 1), N + 1 cranks A_i B_i and N couplers B_i B_{i+1}.  While all cranks stay
parallel the couplers only translate, so with θ the crank angle from upright, clockwise
    J θ″ = S m g L sin θ,   J = (N + 1)/3 + N,   S = (N + 1)/2 + N   (in units of m L² and m g L).
The branch goes straight through the singular positions (cranks horizontal, all rods in line).  With enough energy the
cranks turn for ever: θ(t) in Jacobi's amplitude, evaluated in 30 digits, confirmed by DOP853.
"""
import numpy as np
from mpmath import cos, ellipf, ellipfun, ellipk, findroot, mp, mpf, pi, sin, sqrt

from case import integrate, store

mp.dps = 30
GRAVITY = mpf("9.81")


class Pendulum:
    def __init__(self, n, omega0=mpf(1)):
        self.J, self.S = mpf(n + 1) / 3 + n, mpf(n + 1) / 2 + n
        self.a = self.S * GRAVITY / self.J                        # θ″ = a sin θ
        self.c = omega0 ** 2 + 2 * self.a                         # θ′² = c − 2 a cos θ
        # with θ = π + 2α: α′² = w² (1 − m sin² α)
        self.w, self.m = sqrt(self.c + 2 * self.a) / 2, 4 * self.a / (self.c + 2 * self.a)
        self.quarter = ellipk(self.m) / self.w
        self.period = 2 * self.quarter                            # α grows by π in a full turn
        self.energy = self.J * omega0 ** 2 / 2 + self.S * GRAVITY

    def at(self, t):
        """θ and θ′."""
        turns = mp.floor(t / self.period)
        u = self.w * (t - turns * self.period - self.quarter)     # α = −π/2 at the start of a turn
        alpha = mp.atan2(ellipfun("sn")(u, m=self.m), ellipfun("cn")(u, m=self.m))
        return pi + 2 * alpha + 2 * pi * turns, 2 * self.w * ellipfun("dn")(u, m=self.m)

    def time_of(self, theta):
        return self.quarter + ellipf((theta - pi) / 2, self.m) / self.w


def answer(n):
    p = Pendulum(n)
    theta, omega = p.at(mpf(10))
    singular = sorted(float(p.time_of(pi * (2 * k + 1) / 2)) for k in range(12))
    return dict(N=n, J=float(p.J), S=float(p.S), energy=float(p.energy), period_of_full_turn=float(p.period),
                theta_10=float(theta), omega_10=float(omega), B0_10=[float(sin(theta)), float(cos(theta))],
                singular_times=[t for t in singular if t < 10])


if __name__ == "__main__":
    p = Pendulum(10)
    times = [mpf(k) / 4 for k in range(41)]
    q, v = zip(*(p.at(t) for t in times))
    a = float(p.a)
    y = integrate(lambda t, y: [y[1], a * np.sin(y[0])], [0.0, 1.0], [float(t) for t in times])
    difference = float(max(max(abs(float(b) - c[0]), abs(float(d) - c[1])) for b, d, c in zip(q, v, y)))
    store(
        "n-four-bar", "N = 10 windows on the parallelogram branch; upright at the start, B0 moving with +1 m/s in x",
        dict(N=10, m=1.0, L=1.0, g=9.81), times,
        {"theta0.q0": q, "theta0.v0": v, "theta5.q0": q, "theta10.q0": q, "crank0.x": [sin(t) / 2 for t in q], "crank0.y": [cos(t) / 2 for t in q],
         "coupler9.x": [sin(t) + 9.5 for t in q], "coupler9.y": [cos(t) for t in q]},
        dict(formula="exact on the stated branch, 30 digits", difference_from_DOP853=difference),
        [(["theta0.q0", "theta0.v0", "theta5.q0", "theta10.q0", "crank0.x", "crank0.y", "coupler9.x", "coupler9.y"], [0.5, 10.0], 1e-6,
          "rtol 1e-11; the phase error of a turning pendulum grows with the square of the time, and ten singular positions each add some.")],
        [("energy.max_drift", 1e-6, "What the benchmark asks for through ten singular positions."),
         ("loop_drift.position", 1e-10, "The engine's promise for closed loops.")],
        dict(runs=[answer(n) for n in (1, 2, 10, 40)]),
    )
