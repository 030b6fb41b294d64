"""A spatial double pendulum that falls on a floor, slides, sticks and bounces [bhalerao2009, section 5], event by event.

Bodies A and B, a ball joint P2 between them, a point P1 of A above the plane z = 0.  Position of P1 and the quaternions of
both bodies; speeds u = (velocity of P1, ω_A and ω_B in body axes).  Newton–Euler projected on u: a 9 × 9 mass matrix, and
the force F at P1 acts on the first three speeds alone.  Three sets of equations:

    free    F = 0, until P1 reaches the floor
    slide   F = N (ẑ − μ v/|v|) with N from z″ = 0, until N = 0 or v = 0
    stick   F from v′ = 0, until |F_t| = μ N or N = 0

An impact is M Δu = (impulse, 0, 0) with v_z⁺ = −e v_z⁻; friction sticks if it can, else it opposes the slip after the impact (the
limit h → 0 of a step that is implicit in the contact velocity).  Where sliding stops the last 1e-8 m/s are extrapolated
(an error of 1e-16 m); where it starts the direction is that in which friction lets it start.  Times of events are roots on the integrator's interpolant.
A second run with another method and tighter steps gives the accuracy.
"""
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from case import G, quaternion_rate, rotation, store

L, M, I = 1.0, 1.0, np.diag([1.0, 2.0, 3.0])
P1A, P2A, P2B = np.array([0, 0, L / 2]), np.array([0, 0, -L / 2]), np.array([0, 0, L / 2])
REST = 1e-10                                        # approach speeds below this end a sequence of impacts
SLOW = 1e-8                                         # sliding slower than this is about to stop


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def system(y):
    """Mass matrix and forces on u without contact."""
    RA, RB = rotation(y[3:7]), rotation(y[7:11])
    wA, wB = y[14:17], y[17:20]
    # Centres of mass: a = P1 − RA P1A,  b = P1 + RA (P2A − P1A) − RB P2B, as Jacobians of u.
    ra, rj, rb = -P1A, P2A - P1A, -P2B
    Ja = np.hstack([np.eye(3), -RA @ skew(ra), np.zeros((3, 3))])
    Jb = np.hstack([np.eye(3), -RA @ skew(rj), -RB @ skew(rb)])
    turn = lambda R, w, r: R @ np.cross(w, np.cross(w, r))
    bias_a, bias_b = turn(RA, wA, ra), turn(RA, wA, rj) + turn(RB, wB, rb)
    mass = M * (Ja.T @ Ja + Jb.T @ Jb)
    mass[3:6, 3:6] += I
    mass[6:9, 6:9] += I
    weight = np.array([0, 0, -M * G])
    force = Ja.T @ (weight - M * bias_a) + Jb.T @ (weight - M * bias_b)
    force[3:6] -= np.cross(wA, I @ wA)
    force[6:9] -= np.cross(wB, I @ wB)
    return mass, force


def contact(y):
    """Acceleration of P1 without contact, its change per force, and what is needed for all accelerations."""
    mass, force = system(y)
    inverse = np.linalg.inv(mass)
    free = inverse @ force
    return free, inverse[:, :3]


def pressing(free, column, direction, mu):
    """Force of a sliding contact."""
    f = np.array([*(-mu * direction), 1.0])
    return -free[2] / (column[2] @ f) * f


def starting_direction(free, column, mu, guess):
    """The direction d in which P1 accelerates from rest when friction opposes d."""
    def across(angle):
        d = np.array([np.cos(angle), np.sin(angle)])
        a = (free + column @ pressing(free, column, d, mu))[:2]
        return a @ [-d[1], d[0]]
    # Onset is degenerate (a → 0): across is monotone near the guess because friction pushes back.
    middle = np.arctan2(guess[1], guess[0])
    width = 1e-6
    while across(middle - width) * across(middle + width) > 0:
        width *= 2
        if width > 3:
            raise ArithmeticError("no direction to slide in")
    angle = brentq(across, middle - width, middle + width, xtol=1e-15)
    return np.array([np.cos(angle), np.sin(angle)])


