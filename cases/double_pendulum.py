"""Spatial double pendulum (universal joint, then ball joint): Kane's equations, confirmed by Lagrange's.

First: speeds u = (α′, β′, ω₂ in axes of the lower body) and a quaternion for the lower body; 5 × 5 system from partial
velocities.  Second: Lagrange's equations in five angles, derived symbolically.  Both by DOP853; their difference and
the growth of a small disturbance over the run are stored.
"""
import numpy as np
import sympy as sp

from case import G, integrate, quaternion_rate, rotation, store

M1, M2 = 1.0, 0.8
C1, ELBOW, C2 = np.array([0, 0, -0.5]), np.array([0, 0, -1.0]), np.array([0.02, -0.01, -0.35])
I1, I2 = np.diag([0.09, 0.085, 0.02]), np.diag([0.05, 0.045, 0.015])
SHOULDER, SHOULDER_V = [0.6, 0.3], [0.3, -0.5]
RELATIVE = np.array([0.9, 0.3, -0.3, 0.1])                 # unit quaternion of the ball joint
RELATIVE_V = np.array([0.3, -0.4, 1.0])                    # in axes of the lower body
END = 10.0


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def upper(a, b):
    ca, sa, cb, sb = np.cos(a), np.sin(a), np.cos(b), np.sin(b)
    return np.array([[cb, 0, sb], [sa * sb, ca, -sa * cb], [-ca * sb, sa, ca * cb]])


def rates(t, y):
    a, b = y[:2]
    q, u = y[2:6] / np.linalg.norm(y[2:6]), y[6:]
    R1, R2 = upper(a, b), rotation(q)
    S = np.array([[np.cos(b), 0], [0, 1], [np.sin(b), 0]])               # ω₁ = S (α′, β′), body axes
    w1, w2 = S @ u[:2], u[2:]
    dS = np.array([[-np.sin(b), 0], [0, 0], [np.cos(b), 0]]) @ u[:2] * u[1]
    W1, W2 = np.hstack([S, np.zeros((3, 3))]), np.hstack([np.zeros((3, 2)), np.eye(3)])
    V1 = -R1 @ skew(C1) @ W1
    V2 = -R1 @ skew(ELBOW) @ W1 - R2 @ skew(C2) @ W2
    a1 = R1 @ (np.cross(w1, np.cross(w1, C1)) + np.cross(dS, C1))
    a2 = R1 @ (np.cross(w1, np.cross(w1, ELBOW)) + np.cross(dS, ELBOW)) + R2 @ np.cross(w2, np.cross(w2, C2))
    g = np.array([0, 0, -G])
    A = M1 * V1.T @ V1 + M2 * V2.T @ V2 + W1.T @ I1 @ W1 + W2.T @ I2 @ W2
    f = M1 * V1.T @ (g - a1) + M2 * V2.T @ (g - a2) - W1.T @ (I1 @ dS + np.cross(w1, I1 @ w1)) - W2.T @ np.cross(w2, I2 @ w2)
    return np.concatenate([u[:2], quaternion_rate(y[2:6], w2), np.linalg.solve(A, f)])


def lagrange():
    """Right-hand side in (α, β, c, d, e) with R₂ = R₁ Rx(c) Ry(d) Rz(e)."""
    q, v = sp.symbols("q0:5"), sp.symbols("v0:5")
    turn = [sp.rot_axis1, sp.rot_axis2, sp.rot_axis3]
    R1 = turn[0](-q[0]) * turn[1](-q[1])
    R2 = R1 * turn[0](-q[2]) * turn[1](-q[3]) * turn[2](-q[4])
    vec = lambda a: sp.Matrix([sp.Rational(str(x)) for x in a])
    p1, p2 = R1 * vec(C1), R1 * vec(ELBOW) + R2 * vec(C2)

    def spin(R):
        columns = []
        for x in q:
            K = R.T * R.diff(x)
            columns.append(sp.Matrix([K[2, 1], K[0, 2], K[1, 0]]))
        return sp.Matrix.hstack(*columns)

    W1, W2 = spin(R1), spin(R2)
    P1, P2 = p1.jacobian(q), p2.jacobian(q)
    diag = lambda I: sp.diag(*[sp.Rational(str(x)) for x in np.diag(I)])
    A = sp.Rational(str(M1)) * P1.T * P1 + sp.Rational(str(M2)) * P2.T * P2 + W1.T * diag(I1) * W1 + W2.T * diag(I2) * W2
    V = sp.Float(G, 30) * (sp.Rational(str(M1)) * p1[2] + sp.Rational(str(M2)) * p2[2])
    u = sp.Matrix(v)
    momentum = A * u
    f = (u.T * A * u)[0].diff(sp.Matrix(q)) / 2 - V.diff(sp.Matrix(q)) - momentum.jacobian(q) * u
    fn = sp.lambdify([*q, *v], [A, f], cse=True)

    def rhs(t, y):
        A, f = fn(*y)
        return np.concatenate([y[5:], np.linalg.solve(A, f.ravel())])
    return rhs


