"""Neutral scene descriptions shared by every peer adapter.

Conventions (all SI, right-handed, z up, f64):
  * A scene is a list of bodies in topological order (parent index < own index).
  * At zero joint coordinate every body frame is aligned with the world; the
    body frame origin sits on its joint.  `anchor` is that joint's position in
    the parent frame (or in the world when parent == -1).
  * joint 'rev': one hinge about `axis`; q0/v0 are floats.
    joint 'free': q0 = [x y z qw qx qy qz], v0 = [vx vy vz wx wy wz], both
    linear and angular velocity in world axes, linear one taken at the origin.
  * inertia is the diagonal about the centre of mass, axes parallel to the body.
  * geoms are given in the body frame: box (half extents) or sphere (radius).
  * the ground is the half-space z <= 0 if `plane`; `walls` are static boxes.
  * an incline is expressed by rotating gravity, so that every peer sees the
    same geometry.
"""
from __future__ import annotations
import json, math, sys
from dataclasses import dataclass, field, asdict
import numpy as np

G = 9.81


@dataclass
class Geom:
    kind: str                    # 'box' | 'sphere'
    size: list                   # half extents, or [radius]
    pos: list = field(default_factory=lambda: [0.0, 0.0, 0.0])


@dataclass
class Body:
    name: str
    parent: int
    joint: str
    mass: float
    inertia: list
    com: list = field(default_factory=lambda: [0.0, 0.0, 0.0])
    axis: list = field(default_factory=lambda: [0.0, 1.0, 0.0])
    anchor: list = field(default_factory=lambda: [0.0, 0.0, 0.0])
    geoms: list = field(default_factory=list)
    q0: object = 0.0
    v0: object = 0.0


@dataclass
class Scene:
    name: str
    bodies: list
    plane: bool = False
    plane_z: float = 0.0
    walls: list = field(default_factory=list)      # [centre(3), half(3)]
    mu: float = 0.5
    e: float = 0.0
    gravity: list = field(default_factory=lambda: [0.0, 0.0, -G])
    h: float = 1e-3
    T: float = 1.0
    loops: list = field(default_factory=list)      # [bodyA, pA, bodyB, pB]
    body_body: bool = False                        # do bodies collide with each other
    note: str = ""

    @property
    def ndof(self):
        return sum(6 if b.joint == 'free' else 1 for b in self.bodies)

    def to_json(self):
        return json.dumps(asdict(self))


# ------------------------------------------------------------------ helpers
def box_inertia(m, hx, hy, hz):
    return [m / 3 * (hy * hy + hz * hz), m / 3 * (hx * hx + hz * hz), m / 3 * (hx * hx + hy * hy)]


def sphere_inertia(m, r):
    return [0.4 * m * r * r] * 3


def rot_axis(axis, a):
    x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
    c, s = math.cos(a), math.sin(a)
    C = 1 - c
    return np.array([[c + x * x * C, x * y * C - z * s, x * z * C + y * s],
                     [y * x * C + z * s, c + y * y * C, y * z * C - x * s],
                     [z * x * C - y * s, z * y * C + x * s, c + z * z * C]])


def quat_to_R(q):
    w, x, y, z = np.asarray(q, float) / np.linalg.norm(q)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def R_to_quat(R):
    R = np.asarray(R)
    K = np.array([[R[0, 0] - R[1, 1] - R[2, 2], 0, 0, 0],
                  [R[0, 1] + R[1, 0], R[1, 1] - R[0, 0] - R[2, 2], 0, 0],
                  [R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], R[2, 2] - R[0, 0] - R[1, 1], 0],
                  [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], R.trace()]]) / 3
    w, V = np.linalg.eigh(K)
    x, y, z, s = V[:, -1]
    q = np.array([s, x, y, z])
    return q if q[0] >= 0 else -q


def initial_poses(sc, qrev=None):
    """World pose (p, R) of every body frame at the initial configuration."""
    out = []
    for i, b in enumerate(sc.bodies):
        if b.joint == 'free':
            out.append((np.array(b.q0[:3], float), quat_to_R(b.q0[3:])))
            continue
        P = out[b.parent] if b.parent >= 0 else (np.zeros(3), np.eye(3))
        a = b.q0 if qrev is None else qrev[i]
        p = P[0] + P[1] @ np.asarray(b.anchor)
        out.append((p, P[1] @ rot_axis(b.axis, a) if b.joint == 'rev' else P[1]))
    return out


