"""Motions that events interrupt, in world coordinates: the mechanisms of `maximal.py` with constraints that come and go.

Between events Newton–Euler equations with multipliers (`maximal.py`).  At an event the impulse–momentum equations
M Δu = Jᵀ λ, J (u + Δu) = 0 for all constraints that are there after it, by least squares.  The time at which a quantity
passes a threshold is found on the integrator's interpolant and refined by integrating up to it again.  No recursion, no
joint coordinates, no spanning tree: nothing has to be renumbered when a joint comes or goes.
"""
import tomllib

import numpy as np
from scipy.integrate import solve_ivp

from case import SCENES, rotation
from maximal import Joint, Mechanism, conjugate, product


class Motion(Mechanism):
    """A mechanism, its time and its state, and what has happened."""

    def __init__(self, name, method="DOP853", rtol=1e-12, atol=1e-14):
        super().__init__(tomllib.loads((SCENES / name / "scene.toml").read_text()))
        self.t, self.y, self.options = 0.0, self.y0.copy(), dict(method=method, rtol=rtol, atol=atol)
        self.happened, self.seen, self.turns, self.wanted = [], {}, {}, set()

    def integrate(self, until, **options):
        """From here to a time. Turns of springs are counted from here, however often this is called."""
        for j in self.joints:
            j.angle = self.turns.setdefault(j.name, j.angle)
        s = solve_ivp(self.rates, (self.t, until), self.y, **self.options, **options)
        assert s.success, s.message
        return s

    def go(self, until):
        """Moves to a time; sampled times are remembered on the way."""
        if until > self.t:
            at = sorted({t for t in self.wanted if self.t < t <= until} | {until})
            ys = self.integrate(until, t_eval=at).y
            self.seen.update({t: y for t, y in zip(at, ys.T) if t in self.wanted})
            self.t, self.y = until, ys[:, -1]
            self.rates(until, self.y)
            self.turns = {j.name: j.angle for j in self.joints}

    def go_until(self, quantity, latest):
        """Moves to where the quantity of a state passes zero."""
        s = self.integrate(latest, dense_output=True, events=[self.stop_at(quantity)])
        near = s.t_events[0][0]

        def value(t):
            return quantity(self.integrate(t).y[:, -1])
        d = 1e-7
        for _ in range(3):                                               # Newton, with the slope of the interpolant
            slope = (quantity(s.sol(near + d)) - quantity(s.sol(near - d))) / (2 * d)
            near = near - value(near) / slope
        self.go(near)
        return near

    @staticmethod
    def stop_at(quantity):
        def event(t, y):
            return quantity(y)
        event.terminal = True
        return event

    def inverse_inertia(self, y):
        n = len(self.bodies)
        inverse, mass = np.zeros((6 * n, 6 * n)), np.zeros((6 * n, 6 * n))
        for k in range(n):
            R = rotation(y[13 * k + 3:13 * k + 7])
            a, b = slice(6 * k, 6 * k + 3), slice(6 * k + 3, 6 * k + 6)
            inverse[a, a], mass[a, a] = np.eye(3) / self.mass[k], np.eye(3) * self.mass[k]
            inverse[b, b], mass[b, b] = R @ np.linalg.inv(self.inertia[k]) @ R.T, R @ self.inertia[k] @ R.T
        return inverse, mass

    def jump(self, name, struck=None):
        """Velocities after all constraints that are there now, and a blow: (body, force impulse at the centre of mass)."""
        x, qs, v, w = self.split(self.y)
        u = np.concatenate([v, w], axis=1).ravel()
        inverse, mass = self.inverse_inertia(self.y)
        new = u.copy()
        if struck:
            k = self.index[struck[0]]
            new[6 * k:6 * k + 3] += np.array(struck[1]) / self.mass[k]
        _, J, _ = self.constraints(x, qs, v, w)
        impulses = {}
        if len(J):
            lam = -np.linalg.lstsq(J @ inverse @ J.T, J @ new, rcond=1e-11)[0]
            new = new + inverse @ J.T @ lam
            for (joint, e_rot, e_lin), size in zip(self.owners, lam):
                impulses[joint] = impulses.get(joint, 0) + size * np.concatenate([e_rot, e_lin])
        du = new - u
        self.happened.append(dict(
            name=name, time=self.t, before=0.5 * u @ mass @ u, after=0.5 * new @ mass @ new, of_jump=0.5 * du @ mass @ du,
            impulses=impulses, momentum=self.momentum(new, x, mass)))
        for k in range(len(self.bodies)):
            self.y[13 * k + 7:13 * k + 13] = new[6 * k:6 * k + 6]
        if self.t in self.wanted:
            self.seen[self.t] = self.y.copy()

    def momentum(self, u, x, mass):
        p = (mass @ u).reshape(-1, 6)
        return np.concatenate([p[:, :3].sum(0), (p[:, 3:] + np.cross(x, p[:, :3])).sum(0)])

    def joint(self, name):
        return next(j for j in self.joints if j.name == name)

    def lock(self, name):
        """Keeps a revolute joint from turning."""
        j = self.joint(name)
        self.locks.append((j, rotation(j.frames[0][1]) @ j.axis, j.p))

    def unlock(self, name):
        self.locks = [lock for lock in self.locks if lock[0].name != name]

    def release(self, name):
        self.unlock(name)
        self.joints = [j for j in self.joints if j.name != name]

    def attach(self, name):
        """A joint whose frame on the child is left out: it is made where the parent's is."""
        j = Joint(self.scene, next(j for j in self.scene["joint"] if j["name"] == name))
        x, qs, _, _ = self.split(self.y)
        p, R, a = self.frame(j, 0, x, qs)
        q = product(qs[a], j.frames[0][1]) if a >= 0 else j.frames[0][1]
        k = self.index[j.c]
        j.frames[1] = (rotation(qs[k]).T @ (p - x[k]) + self.com[k], product(conjugate(qs[k]), q))
        self.joints.append(j)

    def place(self, body, point, y):
        k = self.index[body]
        return y[13 * k:13 * k + 3] + rotation(y[13 * k + 3:13 * k + 7]) @ (np.array(point) - self.com[k])

    def force(self, name, y):
        """Size of the force that a joint transmits."""
        x, qs, v, w = self.split(y)
        qs = qs / np.linalg.norm(qs, axis=1)[:, None]
        inverse, _ = self.inverse_inertia(y)
        _, J, bias = self.constraints(x, qs, v, w)
        lam = -np.linalg.lstsq(J @ inverse @ J.T, J @ (inverse @ self.loads(x, qs, v, w)) + bias, rcond=1e-11)[0]
        total = sum(size * e_lin for (joint, _, e_lin), size in zip(self.owners, lam) if joint == name)
        return np.linalg.norm(total)

    def closure(self):
        """Largest gap of the joints: how far constraints on accelerations let them drift."""
        x, qs, v, w = self.split(self.y)
        res, *_ = self.constraints(x, qs, v, w)
        return float(np.abs(res).max()) if len(res) else 0.0


def twice(story, name, wanted, **other):
    """Tells a story by two integration methods: the first one's motion, and the largest differences of states and events."""
    runs = []
    for options in ({}, dict(method="LSODA", rtol=1e-12, atol=1e-13) | other):
        m = Motion(name, **options)
        m.wanted = set(wanted)
        story(m)
        runs.append(m)
    a, b = runs
    states = max(np.abs(a.seen[t] - b.seen[t]).max() for t in wanted)
    times = max(abs(p["time"] - q["time"]) for p, q in zip(a.happened, b.happened))
    return a, dict(difference_from_LSODA=float(states), event_times=float(times), closure=a.closure())
