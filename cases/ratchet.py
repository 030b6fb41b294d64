"""A ratchet jack: m z″ = F sin Ω t − m g while the pawl is out, z constant while it is in.

Out at t₁, where F sin Ω t₁ − m g = the pull at which the pawl lets go; then z′ = (F / m Ω)(cos Ω t₁ − cos Ω t) − g (t − t₁),
and in again where that is zero.  Roots and values in 30 digits.
"""
from mpmath import asin, cos, findroot, mp, mpf, pi, sin

from case import store

mp.dps = 30
MASS, FORCE, PULL, GRAVITY = mpf(2), mpf(45), mpf("0.5"), mpf("9.81")
OMEGA = mpf(6.283185307179586)
END = 4

OUT = asin((MASS * GRAVITY + PULL) / FORCE) / OMEGA                      # the first time


def speed(t, out):
    return FORCE / (MASS * OMEGA) * (cos(OMEGA * out) - cos(OMEGA * t)) - GRAVITY * (t - out)


def rise(t, out):
    s = t - out
    return FORCE / (MASS * OMEGA) * (s * cos(OMEGA * out) - (sin(OMEGA * t) - sin(OMEGA * out)) / OMEGA) - GRAVITY * s * s / 2


def stroke(k):
    out = OUT + k * 2 * pi / OMEGA
    return out, findroot(lambda t: speed(t, out), out + mpf("0.55"))


strokes = [stroke(k) for k in range(END)]


def at(t):
    z = mpf(0)
    for out, caught in strokes:
        if t <= out:
            return z, mpf(0)
        if t < caught:
            return z + rise(t, out), speed(t, out)
        z += rise(caught, out)
    return z, mpf(0)


times = [mpf(k) / 4 for k in range(4 * END + 1)]
z, v = zip(*(at(t) for t in times))
reason = "Roots of closed formulas; the engine finds them to the accuracy of its motion, rtol 1e-12."
events = [("let-go", k, {"time": out}, 1e-11, reason) for k, (out, _) in enumerate(strokes)]
events += [("catch", k + 1, {"time": caught, "velocity_after.rack.0": 0.0}, 1e-11, reason) for k, (_, caught) in enumerate(strokes)]
store(
    "ratchet", "weight lifted by a swinging force, kept by a pawl",
    dict(mass=2.0, force=45.0, pull=0.5, omega=float(OMEGA), g=9.81),
    times, {"rack.q0": z, "rack.v0": v}, dict(formula="exact, 30 digits"),
    [(["rack.q0", "rack.v0"], [0.25, 0.5, 1.0, 4.0], 1e-11, "rtol 1e-12, errors of four strokes added.")],
    [("energy.max_drift", 1e-11, "rtol 1e-12; the pawl does no work.")],
    dict(stroke=float(rise(strokes[0][1], OUT))),
    events, [("catch", 5, [], 0.0, "At the start, and once in every period."), ("let-go", 4, [], 0.0, "Once in every period.")],
)