def product(a, b):
    return np.array([a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


def angles_start():
    """The same start in the five angles."""
    R = rotation(RELATIVE)
    c, d, e = np.arctan2(-R[1, 2], R[2, 2]), np.arcsin(R[0, 2]), np.arctan2(-R[0, 1], R[0, 0])
    Rz = rotation([np.cos(e / 2), 0, 0, np.sin(e / 2)])
    Ry = rotation([np.cos(d / 2), 0, np.sin(d / 2), 0])
    S = np.column_stack([(Ry @ Rz).T @ [1, 0, 0], Rz.T @ [0, 1, 0], [0, 0, 1]])
    return np.concatenate([SHOULDER, [c, d, e], SHOULDER_V, np.linalg.solve(S, RELATIVE_V)])


def columns(y):
    """α, β and their rates, centre of mass and angular velocity of the lower body."""
    R1, R2 = upper(*y[:2]), rotation(y[2:6] / np.linalg.norm(y[2:6]))
    return np.concatenate([y[:2], y[6:8], R1 @ ELBOW + R2 @ C2, R2 @ y[8:]])


if __name__ == "__main__":
    times = np.linspace(0, END, 41)
    half = np.array(SHOULDER) / 2
    q1 = product(np.array([np.cos(half[0]), np.sin(half[0]), 0, 0]), np.array([np.cos(half[1]), 0, np.sin(half[1]), 0]))
    w1 = np.array([np.cos(SHOULDER[1]) * SHOULDER_V[0], SHOULDER_V[1], np.sin(SHOULDER[1]) * SHOULDER_V[0]])
    w2 = rotation(RELATIVE).T @ w1 + RELATIVE_V
    y0 = np.concatenate([SHOULDER, product(q1, RELATIVE), SHOULDER_V, w2])
    y = integrate(rates, y0, times)
    z = integrate(rates, y0 + 1e-8 * np.eye(11)[0], times)
    x = integrate(lagrange(), angles_start(), times)
    table = np.array([columns(s) for s in y])
    growth = float(np.abs(np.array([columns(s) for s in z]) - table).max() / 1e-8)
    names = ["shoulder.q0", "shoulder.q1", "shoulder.v0", "shoulder.v1", "lower.x", "lower.y", "lower.z", "lower.wx", "lower.wy", "lower.wz"]
    store(
        "double-pendulum", "spatial double pendulum: universal joint to the ground, ball joint between the two bodies",
        dict(masses=[M1, M2], com=[list(C1), list(C2)], elbow=list(ELBOW), inertia=[list(np.diag(I1)), list(np.diag(I2))], g=G,
             shoulder=[SHOULDER, SHOULDER_V], ball=[list(RELATIVE), list(RELATIVE_V)]),
        times, dict(zip(names, table.T)),
        dict(difference_Kane_Lagrange=float(np.abs(x[:, [0, 1, 5, 6]] - table[:, :4]).max()), growth_of_a_disturbance_of_1e_8=growth),
        [(names, [1.0, 5.0], 1e-8, "rtol 1e-11; disturbances grow little before t = 5."),
         (names, [10.0], 1e-7, "rtol 1e-11; a disturbance grows 270-fold over 10 s.")],
        [("energy.max_drift", 1e-9, "rtol 1e-11 per step over a few hundred steps.")],
    )
