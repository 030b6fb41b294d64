"""Four falling steel bars; the tip is pinned where it is at 0.7 s, and the chain becomes a loop [mukherjee2007, example].

See `bars.py`.  The pin is the condition that the tip's velocity vanishes, two rows.
"""
import numpy as np

from bars import *
from case import store

EVENT, END = 0.7, 1.5


def pinned(th, w):
    return L * np.array([-np.sin(th), np.cos(th)]), -L * np.array([np.cos(th), np.sin(th)]) @ w ** 2


def extra(n):
    rows = np.zeros((2, 3 * N))
    for axis in range(2):
        rows[axis, 9 + axis], rows[axis, 11] = 1, n[3][axis] * L / 2
    return list(rows)


def tip(th):
    return L * np.array([np.cos(th).sum(), np.sin(th).sum()])


if __name__ == "__main__":
    y0 = np.concatenate([START, np.zeros(N)])
    y1 = advance(none, y0, (0, EVENT))
    th, w = y1[:N], y1[N:]
    after, lam = jump(th, w, pinned)
    hinges, left = hinge_impulses(th, w, after, lam, [0, 0, 0, 0])
    V, full = maximal(th, w, extra)
    end = advance(pinned, np.concatenate([th, after]), (EVENT, END))
    other = advance(pinned, np.concatenate([th, after]), (EVENT, END), "Radau", 1e-12)
    coarse = advance(none, y0, (0, EVENT), rtol=1e-12)
    before, later = energies(th, w), energies(th, after)
    event = dict(
        time=EVENT, angles=list(RELATIVE @ th), speeds_before=list(RELATIVE @ w), speeds_after=list(RELATIVE @ after),
        pin_impulse=list(lam), hinge_impulses=[list(h) for h in hinges], tip=list(tip(th)),
        kinetic_before=before[0], kinetic_after=later[0])
    final = dict(time=END, angles=list(RELATIVE @ end[:N]), speeds=list(RELATIVE @ end[N:]))
    names = [f"j{k}.{x}0" for x in "qv" for k in range(1, 5)]
    columns = dict(zip(names, np.array([np.concatenate([RELATIVE @ end[:N], RELATIVE @ end[N:]])]).T))
    store(
        "tip-pinned", "four steel bars fall; the tip is pinned where it is at 0.7 s",
        dict(bars=N, length=L, mass=MASS, moment=I, g=G, start=list(RELATIVE @ START)), [END], columns,
        dict(difference_minimal_maximal=float(max(abs(V[2::3] - after).max(), abs(full[:8].reshape(4, 2) - hinges).max(), abs(full[8:] - lam).max())),
             moment_balance_left=float(left), difference_from_Radau=float(abs(other - end).max()),
             difference_from_rtol_1e_12=float(abs(coarse - y1).max()), pin_drift=float(abs(tip(end[:N]) - tip(th)).max())),
        [(names, [END], 1e-7, "rtol 1e-11; the jump is exact, the linkage amplifies errors about a hundredfold.")],
        [("energy.max_drift", 1e-9, "rtol 1e-11 per step; what the pin takes away is accounted for."),
         ("loop_drift.position", 1e-10, "The engine's promise for closed loops.")],
        dict(event=event, final=final),
        [("pin-the-tip", 0, entries(event) | {f"impulses.tip.{3 + axis}": lam[axis] for axis in (0, 1)}, 1e-8,
          "The motion before the event at rtol 1e-11; the jump itself is exact to rounding.")],
        [("pin-the-tip", 1, [("dissipated", "kinetic_energy.of_jump")], 1e-12, "Carnot: the energy lost is that of the jump.")])
