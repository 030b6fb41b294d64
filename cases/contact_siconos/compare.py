"""`signorini solve` against the solvers of Siconos, problem by problem, in one run on one machine.

    python compare.py FOLDER SIGNORINI [--out results.json]

FOLDER holds `problem_io.py`, `residual.py` and `open/*.npz` (the format of `signorini solve`); SIGNORINI is the binary.
Needs the Python bindings of Siconos (Debian: python3-siconos), NumPy and SciPy. Every answer of both sides is judged by
`residual.py` from r alone. A Siconos solver gets tolerances from 1e-6 down to 1e-14 and counts with the fastest run that
reaches 1e-8; times are the shortest of several runs from r = 0, one thread, around the C driver only.
"""
import argparse, glob, json, os, signal, subprocess, sys, tempfile, time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np
import siconos.numerics as sn

SOLVERS = {
    "lcp": ["LCP_LEMKE", "LCP_PGS", "LCP_PSOR", "LCP_RPGS", "LCP_CPG", "LCP_ENUM", "LCP_PIVOT", "LCP_NEWTONMIN",
            "LCP_NEWTON_MIN_FBLSA", "LCP_NEWTON_FB_FBLSA", "LCP_AVI_CAOFERRIS"],
    "mlcp": ["MLCP_ENUM"],
    "fc2d": ["FRICTION_2D_NSGS", "FRICTION_2D_LEMKE", "FRICTION_2D_CPG", "FRICTION_2D_ENUM"],
    "fc3d": ["FRICTION_3D_NSGS", "FRICTION_3D_NSN_AC", "FRICTION_3D_NSN_AC_TEST", "FRICTION_3D_NSN_FB", "FRICTION_3D_PROX",
             "FRICTION_3D_VI_EG", "FRICTION_3D_VI_FPP", "FRICTION_3D_ADMM", "NSGS_QUARTIC", "NSGS_PLI"],
    "rfc3d": ["ROLLING_FRICTION_3D_NSGS", "ROLLING_FRICTION_3D_ADMM"],
}
LIMIT = 15  # seconds per solver and problem


class Timeout(Exception):
    pass


def on_alarm(*_):
    raise Timeout


def options_of(name):
    if name == "NSGS_QUARTIC":
        o = sn.SolverOptions(sn.SICONOS_FRICTION_3D_NSGS)
        sn.solver_options_update_internal(o, 0, sn.SICONOS_FRICTION_3D_ONECONTACT_QUARTIC)
    elif name == "NSGS_PLI":
        o = sn.SolverOptions(sn.SICONOS_FRICTION_3D_NSGS)
        sn.solver_options_update_internal(o, 0, sn.SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithLocalIteration)
    else:
        o = sn.SolverOptions(getattr(sn, "SICONOS_" + name))
    return o


def drive(p, name, tol):
    """One cold solve: (seconds, r)."""
    W, q, kind = p["W"], p["q"].copy(), p["kind"]
    n = p["n"]
    r, u = np.zeros(n), np.zeros(n)
    o = options_of(name)
    o.dparam[sn.SICONOS_DPARAM_TOL] = tol
    if o.iparam[sn.SICONOS_IPARAM_MAX_ITER] > 0 and "NSN" not in name and "PROX" not in name:
        o.iparam[sn.SICONOS_IPARAM_MAX_ITER] = max(o.iparam[sn.SICONOS_IPARAM_MAX_ITER], 20000)
    if kind == "lcp":
        problem, driver = sn.LCP(W.toarray(), q), sn.linearComplementarity_driver
    elif kind == "mlcp":
        comp = p["comp"] == 1
        order = np.r_[np.where(~comp)[0], np.where(comp)[0]]
        M = np.asfortranarray(W.toarray()[np.ix_(order, order)])
        problem = sn.MLCP(int((~comp).sum()), M, q[order])
        t = time.perf_counter()
        sn.mlcp_driver_init(problem, o)
        sn.mlcp_driver(problem, r, u, o)
        t = time.perf_counter() - t
        sn.mlcp_driver_reset(problem, o)
        out = np.zeros(n)
        out[order] = r
        return t, out
    elif kind == "rfc3d":
        problem = sn.RollingFrictionContactProblem(5, p["nc"], W, q, p["mu"], p["mu_r"])
        driver = sn.rolling_fc3d_driver
    else:
        M = W.toarray() if n <= 300 else W
        problem = sn.FrictionContactProblem(p["dim"], p["nc"], M, q, p["mu"])
        driver = sn.fc2d_driver if kind == "fc2d" else sn.fc3d_driver
    t = time.perf_counter()
    driver(problem, r, u, o)
    return time.perf_counter() - t, r


