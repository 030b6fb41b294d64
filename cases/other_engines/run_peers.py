"""Run the peer adapters, print one table per test group, write results.json.

    python run_peers.py                      every peer whose module imports
    python run_peers.py --peers mujoco,rapier --only T2a,T3 --budget 5
    python run_peers.py --table              print the stored results again

Each peer runs in its own process with one thread, so a crash or a thread pool of one
cannot touch another.  Results of peers that are not run again are kept; --fresh drops them.
A new engine joins by adding peer_<name>.py (see common.py for what it must offer; a native
engine may speak the line protocol of rapier/src/main.rs instead of binding to Python).
"""
import argparse, json, os, pathlib, platform, shutil, subprocess, sys, tempfile, time

HERE = pathlib.Path(__file__).resolve().parent
PEERS = ["signorini", "mujoco", "pinocchio", "drake", "rapier", "exudyn", "dart", "pybullet", "siconos"]
OUT = HERE / "results.json"
SYSTEM_MODULES = {"siconos": "siconos.mechanics.collision.bullet"}     # peers without a wheel, and what their Python must import


def python_for(peer):
    """The Python to start an adapter with: this one, or for a peer without a wheel the system's that has it (None if none has)."""
    module = SYSTEM_MODULES.get(peer)
    if module is None:
        return sys.executable
    for name in (sys.executable, "/usr/bin/python3", "python3"):
        python = shutil.which(name)
        if python and subprocess.run([python, "-c", "import " + module], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            return python


def g(v, n=3):
    if v is None:
        return "-"
    if isinstance(v, (list, tuple)):
        return " ".join(g(x, 2) for x in v)
    return f"{v:.{n}g}" if isinstance(v, float) else str(v)


def why(r):
    if 'unsupported' in r:
        return "n/a: " + r['unsupported'][:60]
    if 'failed' in r:
        return "FAILED: " + r['failed'][:60].replace("\n", " ")
    if 'diverged_at' in r:
        return f"diverged at t={r['diverged_at']:.3g} s"


def tables(db):
    rows = [(p, r) for p in db['peers'] for r in db['peers'][p]['results']]
    done = list(dict.fromkeys(r['scene'] for _, r in rows))
    order = [s for s in dict.fromkeys(db.get('scene_order', []) + done) if s in done]
    for group, table in (('T1', table_t1), ('T2', table_t2), ('T3', table_t3)):
        scenes = [s for s in order if s.startswith(group)]
        if scenes:
            table(rows, scenes)


def table_t1(rows, scenes):
    """Microseconds, and behind them the ratio to signorini; a second table with differences in acceleration."""
    rows = [(p + ('/' + r['variant'] if p == 'rapier' else ''), r) for p, r in rows if r['scene'].startswith('T1')]
    peers = list(dict.fromkeys(p for p, _ in rows))
    cell = {(p, r['scene']): r for p, r in rows if not why(r)}
    head = f"{'':16s}" + "".join(f"{p:>22s}" for p in peers)
    scenes = [s for s in scenes if any((p, s) in cell for p in peers)]
    print("\nT1 forward dynamics, microseconds per evaluation (ratio to signorini)\n" + head)
    for s in scenes:
        own = cell.get(('signorini', s))
        ratio = lambda r: f" ({r['us'] / own['us']:.2f})" if own else ""
        print(f"{s:16s}" + "".join(f"{(g(cell[p, s]['us'], 4) + ratio(cell[p, s])) if (p, s) in cell else 'n/a':>22s}" for p in peers))
    print("\nT1 accelerations: largest difference from pinocchio (or drake), relative to the largest acceleration\n" + head)
    for s in scenes:
        ref = next((cell[p, s]['qdd'] for p in ('pinocchio', 'drake') if cell.get((p, s), {}).get('qdd')), None)
        k = 6 if 'humanoid' in s else 0                     # engines differ in the six of the free root

        def difference(p):
            a = cell.get((p, s), {}).get('qdd')
            if not a or not ref:
                return "-"
            return f"{max(abs(x - y) for x, y in zip(a[k:], ref[k:])) / max(abs(y) for y in ref[k:]):.0e}"
        print(f"{s:16s}" + "".join(f"{difference(p):>22s}" for p in peers))


def table_t2(rows, scenes):
    print("\nT2 contact stepping, h = 1 ms.  us/step: mean over the run | last quarter;  * = stopped early by the time budget (steps done shown)")
    hd = f"{'peer/variant':22s}{'us mean':>10s}{'us last':>10s}{'steps':>7s}{'ncon':>7s}{'max':>6s}{'pen max':>10s}{'pen end':>10s}{'|gap*f|max':>11s}{'mean gap':>10s}{'cone rel':>10s}{'MDP W':>10s}{'MDP ratio':>10s}{'MDP slide':>10s}{'residual':>10s}{'unsolved':>9s}"
    for s in scenes:
        print(f"-- {s}\n{hd}")
        for p, r in rows:
            if r['scene'] != s:
                continue
            nm = f"{p}/{r['variant']}"
            if why(r) and 'us_mean' not in r:
                print(f"{nm:22s}  {why(r)}")
                continue
            st = f"{r['steps']}{'*' if r['truncated'] else ''}"
            print(f"{nm:22s}{g(r['us_mean'], 4):>10s}{g(r['us_settled'], 4):>10s}{st:>7s}{g(r.get('contacts_mean')):>7s}{g(r.get('contacts_max')):>6s}{g(r.get('pen_max')):>10s}"
                  f"{g(r.get('pen_settled')):>10s}{g(r.get('comp_max')):>11s}{g(r.get('comp_mean')):>10s}{g(r.get('cone_rel')):>10s}{g(r.get('mdp_max')):>10s}{g(r.get('mdp_ratio')):>10s}{g(r.get('mdp_sliding')):>10s}{g(r.get('residual'), 2):>10s}{g(r.get('unsolved')):>9s}"
                  + (f"  {why(r)}" if why(r) else ""))
        done = [(p, r) for p, r in rows if r['scene'] == s and r.get('series_us')]
        if any(r['truncated'] for _, r in done):
            done = [(p, r) for p, r in done if r['steps'] >= 250]
            n = min(r['steps'] for _, r in done)
            mean = lambda r: sum(r['series_us'][:n // r['batch']]) / (n // r['batch'])
            print(f"   over the first {n} steps (peers that got that far): " + ", ".join(f"{p}/{r['variant']} {mean(r):.4g}" for p, r in done))


def table_t3(rows, scenes):
    print("\nT3 accuracy, h = 1 ms")
    keys = {'T3i_incline': ['drift_10s', 'creep_mps', 'pen_max'], 'T3ii_slide': ['dist', 'dist_rel_err', 'stop_time', 'end_speed', 'pen_max'],
            'T3iii_bounce': ['apex_rel_err', 'apex_t_err', 'pen_max'], 'T3iv_roll': ['v_end', 'v_rel_err', 'slip_end'], 'T3iv_roll_backspin': ['v_end', 'v_rel_err', 'slip_end'],
            'T3v_pendulum': ['dE_rel', 'dE_end_rel', 'tip_err_2s'], 'T3vi_fourbar': ['loop_max', 'dE_rel', 'dE_end_rel'], 'T3vii_top': ['dE_rel', 'dL_rel'],
            'T3viii_heavy': ['pen_max', 'pen_end', 'top_z_err']}
    for s in scenes:
        print(f"-- {s}\n{'peer/variant':22s}" + "".join(f"{k:>{38 if k.startswith('apex') else 14}s}" for k in keys[s]))
        for p, r in rows:
            if r['scene'] == s:
                print(f"{p + '/' + r['variant']:22s}" + ("  " + why(r) if why(r) else "".join(f"{g(r.get(k), 4):>{38 if k.startswith('apex') else 14}s}" for k in keys[s])))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--peers', default=",".join(PEERS))
    ap.add_argument('--only', default='')
    ap.add_argument('--budget', default='8')
    ap.add_argument('--cpu', type=int, default=-1, help='pin to this core')
    ap.add_argument('--timeout', type=float, default=1500)
    ap.add_argument('--fresh', action='store_true')
    ap.add_argument('--table', action='store_true')
    ap.add_argument('--out', default=str(OUT))
    a = ap.parse_args()
    out = pathlib.Path(a.out)
    db = json.loads(out.read_text()) if out.exists() and not a.fresh else dict(peers={})
    if not a.table:
        sys.path.insert(0, str(HERE))
        import scenes
        t1 = [s.name for s in scenes.T1] + [f"T1_chain{n}" for n in scenes.T1_LARGE]
        db['scene_order'] = t1 + [s for s in scenes.ALL if s not in t1]
        db['machine'] = dict(cpu=platform.processor() or platform.machine(), cores=os.cpu_count(), python=platform.python_version())
        env = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
        for p in a.peers.split(","):
            t = time.time()
            python = python_for(p)
            if python is None:
                print(f"## {p}\n   skipped: no Python here imports {SYSTEM_MODULES[p]}; `apt install python3-{p}` (Debian, Ubuntu) brings one", flush=True)
                continue
            with tempfile.TemporaryDirectory() as td:
                f = pathlib.Path(td) / "r.json"
                cmd = [python, "-W", "ignore", str(HERE / f"peer_{p}.py"), "--out", str(f), "--budget", a.budget] + (["--only", a.only] if a.only else [])
                if a.cpu >= 0:
                    cmd = ["taskset", "-c", str(a.cpu)] + cmd
                print("##", p, flush=True)
                try:
                    rc = subprocess.run(cmd, env=env, cwd=HERE, timeout=a.timeout, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                    note = "" if rc.returncode == 0 else f"exit code {rc.returncode}: " + rc.stderr.decode(errors='replace')[-300:]
                except subprocess.TimeoutExpired:
                    note = "timed out"
                if not f.exists():
                    print("   no result:", note)
                    continue
                new = json.loads(f.read_text())
            old = db['peers'].get(p, dict(results=[]))
            seen = {(r['scene'], r['variant']) for r in new['results']}
            merged = new['results'] + [r for r in old['results'] if (r['scene'], r['variant']) not in seen]
            db['peers'][p] = dict(version=new['version'], note=note, wall_s=time.time() - t, results=merged)
            out.write_text(json.dumps(db, indent=0))
            print(f"   {time.time() - t:.0f} s {note}", flush=True)
    tables(db)


if __name__ == "__main__":
    main()
