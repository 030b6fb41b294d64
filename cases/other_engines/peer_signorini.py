"""Signorini adapter: forward dynamics (T1) through the native example program `peer` of the library.

The program reads a scene as JSON, times itself with the protocol of common.py (CPU time, best of 15 batches) and prints
the time and the accelerations.
"""
import common as C
import json, os, pathlib, subprocess, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
VARIANTS = ["recursive"]
LARGE = True                     # chains of 10 000 and 100 000 links too


def build():
    subprocess.run(["cargo", "build", "--release", "--quiet", "--package", "signorini", "--example", "peer"], cwd=ROOT, check=True)
    return TARGET / "release" / "examples" / "peer"


def version():
    out = subprocess.run(["cargo", "metadata", "--no-deps", "--format-version", "1"], cwd=ROOT, check=True, capture_output=True, text=True)
    return next(p["version"] for p in json.loads(out.stdout)["packages"] if p["name"] == "signorini")


BIN = build()
NAME, VERSION = "signorini", version()


def APPLIES(sc, variant):
    return sc.name.startswith("T1")


def fwd_dyn(sc, variant):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "scene.json"
        path.write_text(sc.to_json())
        run = subprocess.run([str(BIN), str(path)], capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(run.stderr.strip() or f"exit code {run.returncode}")
    answer = json.loads(run.stdout)
    return dict(us=answer["us"], qdd=answer["qdd"] if sc.ndof <= 1000 else None, how="articulated-body recursion, one call each")


if __name__ == "__main__":
    C.main(globals())
