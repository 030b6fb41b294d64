"""Siconos adapter (Debian's package python3-siconos with Debian's own Python: there is no wheel).  Free bodies only.
Newton-Euler bodies, Moreau-Jean stepping at theta = 0.5, Bullet collision, Newton's impact law with Coulomb's disc.  A step is timed
as a whole, collision included.
variants:
  nsgs      Gauss-Seidel over contacts (SICONOS_FRICTION_3D_NSGS) to a tolerance of 1e-8 in at most 100000 sweeps, started from
            the forces of the step before
`residual` is Siconos's own measure, the error of the natural map relative to the norm of the problem's right-hand side.
Debian builds Siconos with its assertions.  Those that walk the graph of contacts whenever one comes or goes cost a tenth of the time
of 500 spheres; as long as contacts stay, they cost little.

How Bullet has to be asked (it computes in single precision here):
  * SiconosPlane is a sheet 1000 m below with a margin of 1000 m, which leaves 6e-5 m of resolution and points beside the body.
    The ground is a box.
  * Boxes are convex hulls without margin, with separating axes and clipped faces: four corners each.  Otherwise Bullet finds one
    point at a time and turns the bodies a little to find more.
  * That turning is off: it gives a sphere three points close together, on which Gauss-Seidel stalls.
  * Spheres are hulls of one point with the radius as margin: Bullet's own pair of spheres is seen only once they overlap, and
    forgotten after every step, so that no step could start from the forces before.
  * The world is scaled by ten: Bullet widens bounding boxes by a fixed 0.05, as much as the radius of a sphere here.
  * A contact takes part from a gap of 1e-6 m, which is above the noise of the gaps and below g h^2.
"""
import subprocess

import common as C
import numpy as np
import scenes as S
import siconos
import siconos.kernel as sk
import siconos.numerics as sn
from siconos.io.io_base import MechanicsIO
from siconos.mechanics.collision import RigidBodyDS
from siconos.mechanics.collision.base import SiconosContactor, SiconosContactorSet, SiconosConvexHull
from siconos.mechanics.collision.bullet import SiconosBulletCollisionManager, SiconosBulletOptions


def version():
    """The package's, where dpkg knows it: the module of Debian's 4.4.0 calls itself 4.5.0."""
    try:
        return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "python3-siconos"], check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return siconos.version


NAME, VERSION = "siconos", version()
VARIANTS = ["nsgs"]
TOLERANCE, SWEEPS = 1e-8, 100000
GROUND = [4.0, 4.0, 0.5]                                  # half extents; small, for single precision
STATIC, MOVING = 0, 1                                     # collision groups


def floats(*values):
    return [float(v) for v in values]


def box(half):
    hull = SiconosConvexHull(S._SG * np.asarray(half, float))
    hull.setInsideMargin(0.0)
    return hull


def sphere(radius):
    point = SiconosConvexHull(np.zeros((1, 3)))
    point.setInsideMargin(0.0)
    point.setOutsideMargin(float(radius))
    return point


def contactor(shape, pos, group):
    return SiconosContactor(shape, floats(*pos, 1, 0, 0, 0), group)


def body(b, gravity):
    """Linear velocity is in world axes, spin in the body's."""
    v = np.asarray(b.v0 or [0.0] * 6, float)
    spin = S.quat_to_R(b.q0[3:]).T @ v[3:]
    ds = RigidBodyDS(floats(*b.q0), floats(*v[:3], *spin), b.mass, np.diag(b.inertia))
    ds.setUseContactorInertia(False)
    ds.setFExtPtr(b.mass * np.asarray(gravity, float))
    shapes = SiconosContactorSet()
    for g in b.geoms:
        shapes.append(contactor(sphere(g.size[0]) if g.kind == 'sphere' else box(g.size), g.pos, MOVING))
    ds.setContactors(shapes)
    return ds


def collision(sc):
    options = SiconosBulletOptions()
    options.worldScale = 10.0
    options.perturbationIterations = options.minimumPointsPerturbationThreshold = 0
    options.enableSatConvex = options.enablePolyhedralContactClipping = any(g.kind == 'box' for b in sc.bodies for g in b.geoms)
    manager = SiconosBulletCollisionManager(options)
    law = sk.NewtonImpactFrictionNSL(sc.e, 0.0, sc.mu, 3)
    manager.insertNonSmoothLaw(law, STATIC, MOVING)
    if sc.body_body:
        manager.insertNonSmoothLaw(law, MOVING, MOVING)
    scenery = SiconosContactorSet()
    if sc.plane:
        scenery.append(contactor(box(GROUND), [0, 0, sc.plane_z - GROUND[2]], STATIC))
    for centre, half in sc.walls:
        scenery.append(contactor(box(half), centre, STATIC))
    manager.insertStaticContactorSet(scenery)
    return manager


