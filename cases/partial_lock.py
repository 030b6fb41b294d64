"""A rod on a ball joint whose spin about its own axis is stopped for a while: Euler's equations in body axes.

I ω′ + ω × I ω = r × m Rᵀ g + λ e₃, with λ = 0, or such that ω₃ = 0 stays zero.  The inertia about the pivot is diagonal, so that the lock
takes away ω₃ and nothing else: impulse −I₃ ω₃, energy ½ I₃ ω₃².  DOP853 and LSODA.
"""
import numpy as np

from case import G, integrate, quaternion_rate, rotation, store

MASS, ARM = 1.0, np.array([0.0, 0.0, -0.5])
INERTIA = np.array([0.09, 0.11, 0.05]) + MASS * (ARM @ ARM - ARM * ARM)   # about the pivot
LOCK, UNLOCK, END = 0.5, 2.5, 3.0
Q0, W0 = np.array([0.9238795325112867, 0.3826834323650898, 0, 0]), np.array([0.5, 1.5, 6.0])


def rates(is_locked):
    def f(t, y):
        q, w = y[:4], y[4:]
        moment = np.cross(ARM, rotation(q / np.linalg.norm(q)).T @ [0, 0, -MASS * G]) - np.cross(w, INERTIA * w)
        turn = moment / INERTIA
        if is_locked:
            turn[2] = 0.0
        return np.concatenate([quaternion_rate(q, w), turn])
    return f


def tell(**options):
    """States at the sampled times, those at events after the jump."""
    y, rows, times = np.concatenate([Q0, W0]), [], []
    spin = None
    for start, end, is_locked in ((0.0, LOCK, False), (LOCK, UNLOCK, True), (UNLOCK, END, False)):
        if is_locked:
            spin, y[6] = y[6], 0.0
        at = np.round(np.arange(start, end + 0.125, 0.25), 12)
        part = integrate(rates(is_locked), y, at, **options)
        rows.extend(part[:-1] if end < END else part)
        times.extend(at[:-1] if end < END else at)
        y = part[-1].copy()
    return np.array(times), np.array(rows), spin


times, y, spin = tell()
_, z, other_spin = tell(method="LSODA", rtol=1e-12, atol=1e-14)
R = [rotation(q / np.linalg.norm(q)) for q in y[:, :4]]
columns = {f"ball.q{k}": y[:, k] for k in range(4)} | {f"ball.v{k}": y[:, 4 + k] for k in range(3)}
columns |= {f"tip.{c}": [(r @ (2 * ARM))[k] for r in R] for k, c in enumerate("xyz")}
checked = [f"tip.{c}" for c in "xyz"] + [f"ball.v{k}" for k in range(3)]
axis = R[int(np.argmin(abs(times - LOCK)))][:, 2]
impulse = {f"impulses.ball.{k}": -INERTIA[2] * spin * axis[k] for k in range(3)}
store(
    "partial-lock", "rod on a ball joint, spin about its axis locked from 0.5 to 2.5",
    dict(mass=MASS, arm=ARM.tolist(), inertia_about_pivot=INERTIA.tolist(), q0=Q0.tolist(), w0=W0.tolist(), lock=LOCK, unlock=UNLOCK, g=G),
    times, columns, dict(difference_from_LSODA=float(np.abs(y - z).max())),
    [(checked, [0.5, 1.5, 2.5, 3.0], 1e-9, "rtol 1e-12 over some 300 steps; the motion before the lock is fast."),
     (["ball.v2"], [0.5, 1.0, 1.5, 2.25], 1e-14, "The locked component of the speed is zero to rounding.")],
    [("energy.max_drift", 1e-10, "rtol 1e-12 per step; what the lock takes is counted as dissipated.")], None,
    [("stop-spin", 0, {"velocity_before.ball.2": spin, "velocity_after.ball.2": 0.0, "dissipated": 0.5 * INERTIA[2] * spin ** 2} | impulse,
      1e-9, "As accurate as the motion before the event.")],
    [("stop-spin", 1, [("dissipated", "kinetic_energy.of_jump")], 1e-12, "Carnot: the energy lost is that of the jump."),
     ("let-spin", 1, [("velocity_before.ball", "velocity_after.ball")], 1e-14, "Unlocking changes no velocity.")],
)