class Run:
    def __init__(self, q_a, q_b, p1, velocity, mu, e, end, method="DOP853", rtol=1e-12, atol=1e-14, max_step=0.02):
        self.mu, self.e, self.end = mu, e, end
        self.options = dict(method=method, rtol=rtol, atol=atol, max_step=max_step)
        qA, qB = quaternion(q_a), product(quaternion(q_a), quaternion(q_b))
        self.y, self.t = np.concatenate([p1, qA, qB, velocity, np.zeros(6)]), 0.0
        self.mode, self.direction = "free", None
        self.planar = q_a[0] == q_a[2] == q_b[0] == q_b[2] == velocity[1] == 0
        self.phases, self.events, self.pieces = [], [], []
        if p1[2] == 0.0 and velocity[2] == 0.0:
            self.touch()

    def force(self, y, mode=None):
        mode = mode or self.mode
        if mode == "free":
            return np.zeros(3)
        free, column = contact(y)
        if mode == "stick":
            return np.linalg.solve(column[:3], -free[:3])
        return pressing(free, column, self.slip_direction(y, free, column), self.mu)

    def slip_direction(self, y, free, column):
        speed = np.linalg.norm(y[11:13])
        if self.mode == "start":
            return starting_direction(free, column, self.mu, self.direction)
        return y[11:13] / speed if speed > 0 else self.direction if self.direction is not None else np.zeros(2)

    def rates(self, t, y):
        y = y.copy()
        y[3:7] /= np.linalg.norm(y[3:7])
        y[7:11] /= np.linalg.norm(y[7:11])
        free, column = contact(y)
        a = free + column @ self.force(y) if self.mode != "free" else free
        if self.mode in ("slide", "start"):
            a[2] = 0.0
        if self.mode == "stick":
            a[:3] = 0.0
        if self.planar:
            # Rounding across the plane, divided by a small speed of sliding, would make the equations stiff.
            a[[1, 3, 5, 6, 8]] = 0.0
        return np.concatenate([y[11:14], quaternion_rate(y[3:7], y[14:17]), quaternion_rate(y[7:11], y[17:20]), a])

    def watch(self):
        """What ends the present regime: (name, function of the state, direction of the crossing)."""
        if self.mode == "free":
            # A point that has just left the floor must first rise: watched from then on.
            return [("touch", lambda y: y[2], -1)]
        lift = ("lift", lambda y: self.force(y)[2], -1)
        if self.mode == "stick":
            def margin(y):
                f = self.force(y)
                return self.mu * f[2] - np.hypot(f[0], f[1])
            return [lift, ("slip", margin, -1)]
        # Slow and becoming slower; a contact that has just started to slide is slow, too, but becomes faster.
        return [lift] + ([("stop", lambda y: np.hypot(*y[11:13]) - SLOW, -1)] if self.mu > 0 else [])

    def advance(self, until, **options):
        events = []
        for _, function, direction in self.watch():
            event = lambda t, y, f=function: f(y)
            event.terminal, event.direction = True, direction
            events.append(event)
        if self.mode == "free" and self.y[13] > 0:
            # A short flight must not pass within one step.
            flight = 2 * self.y[13] / abs(self.rates(self.t, self.y)[13])
            options = dict(max_step=min(flight / 6, self.options["max_step"])) | options
        s = solve_ivp(self.rates, (self.t, until), self.y, events=events, dense_output=True, **(self.options | options))
        assert s.success, s.message
        self.pieces.append((self.t, s.t[-1], self.mode, s.sol, self.direction))
        self.phases.append(dict(t0=float(self.t), t1=float(s.t[-1]), mode="slide" if self.mode == "start" else self.mode))
        self.t, self.y = s.t[-1], s.y[:, -1]
        self.y[3:7] /= np.linalg.norm(self.y[3:7])
        self.y[7:11] /= np.linalg.norm(self.y[7:11])
        happened = [k for k, te in enumerate(s.t_events) if len(te)]
        return self.watch()[happened[0]][0] if happened else None

    def note(self, kind, **more):
        self.events.append(dict(t=float(self.t), kind=kind, **more))

    def touch(self):
        """The regime of a contact with v_z = 0."""
        self.y[2] = self.y[13] = 0.0
        free, column = contact(self.y)
        speed = np.hypot(*self.y[11:13])
        if speed > SLOW or self.mu == 0.0:
            direction = self.y[11:13] / speed if speed > 0 else np.zeros(2)
            self.mode = "slide" if pressing(free, column, direction, self.mu)[2] > 0 else "free"
            return
        self.y[11:14] = 0.0
        f = np.linalg.solve(column[:3], -free[:3])
        if f[2] > 0 and np.hypot(f[0], f[1]) <= self.mu * f[2]:
            self.mode = "stick"
        else:
            self.start(-f[:2])

    def start(self, against):
        """From rest: the first 10 µs with the direction in which friction lets it start, then a stiff method for a while."""
        self.direction = against / np.linalg.norm(against)
        self.mode = "start"
        if self.advance(min(self.t + 1e-5, self.end)) is not None:
            raise ArithmeticError("an event right after the start of sliding")
        self.mode, self.direction = "slide", None
        if not self.planar and self.t < self.end:
            self.settle(self.advance(min(self.t + 1e-3, self.end), method="Radau", rtol=1e-11, atol=1e-16, max_step=1e-4))

    def impact(self):
        y, before = self.y, self.y[11:14].copy()
        kinetic = lambda: 0.5 * self.y[11:] @ system(self.y)[0] @ self.y[11:]
        e = self.e if -before[2] > REST else 0.0
        k0 = kinetic()
        inverse = np.linalg.inv(system(y)[0])
        W, target = inverse[:3, :3], -e * before[2]
        p = np.linalg.solve(W, np.array([0, 0, target]) - before)
        mode = "stick"
        if np.hypot(p[0], p[1]) > self.mu * p[2]:
            mode, angle = "slide", np.arctan2(before[1], before[0])
            def slid(a):
                f = np.array([-self.mu * np.cos(a), -self.mu * np.sin(a), 1.0])
                return (target - before[2]) / (W[2] @ f) * f
            for _ in range(500):
                after = before + W @ slid(angle)
                if self.mu == 0.0:
                    break
                new = np.arctan2(after[1], after[0])
                if abs(new - angle) < 1e-15:
                    break
                angle = new
            p = slid(angle)
        self.y[11:] += inverse[:, :3] @ p
        self.y[2], self.y[13] = 0.0, target
        self.note("impact", mode=mode, v_before=list(before), v_after=list(self.y[11:14]), impulse=list(p), kinetic_before=k0, kinetic_after=kinetic())
        if e == 0.0:
            self.touch()
        else:
            self.mode = "free"

    def settle(self, happened):
        if happened == "touch":
            self.impact()
        elif happened == "lift":
            self.note("lift")
            self.mode = "free"
        elif happened == "slip":
            self.note("slip")
            self.start(-self.force(self.y)[:2])
        elif happened == "stop":
            rate = self.rates(self.t, self.y)
            d = self.y[11:13] / np.hypot(*self.y[11:13])
            dt = np.hypot(*self.y[11:13]) / -(rate[11:13] @ d)
            assert 0 < dt < 1e-6
            self.y, self.t = self.y + dt * rate, self.t + dt
            before = self.y[11:13].copy()
            inverse = np.linalg.inv(system(self.y)[0])
            self.y[11:] -= inverse[:, :3] @ np.linalg.solve(inverse[:3, :3], self.y[11:14])
            self.y[2] = 0.0
            self.note("stop", left=float(np.hypot(*before)))
            self.touch()

    def run(self):
        while self.t < self.end - 1e-15:
            self.settle(self.advance(self.end))
        return self

    def sample(self, times):
        out = []
        for t in times:
            t0, t1, mode, sol, direction = next(p for p in reversed(self.pieces) if p[0] <= t + 1e-13)
            self.mode, self.direction = mode, direction
            y = sol(min(max(t, t0), t1))
            y[3:7] /= np.linalg.norm(y[3:7])
            y[7:11] /= np.linalg.norm(y[7:11])
            out.append((y, self.force(y), mode))
        return out


