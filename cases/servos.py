"""Springs, dampers and servos in joints: `stiff-damper`, `servo-arm`, `quarter-car`, `stewart-platform`.

Nothing but Python.  The damper is a formula; the arm and the platform rest where forces balance, found by iteration and by bisection;
the car is a linear equation, integrated by the classical method of order 4 in steps whose halving changes the tenth digit.
Writes `cases/NAME.json` and `scenes/NAME/expected.toml`.
"""
import json
import math
import pathlib

CASES = pathlib.Path(__file__).resolve().parent
SCENES = CASES.parent / "scenes"
G = 9.81


def store(name, what, checks, summary):
    """checks: [(t, {column: value}, tolerance, reason)]; summary: [(key, largest, reason)]."""
    file = name.replace("-", "_") + ".json"
    columns = [dict(t=t, columns=values) for t, values, *_ in checks]
    (CASES / file).write_text(json.dumps(dict(case=name, what=what, answers=columns), indent=1, ensure_ascii=False) + "\n")
    lines = ["# Written by cases/servos.py; the format is described in scenes/README.md.", ""]
    for t, values, tolerance, reason in checks:
        lines += ["[[check]]", f"t = {float(t)}", f"tolerance = {tolerance}", f'reason = "{reason}"', f'source = "cases/{file}"', "[check.values]"]
        lines += [f'"{column}" = {value!r}' for column, value in values.items()] + [""]
    for key, largest, reason in summary:
        lines += ["[[check]]", f'summary = "{key}"', f"max = {largest}", f'reason = "{reason}"', ""]
    (SCENES / name / "expected.toml").write_text("\n".join(lines[:-1]) + "\n")


def stiff_damper():
    """I v' = -d v: the way is v I/d, the speed e^(-5000 t)."""
    way = 1.0 * 0.002 / 10
    store("stiff-damper", "a hinge of inertia 0.002 with damping 10 and speed 1: its way is v I/d",
          [(1.0, {"j.q0": way}, 1e-3, "h v: one step of 1 ms at the speed of the start, which the damper ends within 0.2 ms."),
           (1.0, {"j.v0": 0.0}, 1e-12, "e^-5000, and in steps of h d/I = 5 what (1 - 1/5) of the damper leave: rounding.")],
          [("energy.max_drift", 1e-12, "What is lost is what the damper took, to rounding.")])


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def turned(axis, angle, x):
    """Rodrigues' formula."""
    c, s = math.cos(angle), math.sin(angle)
    d = sum(a * b for a, b in zip(axis, x)) * (1 - c)
    return [c * x[k] + s * cross(axis, x)[k] + d * axis[k] for k in range(3)]


def servo_arm():
    """q = target + (moment of the weight about the axis)/k, by iteration: it contracts by 0.05."""
    z, y, x = [0, 0, 1], [0, 1, 0], [1, 0, 0]
    axes = [z, y, y, x, y, x]
    places = [[0, 0, 0], [0, 0, 0.4], [0.6, 0, 0], [0.2, 0, 0], [0.4, 0, 0], [0.05, 0, 0]]
    masses = [20, 15, 8, 4, 2, 1]
    coms = [[0, 0, 0.2], [0.3, 0, 0], [0.1, 0, 0], [0.2, 0, 0], [0, 0, 0], [0.05, 0, 0]]
    targets = [0.5, -0.8, 1.0, 0.3, 0.4, 0.2]
    q = list(targets)
    for _ in range(60):
        points, directions, centres = [], [], []
        for i in range(6):
            # From the tip inwards: each point is turned by every joint below it.
            def to_world(vector, k):
                for j in range(k, -1, -1):
                    vector = turned(axes[j], q[j], vector)
                    if j > 0:
                        vector = [v + p for v, p in zip(vector, places[j])]
                return vector
            points.append(to_world([0, 0, 0], i))
            tip = to_world(axes[i], i)
            directions.append([a - b for a, b in zip(tip, points[i])])
            centres.append(to_world(coms[i], i))
        new = []
        for j in range(6):
            moment = [0.0] * 3
            for i in range(j, 6):
                arm = [c - p for c, p in zip(centres[i], points[j])]
                moment = [m + n for m, n in zip(moment, cross(arm, [0, 0, -masses[i] * G]))]
            new.append(targets[j] + sum(a * b for a, b in zip(directions[j], moment)) / 2000)
        change = max(abs(a - b) for a, b in zip(q, new))
        q = new
    assert change < 1e-14
    store("servo-arm", "six servos of k = 2000 under the weight of the arm: where they balance",
          [(4.0, {f"j{k + 1}.q0": q[k] for k in range(6)}, 1e-9, "Servos creep at k/d = 10: e^-30 three seconds after their targets stand still.")],
          [("energy.max_drift", 1e-5, "Steps of 1 ms are of second order on motions of some units per time: h squared, and some.")])