def contact_problem():
    problem = sk.FrictionContact(3, sn.SICONOS_FRICTION_3D_NSGS)
    options = problem.numericsSolverOptions()
    options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = SWEEPS
    options.dparam[sn.SICONOS_DPARAM_TOL] = TOLERANCE
    problem.setMaxSize(16384)
    problem.setMStorageType(sn.NM_SPARSE_BLOCK)
    problem.setNumericsVerboseMode(False)
    problem.setKeepLambdaAndYState(True)
    return problem


class Sim:
    def __init__(self, sc):
        self.h, self.last_dt, self.pending = sc.h, 0.0, False
        self.steps = self.sweeps = self.unsolved = 0
        self.residual = 0.0
        self.model = sk.NonSmoothDynamicalSystem(0.0, 1e3)
        self.bodies = [body(b, sc.gravity) for b in sc.bodies]
        for ds in self.bodies:
            self.model.insertDynamicalSystem(ds)
        self.problem, self.manager = contact_problem(), collision(sc)
        self.options = self.problem.numericsSolverOptions()
        self.osi = sk.MoreauJeanOSI(0.5)
        self.osi.setConstraintActivationThreshold(1e-6)
        self.sim = sk.TimeStepping(self.model, sk.TimeDiscretisation(0.0, sc.h))
        self.sim.insertIntegrator(self.osi)
        self.sim.insertNonSmoothProblem(self.problem)
        self.sim.insertInteractionManager(self.manager)
        self.sim.setNewtonMaxIteration(20)                # with 1e-10, as in Siconos's own runner of scenes
        self.sim.setNewtonTolerance(1e-10)
        self.io = MechanicsIO()

    def step(self, n):
        """The second half of a step waits for the next one: it lets go of contacts, which are to be looked at before."""
        self.last_dt = 0.0
        for _ in range(n):
            self.options.iparam[sn.SICONOS_IPARAM_ITER_DONE] = 0
            t = C.clock()
            if self.pending:
                self.sim.nextStep()
            self.sim.computeOneStep()
            self.last_dt += C.clock() - t
            self.pending = True
            self.note()

    def note(self):
        """What the solver says of itself; it says nothing new when there was nothing to solve."""
        self.steps += 1
        sweeps = int(self.options.iparam[sn.SICONOS_IPARAM_ITER_DONE])
        if sweeps:
            r = float(self.options.dparam[sn.SICONOS_DPARAM_RESIDU])
            self.sweeps += sweeps
            self.residual = max(self.residual, r)
            self.unsolved += not r <= TOLERANCE

    def certificate(self):
        return dict(residual=self.residual, unsolved=self.unsolved, iterations_per_step=self.sweeps / max(1, self.steps))

    def poses(self):
        return [(q[:3], S.quat_to_R(q[3:])) for q in (np.array(ds.q()) for ds in self.bodies)]

    def vels(self):
        twists = [np.array(ds.twist()) for ds in self.bodies]
        return [(v[:3], R @ v[3:]) for v, (_, R) in zip(twists, self.poses())]

    def table(self):
        """One row per active contact: gap in column 13, velocity in 16 to 18, impulse in 19 to 21, normal part first."""
        rows = np.array(self.io.contactPoints(self.model, 1)) if self.pending else np.zeros(0)
        return rows if rows.ndim == 2 else np.zeros((0, 25))

    def ncon(self):
        return len(self.table())

    def contacts(self):
        rows = self.table()
        tangential = lambda k: np.column_stack([np.zeros(len(rows)), rows[:, k:k + 2]])
        return rows[:, 13], rows[:, 19] / self.h, tangential(20) / self.h, tangential(17)


def make(sc, variant):
    if sc.loops or any(b.joint != 'free' for b in sc.bodies):
        raise C.Unsupported("joints are not written for this adapter")
    return Sim(sc)


if __name__ == "__main__":
    C.main(globals())
