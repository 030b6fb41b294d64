"""Four falling steel bars; the joint between the second and the third locks at 0.71768 s [mukherjee2007, example].

See `bars.py`.  The lock is the condition θ₃′ = θ₂′.
"""
import numpy as np

from bars import *
from case import store

EVENT, END = 0.71768, 1.5


def locked(th, w):
    return np.array([[0.0, -1.0, 1.0, 0.0]]), np.zeros(1)


def extra(n):
    row = np.zeros(3 * N)
    row[5], row[8] = -1, 1
    return [row]


if __name__ == "__main__":
    y0 = np.concatenate([START, np.zeros(N)])
    y1 = advance(none, y0, (0, EVENT))
    th, w = y1[:N], y1[N:]
    after, lam = jump(th, w, locked)
    hinges, left = hinge_impulses(th, w, after, [0, 0], [0, -lam[0], lam[0], 0])
    V, full = maximal(th, w, extra)
    end = advance(locked, np.concatenate([th, after]), (EVENT, END))
    other = advance(locked, np.concatenate([th, after]), (EVENT, END), "Radau", 1e-12)
    # The joint is rigid from now on; a second run from a start integrated less finely shows what the first leg is good for.
    coarse = advance(none, y0, (0, EVENT), rtol=1e-12)
    before, later = energies(th, w), energies(th, after)
    event = dict(
        time=EVENT, angles=list(RELATIVE @ th), speeds_before=list(RELATIVE @ w), speeds_after=list(RELATIVE @ after),
        lock_moment=float(lam[0]), hinge_impulses=[list(h) for h in hinges],
        kinetic_before=before[0], kinetic_after=later[0],
        momenta_before=list(np.linalg.solve(RELATIVE.T, mass(th) @ w)), momenta_after=list(np.linalg.solve(RELATIVE.T, mass(th) @ after)))
    final = dict(time=END, angles=list(RELATIVE @ end[:N]), speeds=list(RELATIVE @ end[N:]))
    names = [f"j{k}.{x}0" for x in "qv" for k in range(1, 5)]
    columns = dict(zip(names, np.array([np.concatenate([RELATIVE @ end[:N], RELATIVE @ end[N:]])]).T))
    store(
        "joint-lock", "four steel bars fall; the joint between the second and the third locks at 0.71768 s",
        dict(bars=N, length=L, mass=MASS, moment=I, g=G, start=list(RELATIVE @ START)), [END], columns,
        dict(difference_minimal_maximal=float(max(abs(V[2::3] - after).max(), abs(full[:8].reshape(4, 2) - hinges).max(), abs(full[8] - lam[0]))),
             moment_balance_left=float(left), difference_from_Radau=float(abs(other - end).max()),
             difference_from_rtol_1e_12=float(abs(coarse - y1).max())),
        [(names, [END], 1e-7, "rtol 1e-11; the jump is exact, the falling chain amplifies errors about a hundredfold.")],
        [("energy.max_drift", 1e-9, "rtol 1e-11 per step; what the lock takes away is accounted for.")],
        dict(event=event, final=final),
        [("lock-j3", 0, entries(event) | {"velocity_after.j3.0": 0.0, "impulses.j3.2": event["lock_moment"]}, 1e-8,
          "The motion before the event at rtol 1e-11; the jump itself is exact to rounding.")],
        [("lock-j3", 1, [("dissipated", "kinetic_energy.of_jump")] + [(f"generalised_momentum_before.j{k}", f"generalised_momentum_after.j{k}") for k in (1, 2, 4)],
          1e-12, "Carnot; momenta conjugate to speeds that stay free are conserved.")])
