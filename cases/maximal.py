"""Check scene files against their expected values, without the engine.

Reads `scenes/NAME/scene.toml`, writes down the Newton–Euler equations of every body in world coordinates with one
Lagrange multiplier per joint constraint, solves for accelerations by least squares (redundant constraints allowed),
integrates with DOP853 and prints the largest difference from `scenes/NAME/expected.toml`.  No recursion, no joint
coordinates, no elimination: 13 numbers per body.  Constraints are kept at acceleration level, so drift grows with time
and shows in the printed closure error; read agreement to about 1e-9 as a scene that says what its reference computes.
Across singular positions (n-four-bar) the least-squares branch is arbitrary: `--until` stops before them.

    python maximal.py pendulum four-bar …  [--until T] [--rtol R]
"""
import argparse
import math
import tomllib

import numpy as np
from scipy.integrate import solve_ivp

from case import SCENES, rotation


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def product(a, b):
    return np.array([a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


def about(axis, angle):
    return np.array([math.cos(angle / 2), *(math.sin(angle / 2) * axis)])


def unit(a):
    return np.asarray(a, float) / np.linalg.norm(a)


def conjugate(q):
    return q * [1, -1, -1, -1]


class Joint:
    """A joint with its frames resolved: (position, quaternion) on parent and child, frames relative to the body frame."""

    def __init__(self, scene, j):
        self.name, self.kind, self.p, self.c = j["name"], j["kind"], j["parent"], j["child"]
        self.frames = [self.frame(scene, j["parent"], j.get("parent_frame")), self.frame(scene, j["child"], j.get("child_frame"))]
        if "anchor" in j:
            self.frames = [self.anchored(scene, j[side], np.array(j["anchor"])) for side in ("parent", "child")]
        default = [1, 0, 0] if self.kind == "universal" else [0, 0, 1]
        self.axis = unit(j.get("axis", default))
        e = unit(j["axis2"]) if "axis2" in j else np.array([0.0, 1, 0]) if self.kind == "universal" else None
        self.axis2 = e
        self.q, self.v = j.get("q"), j.get("v")
        self.damping = j.get("damping", 0.0)
        self.torque = sum(m["value"] for m in j.get("motor", []))
        self.spring = j.get("spring")
        self.angle = (self.q or [0.0])[0]
        assert all(m["kind"] == "torque" for m in j.get("motor", []))
        self.cross = [unit(np.cross(self.axis, np.eye(3)[np.argmin(abs(self.axis))]))]
        self.cross.append(np.cross(self.axis, self.cross[0]))

    @staticmethod
    def frame(scene, body, ref):
        if isinstance(ref, str):
            b = next(b for b in scene["body"] if b["name"] == body)
            ref = next(f for f in b["frame"] if f["name"] == ref)
        ref = ref or {}
        return np.array(ref.get("position", [0.0] * 3)), unit(ref.get("orientation", [1.0, 0, 0, 0]))

    @staticmethod
    def anchored(scene, body, point):
        b = next((b for b in scene["body"] if b["name"] == body), {})
        o = unit(b.get("orientation", [1.0, 0, 0, 0]))
        return rotation(o).T @ (point - np.array(b.get("position", [0.0] * 3))), conjugate(o)

    def motion(self):
        """Relative displacement and rotation of the child frame at the initial coordinates."""
        q = self.q
        if self.kind == "spherical":
            return np.zeros(3), unit(q or [1.0, 0, 0, 0])
        if self.kind == "universal":
            q = q or [0.0, 0.0]
            return np.zeros(3), product(about(self.axis, q[0]), about(self.axis2, q[1]))
        q = (q or [0.0])[0]
        return (q * self.axis, np.array([1.0, 0, 0, 0])) if self.kind == "prismatic" else (np.zeros(3), about(self.axis, q))


class Mechanism:
    def __init__(self, scene):
        self.scene, self.g = scene, np.array(scene.get("gravity", [0.0] * 3))
        self.bodies = scene["body"]
        self.index = {b["name"]: k for k, b in enumerate(self.bodies)}
        self.index["ground"] = -1
        self.mass, self.inertia, self.com = [], [], []
        for b in self.bodies:
            if "shape" in b:
                (s,) = b["shape"]
                x, y, z = s["size"]
                m = b.get("mass", s.get("density", 0.0) * x * y * z)
                self.mass.append(m), self.com.append(np.zeros(3))
                self.inertia.append(np.diag([y * y + z * z, x * x + z * z, x * x + y * y]) * m / 12)
                continue
            i = list(b["inertia"]) + [0.0] * (6 - len(b["inertia"]))
            self.mass.append(b["mass"]), self.com.append(np.array(b.get("com", [0.0] * 3)))
            self.inertia.append(np.array([[i[0], i[3], i[4]], [i[3], i[1], i[5]], [i[4], i[5], i[2]]]))
        self.joints = [Joint(scene, j) for j in scene.get("joint", []) if not j.get("absent")]
        self.locks = []                                                   # (joint, axis, body in which the axis is fixed)
        self.start()

    def frame(self, j, side, x, qs):
        """World point and rotation of a joint frame, and the body's index."""
        k = self.index[j.p if side == 0 else j.c]
        p, o = j.frames[side]
        if k < 0:
            return p, rotation(o), k
        R = rotation(qs[k])
        return x[k] + R @ (p - self.com[k]), R @ rotation(o), k

    def start(self):
        """Poses and velocities from the joints' initial coordinates, walking outwards from the ground."""
        n = len(self.bodies)
        pose, twist = {"ground": (np.zeros(3), np.array([1.0, 0, 0, 0]))}, {"ground": (np.zeros(3), np.zeros(3))}
        todo = list(self.joints)
        while todo:
            j = next((j for j in todo if j.p in pose or j.c in pose), None)
            if j is None:                                                # floats: based on the first body left
                b = self.bodies[self.index[todo[0].p]]
                x, q, v, w = self.given(b)
                pose[b["name"]], twist[b["name"]] = (x, q), (v - np.cross(w, rotation(q) @ self.com[self.index[b["name"]]]), w)
                continue
            todo.remove(j)
            if j.c in pose:
                continue
            (x, q), (pp, po), (cp, co), (d, r) = pose[j.p], j.frames[0], j.frames[1], j.motion()
            qj = product(q, po)
            qc = product(product(qj, r), conjugate(co))
            at = x + rotation(q) @ pp + rotation(qj) @ d
            pose[j.c] = (at - rotation(qc) @ cp, qc)
            v, w = twist[j.p]
            R, s = rotation(qj), j.v or [0.0] * 3
            v_at, dw = v + np.cross(w, at - x), np.zeros(3)
            if j.kind == "prismatic":
                v_at = v_at + R @ j.axis * s[0]
            elif j.kind == "universal":
                dw = R @ j.axis * s[0] + R @ rotation(about(j.axis, (j.q or [0.0])[0])) @ j.axis2 * s[1]
            elif j.kind == "spherical":
                dw = R @ rotation(r) @ np.array(s[:3])
            else:
                dw = R @ j.axis * s[0]
            twist[j.c] = (v_at + np.cross(w + dw, pose[j.c][0] - at), w + dw)
        self.y0 = np.zeros(13 * n)
        for k, b in enumerate(self.bodies):
            if b["name"] in pose:
                (x, q), (v, w) = pose[b["name"]], twist[b["name"]]
                r = rotation(q) @ self.com[k]
                v = v + np.cross(w, r)
            else:
                x, q, v, w = self.given(b)
                r = rotation(q) @ self.com[k]
            self.y0[13 * k:13 * k + 13] = np.concatenate([x + r, q, v, w])

    @staticmethod
    def given(b):
        """Pose and velocity of a body that floats; the velocity is that of its centre of mass."""
        x, q = np.array(b.get("position", [0.0] * 3)), unit(b.get("orientation", [1.0, 0, 0, 0]))
        return x, q, np.array(b.get("velocity", [0.0] * 3)), np.array(b.get("angular_velocity", [0.0] * 3))

    def split(self, y):
        s = y.reshape(-1, 13)
        return s[:, :3], s[:, 3:7], s[:, 7:10], s[:, 10:]

    def constraints(self, x, qs, v, w):
        """Position residuals, Jacobian and acceleration bias of all joints."""
        n = len(self.bodies)
        res, rows, bias, self.owners = [], [], [], []
        zero = np.zeros(3)
        for j in self.joints:
            pp, pR, a = self.frame(j, 0, x, qs)
            cp, cR, b = self.frame(j, 1, x, qs)
            d = cp - pp
            wa, wb = (w[a] if a >= 0 else zero), (w[b] if b >= 0 else zero)
            ra = (cp - x[a]) if a >= 0 else zero          # arm to the child's point, on the parent too
            rb = (cp - x[b]) if b >= 0 else zero
            va = v[a] + np.cross(wa, ra) if a >= 0 else zero
            vb = v[b] + np.cross(wb, rb) if b >= 0 else zero
            rel = vb - va
            acc = np.cross(wb, np.cross(wb, rb)) - np.cross(wa, np.cross(wa, ra)) - 2 * np.cross(wa, rel)

            def add(e_lin, e_rot, gamma, value):
                row = np.zeros(6 * n)
                for k, r, sign in ((a, ra, -1), (b, rb, 1)):
                    if k >= 0:
                        row[6 * k:6 * k + 3] += sign * e_lin
                        row[6 * k + 3:6 * k + 6] += sign * (np.cross(r, e_lin) + e_rot)
                rows.append(row), bias.append(gamma), res.append(value), self.owners.append((j.name, e_rot, e_lin))

            axis = pR @ j.axis
            cross = [pR @ e for e in j.cross]
            for e in (cross if j.kind in ("prismatic", "cylindrical") else pR.T):
                add(e, zero, e @ acc, e @ d)
            if j.kind in ("revolute", "cylindrical"):
                for e in cross:
                    add(zero, e, np.cross(wa, e) @ (wb - wa), e @ np.cross(axis, cR @ j.axis))
            elif j.kind in ("prismatic", "fixed"):
                D = pR.T @ cR
                for i, e in enumerate(pR.T):
                    add(zero, e, np.cross(wa, e) @ (wb - wa), D[(i + 2) % 3, (i + 1) % 3] - D[(i + 1) % 3, (i + 2) % 3])
            elif j.kind == "universal":
                a2 = cR @ j.axis2
                nrm = np.cross(axis, a2)
                rate = np.cross(np.cross(wa, axis), a2) + np.cross(axis, np.cross(wb, a2))
                add(zero, nrm, rate @ (wb - wa), axis @ a2)
            for _, e, body in (lock for lock in self.locks if lock[0] is j):
                k = self.index[body]
                e = rotation(qs[k]) @ e if k >= 0 else e
                add(zero, e, np.cross(w[k], e) @ (wb - wa) if k >= 0 else 0.0, 0.0)
        return np.array(res), np.array(rows).reshape(-1, 6 * n), np.array(bias)

    def loads(self, x, qs, v, w):
        f = np.zeros((len(self.bodies), 6))
        for k, m in enumerate(self.mass):
            R = rotation(qs[k])
            I = R @ self.inertia[k] @ R.T
            f[k, :3] = m * self.g
            f[k, 3:] = -np.cross(w[k], I @ w[k])
        for s in self.scene.get("force", []):
            assert s["kind"] == "spring"
            ends = []
            for e in (s["a"], s["b"]):
                k, p = self.index[e["body"]], np.array(e.get("point", [0.0] * 3))
                if k < 0:
                    ends.append((k, p, np.zeros(3), np.zeros(3)))
                else:
                    r = rotation(qs[k]) @ (p - self.com[k])
                    ends.append((k, x[k] + r, v[k] + np.cross(w[k], r), r))
            (ka, pa, va, ra), (kb, pb, vb, rb) = ends
            L = np.linalg.norm(pb - pa)
            u = (pb - pa) / L
            F = (s.get("stiffness", 0.0) * (L - s.get("length", 0.0)) + s.get("damping", 0.0) * (vb - va) @ u) * u
            for k, r, sign in ((ka, ra, 1), (kb, rb, -1)):
                if k >= 0:
                    f[k] += sign * np.concatenate([F, np.cross(r, F)])
        for j in self.joints:
            if j.damping == 0.0 and j.torque == 0.0 and j.spring is None:
                continue
            pp, pR, a = self.frame(j, 0, x, qs)
            cp, cR, b = self.frame(j, 1, x, qs)
            axis = pR @ j.axis
            wa, wb = (w[a] if a >= 0 else np.zeros(3)), (w[b] if b >= 0 else np.zeros(3))
            if j.kind == "revolute":
                T = axis * (j.torque - j.damping * (wb - wa) @ axis)
                if j.spring:
                    e, c = pR @ j.cross[0], cR @ j.cross[0]
                    turned = math.atan2(np.cross(e, c) @ axis, e @ c)
                    j.angle += (turned - j.angle + math.pi) % (2 * math.pi) - math.pi    # unwrapped
                    T = T - axis * j.spring["stiffness"] * (j.angle - j.spring.get("rest", [0.0])[0])
                for k, sign in ((a, -1), (b, 1)):
                    if k >= 0:
                        f[k, 3:] += sign * T
            else:
                assert j.kind == "prismatic"
                ra, rb = (cp - x[a] if a >= 0 else np.zeros(3)), cp - x[b]
                va = v[a] + np.cross(wa, ra) if a >= 0 else np.zeros(3)
                push = j.torque - j.damping * (v[b] + np.cross(wb, rb) - va) @ axis
                if j.spring:
                    push -= j.spring["stiffness"] * ((cp - pp) @ axis - j.spring["rest"][0])
                for k, r, sign in ((a, ra, -1), (b, rb, 1)):
                    if k >= 0:
                        f[k] += sign * np.concatenate([push * axis, np.cross(r, push * axis)])
        return f.ravel()

    def rates(self, t, y):
        x, qs, v, w = self.split(y)
        qs = qs / np.linalg.norm(qs, axis=1)[:, None]
        n = len(self.bodies)
        f = self.loads(x, qs, v, w)
        inverse = np.zeros((6 * n, 6 * n))
        for k in range(n):
            R = rotation(qs[k])
            inverse[6 * k:6 * k + 3, 6 * k:6 * k + 3] = np.eye(3) / self.mass[k]
            inverse[6 * k + 3:6 * k + 6, 6 * k + 3:6 * k + 6] = R @ np.linalg.inv(self.inertia[k]) @ R.T
        a = inverse @ f
        if self.joints:
            _, J, bias = self.constraints(x, qs, v, w)
            scale = np.sqrt(np.einsum("ij,jk,ik->i", J, inverse, J, optimize=True))
            J, bias = J / scale[:, None], bias / scale
            a = a - inverse @ J.T @ np.linalg.lstsq(J @ inverse @ J.T, J @ a + bias, rcond=1e-11)[0]
        out = np.zeros((n, 13))
        out[:, :3], out[:, 7:10], out[:, 10:] = v, a.reshape(n, 6)[:, :3], a.reshape(n, 6)[:, 3:]
        for k in range(n):
            out[k, 3:7] = 0.5 * product(np.array([0.0, *w[k]]), y[13 * k + 3:13 * k + 7])
        return out.ravel()

    def column(self, name, y):
        """A trajectory column; angles come back in (−π, π]."""
        x, qs, v, w = self.split(y)
        owner, what = name.rsplit(".", 1)
        if owner in self.index:
            k = self.index[owner]
            table = dict(zip(["x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"], y[13 * k:13 * k + 13]))
            return table[what]
        j = next(j for j in self.joints if j.name == owner)
        pp, pR, a = self.frame(j, 0, x, qs)
        cp, cR, b = self.frame(j, 1, x, qs)
        wa, wb = (w[a] if a >= 0 else np.zeros(3)), (w[b] if b >= 0 else np.zeros(3))
        va = v[a] + np.cross(wa, cp - x[a]) if a >= 0 else np.zeros(3)
        vb = v[b] + np.cross(wb, cp - x[b]) if b >= 0 else np.zeros(3)
        axis = pR @ j.axis
        if j.kind == "prismatic":
            return (cp - pp) @ axis if what == "q0" else (vb - va) @ axis
        if j.kind == "revolute":
            e = pR @ j.cross[0]
            c = cR @ j.cross[0]
            return math.atan2(np.cross(e, c) @ axis, e @ c) if what == "q0" else (wb - wa) @ axis
        if j.kind == "universal":
            D, a2 = pR.T @ cR, cR @ j.axis2
            e = pR @ j.axis2
            if what == "q0":
                return math.atan2(np.cross(e, a2) @ axis, e @ a2)
            if what == "q1":
                c = cR @ j.axis
                return math.atan2(np.cross(axis, c) @ a2, axis @ c)
            return (wb - wa) @ (axis if what == "v0" else a2)
        if j.kind == "spherical":
            if what[0] == "v":
                return (cR.T @ (wb - wa))[int(what[1])]
            raise KeyError("quaternion columns are compared through bodies")
        raise KeyError(name)


def check(name, until, rtol):
    scene = tomllib.loads((SCENES / name / "scene.toml").read_text())
    expected = tomllib.loads((SCENES / name / "expected.toml").read_text())["check"]
    m = Mechanism(scene)
    x, qs, v, w = m.split(m.y0)
    if m.joints:
        res, J, _ = m.constraints(x, qs, v, w)
        u = np.concatenate([v, w], axis=1).ravel()
        rank = np.linalg.matrix_rank(J, tol=1e-9)
        print(f"{name}: closure {abs(res).max():.1e}, velocity {abs(J @ u).max():.1e}, {6 * len(m.bodies) - rank} dof, {len(J) - rank} redundant")
    times = sorted({c["t"] for c in expected if "t" in c and c["t"] <= until})
    s = solve_ivp(m.rates, (0, times[-1]), m.y0, method="DOP853", t_eval=times, rtol=rtol, atol=rtol * 1e-2)
    worst = {}
    for c in expected:
        if "t" not in c or c["t"] > until:
            continue
        y = s.y[:, times.index(c["t"])]
        for col, value in c["values"].items():
            owner, what = col.rsplit(".", 1)
            d = m.column(col, y) - value
            if what in ("qw", "qx", "qy", "qz"):                         # q and −q are one attitude
                four = [owner + a for a in (".qw", ".qx", ".qy", ".qz")]
                d = m.column(col, y) * np.sign(sum(m.column(f, y) * c["values"][f] for f in four)) - value
            kind = next((j.kind for j in m.joints if j.name == owner), "")
            if what[0] == "q" and kind in ("revolute", "universal"):
                d = (d + math.pi) % (2 * math.pi) - math.pi
            if abs(d) >= worst.get(c["t"], (0,))[0]:
                worst[c["t"]] = (abs(d), col, c["tolerance"])
    x, qs, v, w = m.split(s.y[:, -1])
    drift = abs(m.constraints(x, qs, v, w)[0]).max() if m.joints else 0.0
    print("   ", "; ".join(f"t = {t:g}: {d:.1e} ({col}, tolerance {tol:g})" for t, (d, col, tol) in worst.items()), f"; closure at the end {drift:.1e}; {s.nfev} evaluations")


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("scenes", nargs="+")
    ap.add_argument("--until", type=float, default=math.inf)
    ap.add_argument("--rtol", type=float, default=1e-11)
    a = ap.parse_args()
    for name in a.scenes:
        check(name, a.until, a.rtol)
