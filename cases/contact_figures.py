"""Draws figures 7 to 10 of [bhalerao2009] from runs of the four pendulum scenes, into `book/img/`.

    python contact_figures.py path/to/signorini

The only script here that runs the engine: figure 7 shows the drift of the centre of mass at several steps, figure 8 angles and their errors against
`sliding_pendulum.json`, figures 9 and 10 the motion of P1.
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

from case import CASES, SCENES, rotation

IMAGES = CASES.parent / "book" / "img"
COLOURS = ["#1f6fb4", "#d2691e", "#2e8b57", "#a03070", "#777777", "#000000"]
WIDTH, HEIGHT, LEFT, TOP = 640, 250, 86, 40


def run(name, step=None):
    """The trajectory of a scene: {column: values}."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.argv[1], "run", str(SCENES / name / "scene.toml"), "--csv", "--quiet", "--out", f"{folder}/out"]
        subprocess.run(command + (["--step", repr(step)] if step else []), check=True)
        rows = list(csv.reader(open(f"{folder}/out/trajectory.csv")))
    table = np.array(rows[1:], float)
    return {name: table[:, k] for k, name in enumerate(rows[0])}


def ticks(low, high, logarithmic):
    if logarithmic:
        return [10.0 ** k for k in range(int(np.ceil(np.log10(low) - 1e-9)), int(np.floor(np.log10(high) + 1e-9)) + 1)]
    span = high - low
    unit = 10 ** np.floor(np.log10(span / 3))
    unit = next(unit * m for m in (1, 2, 5, 10) if span / (unit * m) <= 6)
    return [unit * k for k in range(int(np.ceil(low / unit - 1e-9)), int(np.floor(high / unit + 1e-9)) + 1)]


def label(x, logarithmic):
    return f"1e{round(np.log10(x))}" if logarithmic else f"{x:g}" if abs(x) > 1e-12 else "0"


def panel(title, x_name, y_name, lines, row, logarithmic=False):
    """One plot: lines are (name, x, y)."""
    xs, ys = np.concatenate([l[1] for l in lines]), np.concatenate([l[2] for l in lines])
    if logarithmic:
        ys = ys[ys > 0]
    x0, x1, y0, y1 = xs.min(), xs.max(), ys.min(), ys.max()
    if logarithmic:
        y0 = max(y0, y1 * 1e-6)
        f, g = np.log10, lambda v: np.maximum(v, y0)
    else:
        air = 0.06 * (y1 - y0 or 1)
        y0, y1, f, g = y0 - air, y1 + air, lambda v: v, lambda v: v
    w, h, top = WIDTH - LEFT - 20, HEIGHT - TOP - 44, row * HEIGHT + TOP
    px = lambda x: LEFT + (x - x0) / (x1 - x0) * w
    py = lambda y: top + (f(y1) - f(g(y))) / (f(y1) - f(y0)) * h
    out = [f'<text x="{LEFT}" y="{top - 22}" font-weight="bold">{title}</text>', f'<rect x="{LEFT}" y="{top}" width="{w}" height="{h}" fill="none" stroke="#999"/>']
    for x in ticks(x0, x1, False):
        out.append(f'<path d="M{px(x):.1f} {top + h}v4" stroke="#999"/><text x="{px(x):.1f}" y="{top + h + 17}" text-anchor="middle">{label(x, False)}</text>')
    for y in ticks(y0, y1, logarithmic):
        out.append(f'<path d="M{LEFT} {py(y):.1f}h{w}" stroke="#ddd"/><text x="{LEFT - 6}" y="{py(y) + 4:.1f}" text-anchor="end">{label(y, logarithmic)}</text>')
    out.append(f'<text x="{LEFT + w / 2}" y="{top + h + 33}" text-anchor="middle">{x_name}</text>')
    out.append(f'<text transform="translate(18 {top + h / 2}) rotate(-90)" text-anchor="middle">{y_name}</text>')
    for k, (name, x, y) in enumerate(lines):
        points = " ".join(f"{px(a):.1f},{py(b):.1f}" for a, b in zip(x, y))
        out.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[k]}" stroke-width="1.3"/>')
        at = LEFT + w - 108 * (len(lines) - k)
        out.append(f'<path d="M{at} {top - 10}h18" stroke="{COLOURS[k]}" stroke-width="2"/><text x="{at + 22}" y="{top - 6}">{name}</text>')
    return out