def initial_vels(sc):
    """World velocity (v at body origin, w) of every body at the initial state."""
    X, V = initial_poses(sc), []
    for i, b in enumerate(sc.bodies):
        if b.joint == 'free':
            v0 = b.v0 if b.v0 else [0.0] * 6
            V.append((np.array(v0[:3], float), np.array(v0[3:], float)))
            continue
        if b.parent >= 0:
            pv, pw = V[b.parent]
            v = pv + np.cross(pw, X[i][0] - X[b.parent][0])
        else:
            v, pw = np.zeros(3), np.zeros(3)
        ax = np.asarray(b.axis, float) / np.linalg.norm(b.axis)
        V.append((v, pw + X[i][1] @ ax * b.v0))
    return V


def free_q(x=0, y=0, z=0, quat=(1, 0, 0, 0)):
    return [float(x), float(y), float(z)] + [float(c) for c in quat]


def chain(name, n, length=0.2, mass=1.0, width=0.02, q=lambda i: 0.0, v=lambda i: 0.0,
          tip_r=0.0, all_r=0.0, free_root=None, **kw):
    """n links along -z; hinge axes alternate y, x."""
    bodies = []
    for i in range(n):
        b = Body(f"l{i}", i - 1, 'rev', mass, box_inertia(mass, width, width, length / 2),
                 com=[0, 0, -length / 2], axis=[0.0, 1.0, 0.0] if i % 2 == 0 else [1.0, 0.0, 0.0],
                 anchor=[0, 0, 0 if i == 0 else -length], q0=q(i), v0=v(i))
        if all_r > 0 or (tip_r > 0 and i == n - 1):
            b.geoms = [Geom('sphere', [all_r or tip_r], [0, 0, -length])]
        bodies.append(b)
    if free_root is not None:
        bodies[0].joint = 'free'
        bodies[0].q0, bodies[0].v0 = free_root, [0.0] * 6
    return Scene(name, bodies, **kw)


# ------------------------------------------------------------------ T1
def t1_chain(n):
    return chain(f"T1_chain{n}", n, q=lambda i: 0.1 * math.sin(1.0 + i), v=lambda i: 0.1 * math.cos(2.0 + i))


def _limb(bodies, parent, prefix, anchor, spec):
    """spec: list of (axis, length_down, mass). Zero length stacks hinges at one point."""
    p, off = parent, anchor
    for k, (ax, L, m) in enumerate(spec):
        w = 0.04
        half = max(L / 2, 0.03)
        bodies.append(Body(f"{prefix}{k}", p, 'rev', m, box_inertia(m, w, w, half), com=[0, 0, -L / 2],
                           axis=ax, anchor=list(off), q0=0.15 * math.sin(1.7 * len(bodies)), v0=0.3 * math.cos(len(bodies))))
        p, off = len(bodies) - 1, [0, 0, -L]
    return p


X, Y, Z = [1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]


def t1_humanoid():
    """30 dof: floating pelvis, 2 x 6 legs, 1 waist, 1 neck, 2 x 5 arms."""
    b = [Body("pelvis", -1, 'free', 10.0, box_inertia(10, .1, .15, .1), q0=free_q(0.1, 0.2, 1.0, (0.96, 0.1, 0.2, 0.1)),
              v0=[0.1, -0.2, 0.3, 0.4, -0.5, 0.6])]
    for s, y in (("L", 0.1), ("R", -0.1)):
        _limb(b, 0, "leg" + s, [0, y, -0.05], [(Z, 0, .6), (X, 0, .6), (Y, .4, 5.), (Y, .4, 3.), (Y, 0, .5), (X, .08, 1.)])
    b.append(Body("torso", 0, 'rev', 20., box_inertia(20, .12, .2, .25), com=[0, 0, .25], axis=Z, anchor=[0, 0, .1], q0=.1, v0=.2))
    t = len(b) - 1
    b.append(Body("head", t, 'rev', 4., box_inertia(4, .08, .08, .1), com=[0, 0, .1], axis=Z, anchor=[0, 0, .55], q0=-.1, v0=.1))
    for s, y in (("L", 0.25), ("R", -0.25)):
        _limb(b, t, "arm" + s, [0, y, .45], [(Y, 0, .5), (X, 0, .5), (Z, .3, 2.), (Y, .25, 1.2), (Z, .1, .4)])
    return Scene("T1_humanoid30", b)


