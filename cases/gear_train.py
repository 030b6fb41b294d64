"""A gear train whose second stage engages at 0.75 s and is released at 2.5 s.

All accelerations are constant between events, so everything is a formula.  Relations C v = 0 between speeds v with masses
M and forces f: M a = f + Cᵀ λ, C a = 0.  At an event M (v⁺ − v⁻) = Cᵀ Λ, C v⁺ = 0.  Done a second time in one
coordinate per free train, with reflected inertias.
"""
import numpy as np

from case import G, store

M = np.diag([0.02, 0.15, 0.8, 12.0])                     # motor, layshaft, drum, load
F = np.array([4.5, 0, 0, -12.0 * G])
FIRST, SECOND, WINDING = [20, 50, 0, 0], [0, 15, 60, 0], [0, 0, 0.2, -1]
CLUTCH, DECLUTCH, END = 0.75, 2.5, 4.0
JOINTS, COUPLINGS = ["motor", "layshaft", "drum", "rope"], ["first", "second", "winding"]


def constrained(rows, f):
    """M x = f + Cᵀ λ with C x = 0: x and λ."""
    C = np.array(rows, float)
    free = np.linalg.solve(M, f)
    lam = -np.linalg.solve(C @ np.linalg.solve(M, C.T), C @ free)
    return free + np.linalg.solve(M, C.T @ lam), lam


def by_trains(engaged):
    """Accelerations with one coordinate per train: the motor's angle, and the drum's where it is not geared to it."""
    lay, drum = -20 / 50, (-20 / 50) * (-15 / 60)
    m1, m2 = 0.02 + lay ** 2 * 0.15, 0.8 + 0.2 ** 2 * 12.0
    f1, f2 = 4.5, -0.2 * 12.0 * G
    if engaged:
        a = (f1 + drum * f2) / (m1 + drum ** 2 * m2)
        return np.array([a, lay * a, drum * a, 0.2 * drum * a])
    a, b = f1 / m1, f2 / m2
    return np.array([a, lay * a, b, 0.2 * b])


if __name__ == "__main__":
    apart, together = [FIRST, WINDING], [FIRST, SECOND, WINDING]
    a0, l0 = constrained(apart, F)
    a1, l1 = constrained(together, F)
    difference = max(abs(a0 - by_trains(False)).max(), abs(a1 - by_trains(True)).max())
    v_before = a0 * CLUTCH
    q_clutch = 0.5 * a0 * CLUTCH ** 2
    v_after, impulse = constrained(together, M @ v_before)
    v_release = v_after + a1 * (DECLUTCH - CLUTCH)
    q_release = q_clutch + v_after * (DECLUTCH - CLUTCH) + 0.5 * a1 * (DECLUTCH - CLUTCH) ** 2

    def at(t):
        if t < CLUTCH:
            return 0.5 * a0 * t * t, a0 * t
        s, q, v, a = (t - CLUTCH, q_clutch, v_after, a1) if t < DECLUTCH else (t - DECLUTCH, q_release, v_release, a0)
        return q + v * s + 0.5 * a * s * s, v + a * s
    times = [0.5, 2.0, END]
    columns = {f"{name}.{x}0": [at(t)[i][k] for t in times] for k, name in enumerate(JOINTS) for i, x in enumerate("qv")}
    forces = [[l0[0], np.nan, l0[1]], list(l1), [l0[0], np.nan, l0[1]]]
    columns |= {f"{name}.force0": [row[k] for row in forces] for k, name in enumerate(COUPLINGS)}
    energy = lambda v: 0.5 * v @ M @ v
    names = [f"{j}.{x}0" for j in JOINTS for x in "qv"]
    forced = [f"{c}.force0" for c in COUPLINGS]
    entries = {"time": CLUTCH, "kinetic_energy.before": energy(v_before), "kinetic_energy.after": energy(v_after),
               "dissipated": energy(v_before) - energy(v_after)}
    for k, j in enumerate(JOINTS):
        entries |= {f"velocity_before.{j}.0": v_before[k], f"velocity_after.{j}.0": v_after[k]}
    entries |= {f"coupling_impulses.{c}.0": x for c, x in zip(COUPLINGS, impulse)}
    columns = {c: [0.0 if np.isnan(x) else x for x in v] for c, v in columns.items()}
    store(
        "gear-train", "motor 4.5 N m, gears 20:50 and 15:60, drum of 0.2 m with 12 kg on a rope; the second stage acts from 0.75 s to 2.5 s",
        dict(mass=list(np.diag(M)), first=FIRST, second=SECOND, winding=WINDING, g=G), times, columns,
        dict(difference_from_reflected_inertias=float(difference),
             jump_energy_difference=float(energy(v_before) - energy(v_after) - energy(v_after - v_before))),
        [(names + [f for f in forced if f != "second.force0"], [0.5, END], 1e-10, "Constant accelerations; rounding of sums over a few dozen steps."),
         (names + forced, [2.0], 1e-10, "Constant accelerations; rounding of sums over a few dozen steps.")],
        [("energy.max_drift", 1e-12, "Quadratic motion, which the integrator follows exactly.")],
        None,
        [("clutch", 0, entries, 1e-10, "The motion before the event is exact; the jump is exact to rounding.")],
        [("clutch", 1, [("dissipated", "kinetic_energy.of_jump")], 1e-11, "Carnot: what is held is at rest."),
         ("declutch", 1, [("kinetic_energy.before", "kinetic_energy.after")], 1e-14, "A release changes no velocity.")])