def siconos(p, name, rel):
    """Fastest time that reaches 1e-8, and the best residual."""
    best_time, best_rel = None, np.inf
    signal.alarm(LIMIT)
    try:
        for tol in (1e-6, 1e-8, 1e-10, 1e-12, 1e-14):
            t, r = drive(p, name, tol)
            value = rel(p, r)["rel"]
            best_rel = min(best_rel, value)
            if value <= 1e-8:
                repeats = int(min(20, max(1, 0.2 / max(t, 1e-6))))
                best_time = min([t] + [drive(p, name, tol)[0] for _ in range(repeats)])
                break
    except Timeout:
        pass
    except Exception as error:  # a solver that refuses the problem
        return dict(seconds=None, rel=None, error=str(error)[:80])
    finally:
        signal.alarm(0)
    return dict(seconds=best_time, rel=float(best_rel))


def signorini(binary, file, p, rel, tol):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "r.npy")
        line = subprocess.run([binary, "solve", file, "--json", "--tol", str(tol), "--out", out],
                              capture_output=True, text=True).stdout
        answer = json.loads(line)
        r = np.load(out)
    return dict(seconds=answer["seconds"], rel=rel(p, r)["rel"], floor=answer["residual"]["floor"], method=answer["method"])


def worker(args):
    """One problem in its own process: a solver that crashes takes only its problem with it."""
    sys.path.insert(0, args.folder)
    sys.dont_write_bytecode = True
    import problem_io, residual
    signal.signal(signal.SIGALRM, on_alarm)
    p = problem_io.load(args.one)
    ours = signorini(args.signorini, args.one, p, residual.residual, 1e-8)
    fine = signorini(args.signorini, args.one, p, residual.residual, 1e-12)
    row = dict(name=p["name"], kind=p["kind"], nc=p["nc"], ours=ours, ours_fine=fine, siconos={})
    print("ROW" + json.dumps(row), flush=True)
    known = {}
    if args.known:
        with open(args.known) as f:
            known = {r["name"]: r["siconos"] for r in json.load(f)}.get(p["name"], {})
    for name in SOLVERS[p["kind"]]:
        if name in known and not known[name].get("seconds"):
            continue
        row["siconos"][name] = siconos(p, name, residual.residual)
        print("ROW" + json.dumps(row), flush=True)


def summary(rows):
    def best(row):
        times = {k: v["seconds"] for k, v in row["siconos"].items() if v.get("seconds")}
        return min(times.items(), key=lambda kv: kv[1]) if times else (None, None)

    print(f"{'problem':46} {'ours':>10} {'rel':>8} {'1e-12':>8} {'NSGS':>10} {'best':>10}  ratio  best solver")
    nsgs_all = nsgs_won = all_n = all_won = 0
    medium = []
    for row in rows:
        nsgs = next((v["seconds"] for k, v in row["siconos"].items() if k.endswith("_NSGS") and v.get("seconds")), None)
        name, time_best = best(row)
        t = row["ours"]["seconds"]
        if nsgs:
            nsgs_all += 1
            nsgs_won += t < nsgs
        if time_best:
            all_n += 1
            all_won += t < time_best
            if row["kind"] == "fc3d" and 10 <= row["nc"] <= 1000:
                medium.append(t / time_best)
        show = lambda x: f"{x:10.2e}" if x else "         -"
        print(f"{row['name']:46} {show(t)} {row['ours']['rel']:8.1e} {row['ours_fine']['rel']:8.1e} {show(nsgs)} {show(time_best)}"
              f" {t / time_best if time_best else float('nan'):6.2f}  {name}")
    ok8 = sum(r["ours"]["rel"] <= 1e-8 for r in rows)
    ok12 = sum(r["ours_fine"]["rel"] <= max(1e-12, r["ours_fine"]["floor"]) for r in rows)
    print(f"\nauto at 1e-8: {ok8} of {len(rows)}; at 1e-12 or the floor: {ok12} of {len(rows)}")
    print(f"faster than NSGS where it solves: {nsgs_won} of {nsgs_all}; than the best of all: {all_won} of {all_n}")
    if medium:
        print(f"medium 3D problems, geometric mean of time over Siconos' best: {np.exp(np.mean(np.log(medium))):.3f} ({len(medium)})")


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("folder")
    a.add_argument("signorini")
    a.add_argument("--out")
    a.add_argument("--known", help="results of an earlier run: solvers that failed there are left out")
    a.add_argument("--one", help=argparse.SUPPRESS)
    args = a.parse_args()
    if args.one:
        return worker(args)
    rows = []
    for file in sorted(glob.glob(os.path.join(args.folder, "open", "*.npz"))):
        try:
            known = ["--known", args.known] if args.known else []
            text = subprocess.run([sys.executable, __file__, args.folder, args.signorini, "--one", file, *known],
                                  capture_output=True, timeout=60).stdout
        except subprocess.TimeoutExpired as late:  # a C driver that does not return: keep what was measured before
            text = late.stdout or b""
        text = text.decode()
        lines = [x[3:] for x in text.splitlines() if x.startswith("ROW")]
        if lines:
            rows.append(json.loads(lines[-1]))
            print(".", end="", file=sys.stderr, flush=True)
    if args.out:
        with open(args.out, "w") as f:
            json.dump(rows, f, indent=1)
    summary(rows)


main()