def quaternion(angles):
    """Body-fixed x-y-z angles: R = Rx Ry Rz."""
    q = np.array([1.0, 0, 0, 0])
    for k, a in enumerate(angles):
        r = np.zeros(4)
        r[0], r[1 + k] = np.cos(a / 2), np.sin(a / 2)
        q = product(q, r)
    return q


def product(a, b):
    return np.array([a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


def columns(samples):
    """Named as in trajectory.csv."""
    table = {}
    put = lambda name, value: table.setdefault(name, []).append(float(value))
    for y, force, _ in samples:
        RA, RB = rotation(y[3:7]), rotation(y[7:11])
        wA, wB, v = RA @ y[14:17], RB @ y[17:20], y[11:14]
        a, va = y[:3] - RA @ P1A, v + np.cross(wA, -RA @ P1A)
        p2, v2 = a + RA @ P2A, va + np.cross(wA, RA @ P2A)
        b, vb = p2 - RB @ P2B, v2 + np.cross(wB, -RB @ P2B)
        for c, k in zip("xyz", range(3)):
            put(f"P1.{c}", y[k])
        for name, x, q, vel, w in (("A", a, y[3:7], va, wA), ("B", b, y[7:11], vb, wB)):
            for c, value in zip(("x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"), (*x, *q, *vel, *w)):
                put(f"{name}.{c}", value)
        for c, k in zip("xyz", range(3)):
            put(f"P1.v{c}", v[k])
        for c, k in zip("xyz", range(3)):
            put(f"force.{c}", force[k])
    return table


RUNS = {
    "falling-pendulum": dict(what="no friction, no restitution, from rest one metre above the floor [bhalerao2009, figure 7]",
                             q_a=(0, 2, 0), q_b=(2, 0, 0), p1=(0, 0, 1), velocity=(0, 0, 0), mu=0.0, e=0.0, end=3.0),
    "sliding-pendulum": dict(what="friction 0.2, thrown along the floor at 1 m/s in x and in y [bhalerao2009, figure 8]",
                             q_a=(0, 2, 0), q_b=(2, 0, 0), p1=(0, 0, 0), velocity=(1, 1, 0), mu=0.2, e=0.0, end=5.0),
    "planar-pendulum": dict(what="friction 0.2, in the plane y = 0, from rest 0.1 m above the floor: sliding and sticking [bhalerao2009, figure 9]",
                            q_a=(0, 1, 0), q_b=(0, 1, 0), p1=(0, 0, 0.1), velocity=(0, 0, 0), mu=0.2, e=0.0, end=4.0),
    "bouncing-pendulum": dict(what="restitution 0.7, no friction, in the plane y = 0, from rest 0.5 m above the floor [bhalerao2009, figure 10]",
                              q_a=(0, 1, 0), q_b=(0, 1, 0), p1=(0, 0, 0.5), velocity=(0, 0, 0), mu=0.0, e=0.7, end=2.5),
}


def solve(name, **options):
    r = {k: v for k, v in RUNS[name].items() if k != "what"}
    return Run(r.pop("q_a"), r.pop("q_b"), np.array(r.pop("p1"), float), np.array(r.pop("velocity"), float), **r, **options).run()


def differences(a, b, times):
    """Largest differences of two runs, at the sampled times."""
    A, B = columns(a.sample(times)), columns(b.sample(times))
    largest = lambda names: float(max(abs(np.array(A[n]) - B[n]).max() for n in names))
    speeds = [n for n in A if n.split(".")[1][0] in "vw"]
    forces = [n for n in A if n.startswith("force")]
    return dict(same_sequence=[p["mode"] for p in a.phases[:20]] == [p["mode"] for p in b.phases[:20]],
                event_times=float(max([abs(x["t"] - y["t"]) for x, y in zip(a.events[:20], b.events[:20])], default=0.0)),
                positions=largest([n for n in A if n not in speeds + forces]), speeds=largest(speeds), forces=largest(forces))


POSITIONS = ["P1.x", "P1.y", "P1.z"] + [f"{b}.{c}" for b in "AB" for c in ("x", "y", "z", "qw", "qx", "qy", "qz")]
SPEEDS = [f"{b}.{c}" for b in "AB" for c in ("vx", "vy", "vz", "wx", "wy", "wz")]
STEP = 1e-4
# Error of positions and of speeds per step length, as measured by shortening the step, doubled; and the times of the checks.
CONSTANTS = {"falling-pendulum": (60, 100, (0.4, 1.0, 3.0)), "sliding-pendulum": (25, 65, (1.0, 3.1, 5.0)),
             "planar-pendulum": (3, 3, (0.1, 0.5, 1.0, 2.0, 4.0)), "bouncing-pendulum": (10, 130, (0.3, 0.6, 0.8, 1.0, 2.5))}

if __name__ == "__main__":
    import sys
    for name, run in RUNS.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        a, b = solve(name), solve(name, method="LSODA", rtol=1e-11, atol=1e-13, max_step=0.005)
        times = [round(0.05 * k, 2) for k in range(round(run["end"] / 0.05) + 1)]
        accuracy = differences(a, b, times)
        position, speed, at = CONSTANTS[name]
        order = "First order in the step of 1e-4 s; the constant is measured by shortening the step."
        phases = [a.phases[0]]
        for p in a.phases[1:]:
            # What a start of sliding is cut into is one phase; impacts stay apart.
            if p["mode"] == phases[-1]["mode"] != "free":
                phases[-1]["t1"] = p["t1"]
            else:
                phases.append(p)
        plain = lambda e: {k: [float(x) for x in v] if isinstance(v, list) else float(v) if isinstance(v, float) else v for k, v in e.items()}
        store(name, run["what"], dict(length=L, mass=M, inertia=[1, 2, 3], g=G, **{k: v for k, v in run.items() if k != "what"}),
              times, columns(a.sample(times)), accuracy,
              [(POSITIONS, at, position * STEP, order), (SPEEDS, at, speed * STEP, order)],
              [("residual.rel", 1e-10, "Every step's contact problem is solved."),
               ("penetration", 1e-6, "One contact: no deeper than the curvature of a path over one step.")],
              dict(phases=phases[:30], events=[plain(e) for e in a.events[:20]]), script="contact_pendulum")
