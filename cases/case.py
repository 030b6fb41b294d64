"""What every reference script shares: integrate twice by unlike methods, store the answer, write the checks.

A script computes columns (named as in `trajectory.csv`) at a list of times, measures its own accuracy, and calls
`store`, which writes `cases/NAME.json` and `scenes/NAME/expected.toml`.  Nothing here knows the engine.
"""
import json
import pathlib

import numpy as np
from scipy.integrate import solve_ivp

CASES = pathlib.Path(__file__).resolve().parent
SCENES = CASES.parent / "scenes"
G = 9.81


def integrate(rhs, y0, times, rtol=1e-13, atol=1e-15, method="DOP853", jac=None):
    """The states at `times`, one row each."""
    options = {} if jac is None else {"jac": jac}
    s = solve_ivp(rhs, (times[0], times[-1]), y0, method=method, t_eval=times, rtol=rtol, atol=atol, **options)
    assert s.success, s.message
    return s.y.T


def integrate_twice(rhs, y0, times, rtol=1e-13, atol=1e-15, other="RK45", other_rtol=3e-13):
    """The states by DOP853 and their largest difference from a second method."""
    y = integrate(rhs, y0, times, rtol, atol)
    z = integrate(rhs, y0, times, max(other_rtol, 2.3e-14), atol, other)
    return y, float(np.abs(y - z).max())


def rotation(q):
    """Rotation matrix of a unit quaternion w x y z."""
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def quaternion_rate(q, w_body):
    """Time derivative of a quaternion w x y z under an angular velocity in body axes."""
    w, x, y, z = q
    a, b, c = w_body
    return 0.5 * np.array([-x * a - y * b - z * c, w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a])


def store(name, what, parameters, times, columns, accuracy, checks, summary, extra=None, events=(), balances=(), script=None):
    """Write `cases/NAME.json` and `scenes/NAME/expected.toml`; `script` if it is not called NAME.py.

    columns: {column: values at `times`}; checks: [(columns, times, tolerance, reason)];
    summary: [(key, largest allowed value, reason)]; events: [(event, occurrence, {entry: value}, tolerance, reason)];
    balances: [(event, count, pairs of entries that are equal, relative tolerance, reason)].
    """
    times = [float(t) for t in times]
    table = {c: [float(x) for x in v] for c, v in columns.items()}
    answer = dict(case=name, what=what, parameters=parameters, accuracy=accuracy, **(extra or {}), t=times, columns=table)
    if events:
        answer["events"] = [dict(event=e, occurrence=k, **{p: float(v) for p, v in values.items()}) for e, k, values, *_ in events]
    text = json.dumps(answer, indent=1, ensure_ascii=False)
    (CASES / f"{name.replace('-', '_')}.json").write_text(compact(text) + "\n")

    source = f"cases/{name.replace('-', '_')}"
    out = [f"# Written by cases/{script or source[6:]}.py; the format is described in scenes/README.md.", ""]
    for names, at, tolerance, reason in checks:
        for t in at:
            k = next(k for k, x in enumerate(times) if abs(x - t) < 1e-12)
            values = "".join(f'"{c}" = {table[c][k]!r}\n' for c in names)
            out += ["[[check]]", f"t = {t!r}", f"tolerance = {tolerance!r}", f'reason = "{reason}"', f'source = "{source}.json"',
                    "[check.values]", values]
    for event, occurrence, entries, tolerance, reason in events:
        values = "".join(f'"{p}" = {float(v)!r}\n' for p, v in entries.items())
        out += ["[[check]]", f'event = "{event}"', *([f"occurrence = {occurrence}"] if occurrence else []), f"tolerance = {tolerance!r}",
                f'reason = "{reason}"', f'source = "{source}.json"', "[check.values]", values]
    for event, count, pairs, tolerance, reason in balances:
        equal = [f"equal = {json.dumps([list(p) for p in pairs])}", f"tolerance = {tolerance!r}"] if pairs else []
        out += ["[[check]]", f'event = "{event}"', f"count = {count}", *equal, f'reason = "{reason}"', ""]
    for key, limit, reason in summary:
        out += ["[[check]]", f'summary = "{key}"', f"max = {limit!r}", f'reason = "{reason}"', ""]
    folder = SCENES / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "expected.toml").write_text("\n".join(out).rstrip() + "\n")
    print(f"{name}: accuracy {accuracy}")
    for c in dict.fromkeys(c for names, *_ in checks for c in names):
        print(f"  {c:20s}", *(f"{t:g}: {v!r}" for t, v in zip(times, table[c]) if any(t in at for n, at, *_ in checks if c in n)))


def compact(text):
    """Put lists of numbers on one line."""
    out, inside = [], False
    for line in text.split("\n"):
        s = line.strip()
        if inside:
            out[-1] += (" " if out[-1][-1] == "," else "") + s
            inside = not s.startswith("]")
        else:
            out.append(line)
            inside = s.endswith("[") and not s.startswith("{")
    return "\n".join(out)
