"""Measurement protocol shared by all Python adapters.

An adapter gives
    NAME, VERSION, VARIANTS (list of str)
    make(scene, variant) -> Sim           raise Unsupported(reason) when the peer cannot express it
    fwd_dyn(scene, variant) -> dict       keys: us, qdd (scene dof order) or None, how
and calls `main(globals())`.  LARGE = True asks for the chains of T1_LARGE as well.

A Sim has
    step(n)       n steps of scene.h, looping inside the peer where possible
    poses()       [(p, R)]   world pose of each body frame
    vels()        [(v, w)]   world velocity at the body origin, and spin
    ncon()        contacts in the last step
    contacts()    None, or arrays (phi, fn, ft[.,3], vt[.,3]) for the last step:
                  signed gap, normal force, tangential force on body 1 and the
                  tangential velocity of body 1 relative to body 2 *after* the step
    certificate() optional: what the engine says of its own exactness, over all steps so far
                  (residual, unsolved, at_floor, iterations per step)
"""
import argparse, json, math, os, sys, time, traceback
for k in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(k, "1")
import numpy as np
import scenes as S


class Unsupported(Exception):
    pass


# CPU seconds of this process: on a shared machine the wall clock counts other people's turns.
# All peers are held to one thread, so on an idle machine the two agree.
clock = time.process_time


def best_of(fn, n, batches=7):
    """fn(n) runs n evaluations; returns best microseconds per evaluation."""
    best = math.inf
    for _ in range(batches):
        t = clock()
        fn(n)
        best = min(best, (clock() - t) / n * 1e6)
    return best


def auto_best(fn, target=0.06, batches=15):
    fn(1)
    t = clock(); fn(2); dt = max((clock() - t) / 2, 1e-7)
    return best_of(fn, max(1, min(200000, int(target / dt))), batches if dt < 1 else 2)