# ------------------------------------------------------------------ T2
def _cube(i, z, half=0.1, m=1.0, x=0.0, v0=None, half3=None):
    h3 = half3 or [half] * 3
    return Body(f"b{i}", -1, 'free', m, box_inertia(m, *h3), geoms=[Geom('box', h3)], q0=free_q(x, 0, z), v0=v0 or [0.0] * 6)


def t2_box():
    return Scene("T2a_box", [_cube(0, 0.1)], plane=True, T=0.5)


def t2_stack(n=10):
    return Scene(f"T2b_stack{n}", [_cube(i, 0.1 + 0.2 * i) for i in range(n)], plane=True, body_body=True, T=1.0)


def t2_chain_tip(n=100):
    """Chain hanging straight, its last link leaning on the plane (N = m g / 2); a slow
    swing drags the tip sphere, the only colliding part, over the plane."""
    sc = chain("T2c_chain_tip", n, length=0.05, mass=0.1, width=0.01, tip_r=0.01, mu=0.3,
               q=lambda i: 0.6 if i == n - 1 else 0.0,
               v=lambda i: 0.05 if i == 0 else (-0.05 if i == 1 else 0.0))
    sc.plane, sc.T = True, 1.0
    p, R = initial_poses(sc)[-1]
    sc.bodies[0].anchor = [0.0, 0.0, float(0.01 - (p + R @ np.array([0, 0, -0.05]))[2])]   # tip sphere just touches z = 0
    return sc


def t2_chain_fall(n=100):
    """Floating-root chain lying along -x in a gentle zigzag, dropped from 5 cm."""
    q = [math.cos(math.pi / 4), 0, math.sin(math.pi / 4), 0]          # -z of the link -> -x of the world
    return chain("T2d_chain_fall", n, length=0.05, mass=0.1, width=0.01, all_r=0.01, mu=0.3,
                 q=lambda i: 0.06 * math.sin(0.9 * i), v=lambda i: 0.0,
                 free_root=free_q(0, 0, 0.25, q), plane=True, T=1.0)


