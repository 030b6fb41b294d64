"""Points, discs and plates that slide and spin to rest under a limit surface, in closed form.

A body on a plane has velocities v = (v_t, v_o, w) and inertias M = (m, m, I). Its friction is c = -mu N E^2 v / sqrt(v E^2 v), E = diag(e). With the
parameter s, ds = dt / sqrt(v E^2 v), velocities are v_i = v_i0 exp(-a_i s), a_i = mu N e_i^2 / M_i; times and ways are integrals over s.
A box of half-spaces stops each velocity by itself: v_i^2 M_i / (2 mu N e_i).

Writes spinning_disc.json, anisotropic_slide.json and square_patch.json; needs nothing but Python.
"""

import json
import math
from pathlib import Path

G = 9.81
HERE = Path(__file__).parent


def integral(f, n=20001, reach=4.2):
    """Of f over s from 0 to infinity, by the double exponential substitution s = exp(pi/2 sinh x)."""
    h, total = 2 * reach / (n - 1), 0.0
    for k in range(n):
        x = -reach + k * h
        s = math.exp(math.pi / 2 * math.sinh(x))
        total += f(s) * s * math.pi / 2 * math.cosh(x) * h
    return total


def ellipsoid(mass, inertia, mu, e, v0):
    rates = [mu * mass * G * e_i**2 / m for e_i, m in zip(e, (mass, mass, inertia))]

    def v(i, s):
        return v0[i] * math.exp(-min(rates[i] * s, 700.0))

    def size(s):
        return math.sqrt(sum((e[i] * v(i, s)) ** 2 for i in range(3)))

    ways = [integral(lambda s: v(i, s) * size(s)) for i in range(3)]
    return {"stop_time": integral(size), "x": ways[0], "y": ways[1], "angle": ways[2]}


def box(mass, inertia, mu, e, v0):
    limits = [mu * mass * G * e_i for e_i in e]
    ways = [v * abs(v) * m / (2 * c) for v, m, c in zip(v0, (mass, mass, inertia), limits)]
    return {"stop_time": max(abs(v) * m / c for v, m, c in zip(v0, (mass, mass, inertia), limits)),
            "x": ways[0], "y": ways[1], "angle": ways[2]}


def write(name, rule, **parameters):
    answer = rule(**parameters)
    text = json.dumps({"parameters": parameters | {"gravity": G}, "answer": answer}, indent=1)
    (HERE / f"{name}.json").write_text(text + "\n")
    print(name, answer)


if __name__ == "__main__":
    write("spinning_disc", ellipsoid, mass=1.5, inertia=0.03, mu=0.3, e=[1, 1, 0.4 / 3], v0=[1.0, 0.5, 8.0])
    write("anisotropic_slide", ellipsoid, mass=1.0, inertia=1.0, mu=1.0, e=[0.4, 0.1, 0], v0=[1.0, 1.0, 0.0])
    # A square of side 0.4 that presses evenly: e_r = 0.382598 of its side.
    write("square_patch", box, mass=2.0, inertia=2 * 0.4**2 / 6, mu=0.3, e=[1, 1, 0.382598 * 0.4], v0=[1.0, -0.5, 3.0])