def quarter_car():
    def rates(t, y):
        wheel, car, wheel_v, car_v = y
        road, road_v = 0.05 * math.sin(2 * math.pi * t), 0.05 * 2 * math.pi * math.cos(2 * math.pi * t)
        tyre = -2e5 * (wheel - road) - 100 * (wheel_v - road_v)
        strut = -2e4 * (car - wheel) - 1500 * (car_v - wheel_v)
        return [wheel_v, car_v, (tyre - strut) / 20 - G, strut / 300 - G]

    def run(h):
        # The scene starts with no stretch and no speed of its own: wheel and car go with the road.
        v = 0.05 * 2 * math.pi
        y, seen = [0.0, 0.0, v, v], {}
        for k in range(round(4 / h)):
            t = k * h
            a = rates(t, y)
            b = rates(t + h / 2, [x + h / 2 * r for x, r in zip(y, a)])
            c = rates(t + h / 2, [x + h / 2 * r for x, r in zip(y, b)])
            d = rates(t + h, [x + h * r for x, r in zip(y, c)])
            y = [x + h / 6 * (p + 2 * q + 2 * r + s) for x, p, q, r, s in zip(y, a, b, c, d)]
            if (k + 1) % round(1 / h) == 0:
                seen[round((k + 1) * h)] = y
        return seen

    coarse, fine = run(2e-4), run(1e-4)
    assert max(abs(a - b) for t in fine for a, b in zip(coarse[t], fine[t])) < 1e-8
    reason = "Second order: (h w)^2/12 of the tyre, w = 105, on a stretch of 0.02, and of the car on its swing of 0.3 with h w = 0.008."
    store("quarter-car", "wheel and car on a road of 0.05 sin 2 pi t",
          [(t, {"wheel.z": fine[t][0], "car.z": fine[t][1]}, 2e-5, reason) for t in (1, 2, 4)],
          [("energy.max_drift", 1e-4, "Second order: (h w)^2/12 of the tyre, w = 105, of what it stores.")])


def stewart_platform():
    """By symmetry the platform rises straight: the height at which the energy of weights and servos is stationary."""
    apart2 = (math.cos(math.radians(10)) - 0.5 * math.cos(math.radians(50))) ** 2
    apart2 += (math.sin(math.radians(10)) - 0.5 * math.sin(math.radians(50))) ** 2
    rest = math.sqrt(apart2 + 1)

    def slope(z):
        leg = math.sqrt(apart2 + z * z)
        # Centres of mass a fifth of the leg's first length from either end; of z/leg the slope is apart2/leg^3.
        lean = 0.2 * rest * apart2 / leg ** 3
        weights = 50 * G + 6 * (3 * G * lean + 2 * G * (1 - lean))
        return weights + 6 * 5e4 * (leg - rest - 0.05) * z / leg

    low, high = 0.9, 1.2
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    leg = math.sqrt(apart2 + low * low) - rest
    store("stewart-platform", "a platform of 50 on six legs with servos of k = 50000, targets at 0.05",
          [(4.0, {"plat.z": low, "plat.x": 0.0, "plat.y": 0.0, "leg0.q0": leg, "leg3.q0": leg}, 1e-8,
            "At rest: what is left is the error of rest, of the order of rtol.")],
          [("energy.max_drift", 1e-7, "rtol 1e-9 per step.")])


if __name__ == "__main__":
    stiff_damper()
    servo_arm()
    quarter_car()
    stewart_platform()
    print("written")