def time_traj(make, sc, batch=25, reps=4, budget=14.0):
    """Whole trajectory several times; minimum over repetitions per phase of the
    motion, then mean and median over phases."""
    nst = int(round(sc.T / sc.h))
    nb = nst // batch
    best, used, r = None, 0.0, 0
    for r in range(reps):
        sim = make()
        ts = []
        t_all = 0.0
        for k in range(nb):
            t = clock()
            sim.step(batch)
            dt = getattr(sim, 'last_dt', None)              # native peers report their own clock
            ts.append((dt if dt is not None else clock() - t) / batch * 1e6)
            t_all += ts[-1] * batch * 1e-6
            if r == 0 and t_all > budget:
                break
        used += t_all
        if best is None:
            best = np.array(ts)
            nb = len(ts)
        else:
            best = np.minimum(best, np.array(ts))
        if hasattr(sim, 'close'):
            sim.close()
        if used * (r + 2) / (r + 1) > 2.2 * budget:
            break
    return dict(us_mean=float(best.mean()), us_settled=float(np.median(best[-max(1, len(best) // 4):])),
                us_max=float(best.max()), batch=batch, series_us=[round(float(b), 3) for b in best], steps=nb * batch, reps=r + 1, truncated=bool(nb * batch < nst))


def contact_residuals(c, mu, acc):
    phi, fn, ft, vt = c
    if len(fn) == 0:
        return
    fn = np.asarray(fn); phi = np.asarray(phi)
    ok = fn > 0
    acc['fn_max'] = max(acc.get('fn_max', 0.0), float(fn.max()))
    acc['fn_min'] = min(acc.get('fn_min', 0.0), float(fn.min()))
    acc['comp'] = max(acc.get('comp', 0.0), float(np.abs(phi * fn).max()))
    acc['fsum'] = acc.get('fsum', 0.0) + float(fn[ok].sum())
    acc['compsum'] = acc.get('compsum', 0.0) + float(np.abs(phi * fn)[ok].sum())
    if ft is not None:
        t = np.linalg.norm(ft, axis=1)
        viol = t - mu * fn
        acc['cone'] = max(acc.get('cone', 0.0), float(viol.max()))
        rel = viol / np.maximum(fn, 1e-6 * max(1e-9, fn.max()))
        acc['cone_rel'] = max(acc.get('cone_rel', 0.0), float(rel[fn > 1e-3 * fn.max()].max()) if fn.max() > 0 else 0.0)
        if vt is not None:
            s = np.linalg.norm(vt, axis=1)
            diss = mu * fn * s + (ft * vt).sum(1)
            acc['mdp'] = max(acc.get('mdp', 0.0), float(diss[ok].max()) if ok.any() else 0.0)
            acc['mdpsum'] = acc.get('mdpsum', 0.0) + float(np.abs(diss[ok]).sum())
            acc['muvsum'] = acc.get('muvsum', 0.0) + float((mu * fn * s)[ok].sum())
            slide = ok & (s > 1e-2) & (mu * fn > 1e-6)
            if slide.any():
                rr = np.abs(diss[slide]) / (mu * fn * s)[slide]
                acc['mdp_slide_sum'] = acc.get('mdp_slide_sum', 0.0) + float(rr.sum())
                acc['mdp_slide_n'] = acc.get('mdp_slide_n', 0) + int(slide.sum())


def metrics_traj(make, sc, budget=25.0):
    sim = make()
    ep, ev = initial_error(sim, sc)
    nst = int(round(sc.T / sc.h))
    every = max(1, nst // 250)
    pen, pen_end, nc, acc, t0, k = 0.0, 0.0, [], {}, time.perf_counter(), 0
    maxz = 0.0
    while k < nst:
        sim.step(every); k += every
        X = sim.poses()
        if not all(np.isfinite(X[0][0])):
            return dict(diverged_at=k * sc.h)
        p = S.penetration(sc, X)
        pen = max(pen, p)
        if k > 0.75 * nst:
            pen_end = max(pen_end, p)
        n = sim.ncon()
        if n is not None:
            nc.append(n)
        c = sim.contacts()
        if c is not None:
            contact_residuals(c, sc.mu, acc)
        if time.perf_counter() - t0 > budget:
            break
    X, V = sim.poses(), sim.vels()
    ke = S.energy(S.Scene("x", sc.bodies, gravity=[0, 0, 0]), X, V)
    out = dict(init_pose_err=ep, init_vel_err=ev, pen_max=pen, pen_settled=pen_end, contacts_mean=float(np.mean(nc)) if nc else None,
               contacts_max=int(max(nc)) if nc else None, ke_end=ke, metric_t=k * sc.h)
    if sc.name.startswith('T2b'):
        out['top_z_err'] = float(X[-1][0][2] - sc.bodies[-1].q0[2])
    if acc:
        out.update(comp_max=acc.get('comp'), comp_mean=acc['compsum'] / acc['fsum'] if acc.get('fsum') else None,
                   fn_max=acc['fn_max'], fn_min=acc['fn_min'], cone_abs=acc.get('cone'), cone_rel=acc.get('cone_rel'),
                   mdp_max=acc.get('mdp'), mdp_ratio=(acc['mdpsum'] / acc['muvsum'] if acc.get('muvsum') else None),
                   mdp_sliding=(acc['mdp_slide_sum'] / acc['mdp_slide_n'] if acc.get('mdp_slide_n') else None))
    if hasattr(sim, 'certificate'):
        out.update(sim.certificate())
    if hasattr(sim, 'close'):
        sim.close()
    return out


def initial_error(sim, sc):
    """Largest difference between the peer's state before the first step and the scene's own:
    catches scenes that an adapter built wrongly and values a peer only fills in by stepping."""
    X, V = sim.poses(), sim.vels()
    X0, V0 = S.initial_poses(sc), S.initial_vels(sc)
    ep = max(max(np.abs(a[0] - b[0]).max(), np.abs(a[1] - b[1]).max()) for a, b in zip(X, X0))
    ev = max(max(np.abs(a[0] - b[0]).max(), np.abs(a[1] - b[1]).max()) for a, b in zip(V, V0))
    return float(ep), float(ev)


# ------------------------------------------------------------------ T3
def pendulum_reference(sc, ts):
    """Two hinged links by Lagrange/Newton-Euler in body coordinates, DOP853 at 1e-12."""
    from scipy.integrate import solve_ivp
    ax = [np.asarray(b.axis, float) for b in sc.bodies]
    L, com, m = np.asarray(sc.bodies[1].anchor, float), [np.asarray(b.com, float) for b in sc.bodies], [b.mass for b in sc.bodies]
    I = [np.diag(b.inertia) for b in sc.bodies]
    g = np.asarray(sc.gravity)

    def kin(q, v):
        R1 = S.rot_axis(ax[0], q[0]); R2 = R1 @ S.rot_axis(ax[1], q[1])
        a1, a2 = R1 @ ax[0], R1 @ ax[1]
        p2 = R1 @ L; c1 = R1 @ com[0]; c2 = p2 + R2 @ com[1]
        J1v = np.array([np.cross(a1, c1), np.zeros(3)]).T
        J2v = np.array([np.cross(a1, c2), np.cross(a2, c2 - p2)]).T
        J1w = np.array([a1, np.zeros(3)]).T; J2w = np.array([a1, a2]).T
        return R1, R2, J1v, J2v, J1w, J2w, a1, a2, p2, c1, c2

    def rhs(t, y):
        q, v = y[:2], y[2:]
        R1, R2, J1v, J2v, J1w, J2w, a1, a2, p2, c1, c2 = kin(q, v)
        I1, I2 = R1 @ I[0] @ R1.T, R2 @ I[1] @ R2.T
        w1 = a1 * v[0]; w2 = w1 + a2 * v[1]
        M = m[0] * J1v.T @ J1v + m[1] * J2v.T @ J2v + J1w.T @ I1 @ J1w + J2w.T @ I2 @ J2w
        al2 = np.cross(w1, a2) * v[1]                       # bias spin of link 2
        b1 = np.cross(w1, np.cross(w1, c1))
        bp = np.cross(w1, np.cross(w1, p2))
        b2 = bp + np.cross(al2, c2 - p2) + np.cross(w2, np.cross(w2, c2 - p2))
        f = J1v.T @ (m[0] * (g - b1)) + J2v.T @ (m[1] * (g - b2)) \
            - J1w.T @ np.cross(w1, I1 @ w1) - J2w.T @ (I2 @ al2 + np.cross(w2, I2 @ w2))
        return np.r_[v, np.linalg.solve(M, f)]

    y0 = [sc.bodies[0].q0, sc.bodies[1].q0, sc.bodies[0].v0, sc.bodies[1].v0]
    sol = solve_ivp(rhs, (0, ts[-1]), y0, method='DOP853', rtol=1e-12, atol=1e-13, t_eval=ts)
    tips = []
    for y in sol.y.T:
        R1, R2, *_, p2, _, _ = kin(y[:2], y[2:])
        tips.append(p2 + R2 @ np.array(L))
    return np.array(tips)


def t3_run(make, sc):
    sim = make()
    ep, ev = initial_error(sim, sc)
    nst = int(round(sc.T / sc.h))
    nm = sc.name
    every = 1 if nm in ('T3ii_slide', 'T3iii_bounce') else 10
    rec = []
    X0, V0 = sim.poses(), sim.vels()
    E0, L0 = S.energy(sc, X0, V0), S.ang_momentum(sc, X0, V0)
    dE = dL = loop = pen = 0.0
    dE_end = 0.0
    tip2, tlist = [], []
    t0 = time.perf_counter()
    for k in range(0, nst, every):
        sim.step(every)
        t = (k + every) * sc.h
        X, V = sim.poses(), sim.vels()
        if not np.isfinite(X[0][0]).all():
            return dict(diverged_at=t)
        rec.append((t, X[0][0].copy(), V[0][0].copy(), V[0][1].copy()))
        if nm in ('T3v_pendulum', 'T3vi_fourbar', 'T3vii_top'):
            dE_end = S.energy(sc, X, V) - E0
            dE = max(dE, abs(dE_end))
            loop = max(loop, S.loop_error(sc, X))
            dL = max(dL, float(np.linalg.norm(S.ang_momentum(sc, X, V) - L0)))
        if nm == 'T3v_pendulum' and abs(t - 2.0) < 1e-9:
            tip2 = X[1][0] + X[1][1] @ np.array([0, 0, -0.5])
        if sc.plane:
            pen = max(pen, S.penetration(sc, X))
    wall = time.perf_counter() - t0
    own = sim.certificate() if hasattr(sim, 'certificate') else {}
    if hasattr(sim, 'close'):
        sim.close()
    x = np.array([r[1] for r in rec]); v = np.array([r[2] for r in rec]); ts = np.array([r[0] for r in rec])
    out = dict(pen_max=pen) if sc.plane else {}
    if nm == 'T3i_incline':
        p0 = X0[0][0]
        i1 = np.searchsorted(ts, 1.0)
        out.update(drift_10s=float(np.linalg.norm((x[-1] - p0)[:2])), creep_mps=float(np.linalg.norm((x[-1] - x[i1])[:2]) / (ts[-1] - ts[i1])))
    elif nm == 'T3ii_slide':
        d = 1 / (2 * sc.mu * S.G); tt = 1 / (sc.mu * S.G)
        moving = np.where(np.abs(v[:, 0]) > 1e-2)[0]
        out.update(dist=float(x[-1, 0]), dist_rel_err=float(x[-1, 0] / d - 1), stop_time=float(ts[moving[-1]]), stop_rel_err=float(ts[moving[-1]] / (tt * 0.99) - 1),
                   end_speed=float(np.linalg.norm(v[-1])))
    elif nm == 'T3iii_bounce':
        z = x[:, 2] - 0.1
        ap, ta = [], []
        for i in range(1, len(z) - 1):
            if z[i] >= z[i - 1] and z[i] > z[i + 1] and z[i] > 0.01:
                ap.append(float(z[i])); ta.append(float(ts[i]))
        e = sc.e
        t1 = math.sqrt(2 / S.G)
        exact = [e ** (2 * (k + 1)) for k in range(4)]
        tex = []
        t = t1
        for k in range(4):
            up = t1 * e ** (k + 1)
            tex.append(t + up); t += 2 * up
        out.update(apex=ap[:4], apex_exact=exact, apex_rel_err=[a / b - 1 for a, b in zip(ap[:4], exact)],
                   apex_t_err=[a - b for a, b in zip(ta[:4], tex)])
    elif nm.startswith('T3iv_roll'):
        w0 = sc.bodies[0].v0[4]
        ex = (5 * 1.0 + 2 * 0.1 * w0) / 7
        out.update(v_end=float(v[-1, 0]), v_exact=ex, v_rel_err=float(v[-1, 0] / ex - 1), slip_end=float(v[-1, 0] - rec[-1][3][1] * 0.1))
    elif nm == 'T3v_pendulum':
        ref = pendulum_reference(sc, [2.0])[-1]
        scale = sum(b.mass for b in sc.bodies) * S.G * 1.0
        out.update(dE_rel=dE / scale, dE_end_rel=dE_end / scale, tip_err_2s=float(np.linalg.norm(tip2 - ref)))
    elif nm == 'T3vi_fourbar':
        scale = sum(b.mass for b in sc.bodies) * S.G * 0.4
        out.update(dE_rel=dE / scale, dE_end_rel=dE_end / scale, loop_max=loop)
    elif nm == 'T3vii_top':
        out.update(dE_rel=dE / abs(E0), dL_rel=float(dL / np.linalg.norm(L0)))
    elif nm == 'T3viii_heavy':
        out.update(pen_end=S.penetration(sc, X), top_z_err=float(X[1][0][2] - 0.3))
    out.update(wall_s=wall, init_pose_err=ep, init_vel_err=ev, **own)
    return out


# ------------------------------------------------------------------ driver
def main(ns):
    ap = argparse.ArgumentParser()
    ap.add_argument('--only', default='', help='substring of scene names, comma separated')
    ap.add_argument('--variant', default='')
    ap.add_argument('--out', default='')
    ap.add_argument('--budget', type=float, default=14.0)
    a = ap.parse_args()
    keep = lambda n: (not a.only) or any(k in n for k in a.only.split(','))
    res = dict(peer=ns['NAME'], version=ns['VERSION'], results=[])

    def emit(scene, variant, d):
        d = dict(scene=scene, variant=variant, **d)
        res['results'].append(d)
        print(json.dumps({k: (float('%.4g' % v) if isinstance(v, float) else v) for k, v in d.items() if k not in ('qdd', 'series_us', 'batch', 'metric_t')}), flush=True)
        if a.out:
            json.dump(res, open(a.out, 'w'))

    for var in ns['VARIANTS']:
        if a.variant and a.variant != var:
            continue
        large = [S.t1_chain(n) for n in S.T1_LARGE if ns.get('LARGE') and keep(f"T1_chain{n}")]
        for sc in S.T1 + large + S.T2 + S.T3:
            if not keep(sc.name) or not ns.get('APPLIES', lambda s, v: True)(sc, var):
                continue
            try:
                if sc.name.startswith('T1'):
                    if 'fwd_dyn' not in ns or not ns.get('T1_VARIANT', lambda v: v == ns['VARIANTS'][0])(var):
                        continue
                    r = ns['fwd_dyn'](sc, var)
                    if r.get('qdd') is not None:
                        r['qdd'] = [float(q) for q in r['qdd']]
                    emit(sc.name, var, r)
                elif sc.name.startswith('T2'):
                    mk = lambda: ns['make'](sc, var)
                    d = time_traj(mk, sc, batch=ns.get('BATCH', 25), budget=a.budget)
                    d.update(metrics_traj(mk, sc, budget=1.5 * a.budget))
                    emit(sc.name, var, d)
                else:
                    emit(sc.name, var, t3_run(lambda: ns['make'](sc, var), sc))
            except Unsupported as ex:
                emit(sc.name, var, dict(unsupported=str(ex)))
            except Exception as ex:
                traceback.print_exc(limit=4)
                emit(sc.name, var, dict(failed=f"{type(ex).__name__}: {str(ex)[:160]}"))
    if a.out:
        json.dump(res, open(a.out, 'w'))