def t2_spheres(n):
    side = 5 if n <= 100 else 8
    r, sp = 0.05, 0.112
    half = side * sp / 2 + 0.05
    bodies, s = [], 12345
    for k in range(n):
        ix, iy, iz = k % side, (k // side) % side, k // (side * side)
        j = []
        for _ in range(2):
            s = (1103515245 * s + 12345) % 2147483648
            j.append((s / 2147483648 - 0.5) * 0.008)
        m = 1.0
        bodies.append(Body(f"s{k}", -1, 'free', m, sphere_inertia(m, r), geoms=[Geom('sphere', [r])],
                           q0=free_q((ix - (side - 1) / 2) * sp + j[0], (iy - (side - 1) / 2) * sp + j[1], 0.06 + iz * 0.12), v0=[0.0] * 6))
    t = 0.1
    walls = [[[half + t, 0, 1.0], [t, half + 2 * t, 1.0]], [[-half - t, 0, 1.0], [t, half + 2 * t, 1.0]],
             [[0, half + t, 1.0], [half + 2 * t, t, 1.0]], [[0, -half - t, 1.0], [half + 2 * t, t, 1.0]]]
    return Scene(f"T2e_spheres{n}", bodies, plane=True, walls=walls, body_body=True, T=1.0)


def t2_legged():
    """20 dof: floating trunk, 4 x 3 leg hinges, pan and tilt head."""
    b = [Body("trunk", -1, 'free', 12.0, box_inertia(12, .25, .12, .06), geoms=[Geom('box', [.25, .12, .06])],
              q0=free_q(0, 0, 0.50), v0=[0.0] * 6)]
    for s, x, y in (("FL", .2, .14), ("FR", .2, -.14), ("HL", -.2, .14), ("HR", -.2, -.14)):
        sgn = 1 if y > 0 else -1
        b.append(Body("hip" + s, 0, 'rev', .8, box_inertia(.8, .04, .04, .04), axis=X, anchor=[x, y, 0], q0=0.05 * sgn))
        b.append(Body("thigh" + s, len(b) - 1, 'rev', 1.2, box_inertia(1.2, .03, .03, .1), com=[0, 0, -.1], axis=Y, anchor=[0, .05 * sgn, 0],
                      q0=0.6, geoms=[Geom('sphere', [.03], [0, 0, -.2])]))
        b.append(Body("shank" + s, len(b) - 1, 'rev', .5, box_inertia(.5, .02, .02, .1), com=[0, 0, -.1], axis=Y, anchor=[0, 0, -.2],
                      q0=-1.2, geoms=[Geom('sphere', [.025], [0, 0, -.2])]))
    b.append(Body("pan", 0, 'rev', .5, box_inertia(.5, .03, .03, .03), axis=Z, anchor=[.27, 0, .06]))
    b.append(Body("tilt", len(b) - 1, 'rev', 1.0, box_inertia(1., .06, .05, .05), com=[.05, 0, 0], axis=Y, anchor=[.03, 0, .03],
                  geoms=[Geom('sphere', [.06], [.05, 0, 0])]))
    return Scene("T2f_legged20", b, plane=True, mu=0.6, T=1.0)


# ------------------------------------------------------------------ T3
def t3_incline():
    a = math.radians(10)
    return Scene("T3i_incline", [_cube(0, 0.05, half3=[.1, .1, .05])], plane=True, mu=0.3, T=10.0,
                 gravity=[G * math.sin(a), 0, -G * math.cos(a)])


def t3_slide():
    return Scene("T3ii_slide", [_cube(0, 0.05, half3=[.1, .1, .05], v0=[1.0, 0, 0, 0, 0, 0])], plane=True, mu=0.2, T=1.0)


def t3_bounce():
    r = 0.1
    return Scene("T3iii_bounce", [Body("ball", -1, 'free', 1.0, sphere_inertia(1, r), geoms=[Geom('sphere', [r])],
                                       q0=free_q(0, 0, 1.0 + r), v0=[0.0] * 6)], plane=True, mu=0.0, e=0.7, T=2.5)


def t3_roll(back=False):
    r = 0.1
    w = -10.0 if back else 0.0
    return Scene("T3iv_roll_backspin" if back else "T3iv_roll", [Body("ball", -1, 'free', 1.0, sphere_inertia(1, r), geoms=[Geom('sphere', [r])],
                 q0=free_q(0, 0, r), v0=[1.0, 0, 0, 0, w, 0])], plane=True, mu=0.2, T=2.0)


def t3_pendulum():
    sc = chain("T3v_pendulum", 2, length=0.5, mass=1.0, q=lambda i: [1.5, 0.8][i], v=lambda i: [0.0, 0.5][i])
    sc.T = 10.0
    return sc


def t3_fourbar():
    """Ground 1.0, crank 0.4, coupler 0.9, rocker 0.7 in the x-z plane; coupler tip pinned to rocker tip."""
    A, B = np.array([0, 0, 0.]), np.array([1.0, 0, 0.])
    a, b_, c, d = 0.4, 0.9, 0.7, 1.0
    th = math.radians(60)
    P = A + a * np.array([math.cos(th), 0, math.sin(th)])
    D = B - P
    L = np.linalg.norm(D)
    u = D / L
    k = (b_ ** 2 - c ** 2 + L ** 2) / (2 * L)
    hgt = math.sqrt(b_ ** 2 - k ** 2)
    Q = P + k * u + hgt * np.array([-u[2], 0, u[0]])
    # links point along +x at q = 0; hinge about +y turns +x towards -z
    def ang(v):
        return math.atan2(-v[2], v[0])
    ac, ak, ar = ang(P - A), ang(Q - P), ang(Q - B)
    def link(nm, par, L, anc, q):
        return Body(nm, par, 'rev', L, box_inertia(L, L / 2, .02, .02), com=[L / 2, 0, 0], axis=Y, anchor=[float(x) for x in anc], q0=q)
    bodies = [link("crank", -1, a, A, ac), link("coupler", 0, b_, [a, 0, 0], ak - ac), link("rocker", -1, c, B, ar)]
    return Scene("T3vi_fourbar", bodies, T=10.0, loops=[[1, [b_, 0, 0], 2, [c, 0, 0]]])


def t3_top():
    return Scene("T3vii_top", [Body("top", -1, 'free', 1.0, [0.01, 0.02, 0.028], geoms=[], q0=free_q(0, 0, 1.0),
                                    v0=[0, 0, 0, 0.01, 10.0, 0.02])], gravity=[0, 0, 0.0], T=10.0)


def t3_heavy():
    return Scene("T3viii_heavy", [_cube(0, 0.1, m=1.0), _cube(1, 0.3, m=1000.0)], plane=True, body_body=True, T=2.0)


T1 = [t1_chain(n) for n in (10, 50, 100, 500, 1000)] + [t1_humanoid()]
T1_LARGE = (10_000, 100_000)      # chains built on demand, for engines that say they can hold them
T2 = [t2_box(), t2_stack(), t2_chain_tip(), t2_chain_fall(), t2_spheres(100), t2_spheres(500), t2_legged()]
T3 = [t3_incline(), t3_slide(), t3_bounce(), t3_roll(), t3_roll(True), t3_pendulum(), t3_fourbar(), t3_top(), t3_heavy()]
ALL = {s.name: s for s in T1 + T2 + T3}


# ------------------------------------------------------------------ peer-independent measures
def energy(sc, X, V):
    E = 0.0
    g = np.asarray(sc.gravity)
    for b, (p, R), (v, w) in zip(sc.bodies, X, V):
        c = R @ np.asarray(b.com)
        vc = v + np.cross(w, c)
        wb = R.T @ w
        E += 0.5 * b.mass * vc @ vc + 0.5 * np.dot(wb * np.asarray(b.inertia), wb) - b.mass * g @ (p + c)
    return float(E)


def ang_momentum(sc, X, V):
    L = np.zeros(3)
    for b, (p, R), (v, w) in zip(sc.bodies, X, V):
        L += R @ (np.asarray(b.inertia) * (R.T @ w))
    return L


_SG = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], float)


