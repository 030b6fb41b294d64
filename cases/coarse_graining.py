"""200 particles become 8 rigid bodies, and these at once a free chain with 7 ball joints [mukherjee2007, coarse-graining].

The particles and the joint points are given (`coarse_graining_particles.json`, random numbers of six digits).  25 particles each make a
body of the same mass, centre, inertia, momentum and angular momentum.  The joints then allow no relative velocity at
their points: M ΔV = Aᵀ λ, A V⁺ = 0 in absolute coordinates.  A second time by projection: V⁺ = N u with the 27 free speeds u (velocity of
the first centre, eight angular velocities) and Nᵀ M N u = Nᵀ M V⁻, which knows no impulses.
"""
import json

import numpy as np

from case import CASES, compact

BODIES, PER = 8, 25


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def rigid(m, x, v):
    """Mass, centre, velocity, inertia about the centre, angular velocity."""
    total = m.sum()
    c, u = m @ x / total, m @ v / total
    r = x - c
    inertia = sum(mk * (rk @ rk * np.eye(3) - np.outer(rk, rk)) for mk, rk in zip(m, r))
    spin = sum(mk * np.cross(rk, vk - u) for mk, rk, vk in zip(m, r, v))
    return total, c, u, inertia, np.linalg.solve(inertia, spin)


if __name__ == "__main__":
    given = json.loads((CASES / "coarse_graining_particles.json").read_text())
    m, x, v, points = (np.array(given[k]) for k in ("mass", "position", "velocity", "joint_points"))
    bodies = [rigid(m[s], x[s], v[s]) for s in (slice(PER * k, PER * (k + 1)) for k in range(BODIES))]
    M, V = np.zeros((6 * BODIES, 6 * BODIES)), np.zeros(6 * BODIES)
    A = np.zeros((3 * (BODIES - 1), 6 * BODIES))
    for k, (total, c, u, inertia, w) in enumerate(bodies):
        M[6 * k:6 * k + 3, 6 * k:6 * k + 3], M[6 * k + 3:6 * k + 6, 6 * k + 3:6 * k + 6] = total * np.eye(3), inertia
        V[6 * k:6 * k + 6] = [*u, *w]
    for j, p in enumerate(points):
        rows = slice(3 * j, 3 * j + 3)
        A[rows, 6 * j:6 * j + 6] = -np.hstack([np.eye(3), -skew(p - bodies[j][1])])
        A[rows, 6 * j + 6:6 * j + 12] = np.hstack([np.eye(3), -skew(p - bodies[j + 1][1])])
    lam = np.linalg.solve(A @ np.linalg.solve(M, A.T), -A @ V)
    after = V + np.linalg.solve(M, A.T @ lam)
    # By projection: columns of N are velocities of all bodies for one free speed each.
    free = np.zeros((6 * BODIES, 3 + 3 * BODIES))
    free[:3, :3] = np.eye(3)
    for k in range(BODIES):
        free[6 * k + 3:6 * k + 6, 3 + 3 * k:6 + 3 * k] = np.eye(3)
        if k:
            inner, outer, p = 6 * (k - 1), 6 * k, points[k - 1]
            at = free[inner:inner + 3] - skew(p - bodies[k - 1][1]) @ free[inner + 3:inner + 6]
            free[outer:outer + 3] = at + skew(p - bodies[k][1]) @ free[outer + 3:outer + 6]
    projected = free @ np.linalg.solve(free.T @ M @ free, free.T @ M @ V)
    momentum = lambda U: sum(b[0] * U[6 * k:6 * k + 3] for k, b in enumerate(bodies))
    angular = lambda U: sum(np.cross(b[1], b[0] * U[6 * k:6 * k + 3]) + b[3] @ U[6 * k + 3:6 * k + 6] for k, b in enumerate(bodies))
    energy = lambda U: float(0.5 * U @ M @ U)
    rows = lambda U, at: [list(U[6 * k + at:6 * k + at + 3]) for k in range(BODIES)]
    answer = dict(
        case="coarse-graining", what="200 particles, 8 rigid bodies, one free chain with 7 ball joints imposed at once",
        accuracy=dict(difference_multipliers_projection=float(abs(after - projected).max()),
                      momentum=float(abs(momentum(after) - momentum(V)).max()), angular_momentum=float(abs(angular(after) - angular(V)).max()),
                      carnot=energy(V) - energy(after) - energy(after - V), particles=float(abs(momentum(V) - m @ v).max())),
        joint_points=[list(p) for p in points],
        bodies=dict(mass=[b[0] for b in bodies], centre=[list(b[1]) for b in bodies], velocity=rows(V, 0), angular_velocity=rows(V, 3),
                    inertia=[[b[3][0, 0], b[3][1, 1], b[3][2, 2], b[3][0, 1], b[3][0, 2], b[3][1, 2]] for b in bodies]),
        after=dict(velocity=rows(after, 0), angular_velocity=rows(after, 3), impulses=[list(lam[3 * j:3 * j + 3]) for j in range(BODIES - 1)]),
        totals=dict(kinetic_particles=float(0.5 * (m * (v * v).sum(axis=1)).sum()), kinetic_bodies=energy(V), kinetic_chain=energy(after),
                    momentum=list(momentum(V)), angular_momentum=list(angular(V))))
    (CASES / "coarse_graining.json").write_text(compact(json.dumps(answer, indent=1)) + "\n")
    print(answer["accuracy"])
