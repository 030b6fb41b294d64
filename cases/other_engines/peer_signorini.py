"""Signorini adapter: drives the native example program `peer` of the library.

The program reads a scene as JSON.  For forward dynamics (T1) it times itself with the protocol of common.py (CPU time, best of
15 batches); for steps (T2, T3) it speaks the line protocol of rapier/src/main.rs and tells the worst contact residual as well.
variants:
  default  tolerance of contact problems 1e-12, Stewart and Trinkle's step; adaptive method (rtol 1e-9) where nothing can touch
  1e-8     the same with tolerance 1e-8 (scenes with contact)
  moreau   the step after Moreau and Jean, tolerance 1e-8 (scenes with contact)
  tight    adaptive method with rtol 1e-13 (scenes without contact)
"""
import common as C
import json, os, pathlib, subprocess, tempfile
import numpy as np
import scenes as S

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
VARIANTS = ["default", "1e-8", "moreau", "tight"]
OPTIONS = {"default": [], "1e-8": ["--tolerance", "1e-8"], "moreau": ["--integrator", "moreau", "--tolerance", "1e-8"], "tight": ["--rtol", "1e-13"]}
LARGE = True                     # chains of 10 000 and 100 000 links too


def build():
    # the whole workspace, as its tests build it: a package alone may get other features, and compile everything again
    subprocess.run(["cargo", "build", "--release", "--quiet", "--workspace", "--example", "peer"], cwd=ROOT, check=True)
    return TARGET / "release" / "examples" / "peer"


def version():
    out = subprocess.run(["cargo", "metadata", "--no-deps", "--format-version", "1"], cwd=ROOT, check=True, capture_output=True, text=True)
    return next(p["version"] for p in json.loads(out.stdout)["packages"] if p["name"] == "signorini")


BIN = build()
NAME, VERSION = "signorini", version()


def APPLIES(sc, variant):
    if sc.name.startswith("T1") or variant == "default":
        return True
    return (variant == "tight") != sc.plane


def fwd_dyn(sc, variant):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "scene.json"
        path.write_text(sc.to_json())
        run = subprocess.run([str(BIN), str(path)], capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(run.stderr.strip() or f"exit code {run.returncode}")
    answer = json.loads(run.stdout)
    return dict(us=answer["us"], qdd=answer["qdd"] if sc.ndof <= 1000 else None, how="articulated-body recursion, one call each")


class Sim:
    def __init__(self, sc, variant):
        self.folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(self.folder.name) / "scene.json"
        path.write_text(sc.to_json())
        self.p = subprocess.Popen([str(BIN), str(path), "steps", *OPTIONS[variant]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1)
        self.last_dt = 0.0

    def ask(self, command):
        try:
            self.p.stdin.write(command + "\n"); self.p.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self.p.stdout.readline()
        if not answer:
            raise RuntimeError(self.p.stderr.read().strip() or "peer process ended")
        return answer

    def step(self, n):
        self.last_dt = float(self.ask(f"step {n}"))

    def state(self):
        d = json.loads(self.ask("state"))
        return [(np.array(x[:3]), S.quat_to_R(x[3:])) for x in d["x"]], [(np.array(v[:3]), np.array(v[3:])) for v in d["v"]]

    def poses(self):
        return self.state()[0]

    def vels(self):
        return self.state()[1]

    def ncon(self):
        return int(self.ask("ncon"))

    def contacts(self):
        a = np.array(json.loads(self.ask("contacts"))).reshape(-1, 8)
        return a[:, 0], a[:, 1], a[:, 2:5], a[:, 5:8]

    def certificate(self):
        d = json.loads(self.ask("certificate"))
        return dict(residual=d["rel"], unsolved=d["unsolved"], at_floor=d["at_floor"], iterations=d["iterations"] / max(1, d["steps"]))

    def close(self):
        try:
            self.p.stdin.write("quit\n"); self.p.stdin.flush()
            self.p.wait(5)
        except Exception:
            self.p.kill()
        self.folder.cleanup()


def make(sc, variant):
    return Sim(sc, variant)


if __name__ == "__main__":
    C.main(globals())