def penetration(sc, X):
    """Deepest overlap (m, >= 0), from poses alone, the same for all peers.
    box-box: corners of one in the other (edge-edge ignored)."""
    deep = 0.0
    spheres, boxes = [], []
    for i, b in enumerate(sc.bodies):
        p, R = X[i]
        for g in b.geoms:
            c = p + R @ np.asarray(g.pos)
            if g.kind == 'sphere':
                spheres.append((c, g.size[0]))
                if sc.plane:
                    deep = max(deep, g.size[0] - c[2])
            else:
                K = c + (_SG * np.asarray(g.size)) @ R.T
                boxes.append((c, R, np.asarray(g.size), K))
                if sc.plane:
                    deep = max(deep, -K[:, 2].min())
    if spheres and (sc.body_body or sc.walls):
        C = np.array([s[0] for s in spheres]); r = np.array([s[1] for s in spheres])
        if sc.walls:
            for c, h in sc.walls:
                # inner face is the one turned to the origin
                ax = int(np.argmax(np.abs(c[:2])))
                face = abs(c[ax]) - h[ax]
                s = np.sign(c[ax])
                deep = max(deep, float((s * C[:, ax] + r - face).max()))
        if sc.body_body and len(spheres) > 1:
            D = np.sqrt(((C[:, None] - C[None]) ** 2).sum(-1)) + np.eye(len(C)) * 1e9
            deep = max(deep, float((r[:, None] + r[None] - D).max()))
    if sc.body_body and len(boxes) > 1:
        for a in range(len(boxes)):
            for b in range(len(boxes)):
                if a == b:
                    continue
                loc = np.abs((boxes[a][3] - boxes[b][0]) @ boxes[b][1])
                pen = (boxes[b][2] + 1e-12 - loc).min(axis=1)
                # a corner exactly over a side face of an equal box: use the vertical overlap alone
                pen_z = np.where((loc[:, :2] <= boxes[b][2][:2] + 5e-3).all(axis=1), boxes[b][2][2] - loc[:, 2], -1)
                deep = max(deep, float(pen.max()), float(pen_z.max()))
    return max(0.0, float(deep))


def loop_error(sc, X):
    err = 0.0
    for a, pa, b, pb in sc.loops:
        err = max(err, float(np.linalg.norm(X[a][0] + X[a][1] @ np.asarray(pa) - X[b][0] - X[b][1] @ np.asarray(pb))))
    return err


if __name__ == "__main__":
    import pathlib
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "scenes_json"
    out.mkdir(exist_ok=True)
    for s in ALL.values():
        (out / f"{s.name}.json").write_text(s.to_json())
    for s in ALL.values():
        pen = penetration(s, initial_poses(s))
        print(f"{s.name:22s} bodies {len(s.bodies):5d} dof {s.ndof:5d} loop err {loop_error(s, initial_poses(s)):.1e} initial penetration {pen:.2e}")