def write(name, panels):
    height = HEIGHT * len(panels)
    body = "\n".join(line for row, p in enumerate(panels) for line in panel(*p[:4], row, *p[4:]))
    (IMAGES / f"{name}.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>\n{body}\n</svg>\n')


def drift():
    lines = {c: [] for c in "xy"}
    for step in (1e-2, 1e-3, 1e-4):
        r = run("falling-pendulum", step)
        for c in "xy":
            middle = (r[f"A.{c}"] + r[f"B.{c}"]) / 2
            lines[c].append((f"h = {step:g} s", r["t"], middle - middle[0]))
    largest = {step: max(np.abs(lines[c][k][2]).max() for c in "xy") for k, step in enumerate((1e-2, 1e-3, 1e-4))}
    print("drift", largest)
    write("falling-pendulum", [(f"Drift of the centre of mass, {c}", "time, s", "metres", lines[c]) for c in "xy"])


def angles(q):
    """Body-fixed x-y-z angles."""
    R = rotation(q)
    return np.arctan2(-R[1, 2], R[2, 2]), np.arcsin(np.clip(R[0, 2], -1, 1)), np.arctan2(-R[0, 1], R[0, 0])


def product(a, b):
    return np.array([a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


def body_angles(r):
    q = {b: np.array([r[f"{b}.{c}"] for c in ("qw", "qx", "qy", "qz")]).T for b in "AB"}
    relative = [product(a * [1, -1, -1, -1], b) for a, b in zip(q["A"], q["B"])]
    # Of the two triples that give one rotation the one that starts at (0, 2, 0), as in the paper.
    other = np.array([angles(x) for x in q["A"]]) * [1, -1, 1] + np.pi
    other = np.unwrap(other, axis=0)
    return {"A": other - 2 * np.pi * np.round((other[0] - [0, 2, 0]) / (2 * np.pi)), "B relative to A": np.unwrap([angles(x) for x in relative], axis=0)}


def against_reference():
    r = run("sliding-pendulum", 1e-4)
    wanted = json.loads((CASES / "sliding_pendulum.json").read_text())
    times = np.array(wanted["t"])
    rows = [int(np.argmin(abs(r["t"] - t))) for t in times]
    found = body_angles(r)
    exact = body_angles({k: np.array(v) for k, v in wanted["columns"].items()})
    panels = []
    for body in found:
        panels.append((f"Angles of {body}", "time, s", "radians", [(f"q{k + 1}", r["t"], found[body][:, k]) for k in range(3)]))
        error = np.abs((found[body][rows] - exact[body] + np.pi) % (2 * np.pi) - np.pi)
        panels.append((f"Error of the angles of {body}, h = 1e-4 s", "time, s", "radians", [(f"q{k + 1}", times[1:], error[1:, k]) for k in range(3)], True))
        print("largest error of angles of", body, error.max())
    write("sliding-pendulum", panels)


def motion():
    r = run("planar-pendulum")
    write("planar-pendulum", [("Point P1", "time, s", "metres", [("x", r["t"], r["P1.x"]), ("z", r["t"], r["P1.z"])])])
    r = run("bouncing-pendulum")
    lines = []
    for c, k in (("x", 0), ("z", 2)):
        v = []
        for i in range(len(r["t"])):
            R = rotation([r[f"A.{q}"][i] for q in ("qw", "qx", "qy", "qz")])
            w = np.array([r[f"A.w{a}"][i] for a in "xyz"])
            v.append(r[f"A.v{c}"][i] + np.cross(w, R @ [0, 0, 0.5])[k])
        lines.append((f"v{c}", r["t"], np.array(v)))
    write("bouncing-pendulum", [("Velocity of P1", "time, s", "metres per second", lines)])


if __name__ == "__main__":
    drift()
    against_reference()
    motion()
