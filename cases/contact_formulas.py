"""Contact scenes with closed formulas: a bouncing ball, rest on a slope, stacks, a belt, a turntable; and scenes of which only bounds are known.

    bouncing-ball    impacts at t₀ + 2 (e + … + eᵏ) v₀/g, each followed by a parabola; apex heights fall by e²
    incline          tan 10° < 0.3: no motion
    box-stack        no motion, nor in heavy-stack
    conveyor         a box at rest on a belt of speed v: x″ = μ g until v/(μ g), then x′ = v
    turntable        a ball that rolls on a table of rate Ω goes round a circle at 2 Ω/7 [weckesser1997]
    dominoes, spheres-in-box, chain-on-floor    where bodies must end up, from their sizes
"""
import numpy as np

from case import G, store

EXACT = "Rest is rest: nothing but rounding moves."


def first_order(step, what=""):
    return f"First order in the step of {step:g} s.{' ' + what if what else ''}"


def bouncing_ball():
    radius, drop, e, step = 0.1, 1.0, 0.8, 1e-4
    t0, v0 = np.sqrt(2 * drop / G), np.sqrt(2 * drop * G)
    end = t0 * (1 + e) / (1 - e)

    def height(t):
        if t <= t0:
            return drop - G * t * t / 2, -G * t
        if t >= end:
            return 0.0, 0.0
        start, v = t0, e * v0
        while t > start + 2 * v / G:
            start, v = start + 2 * v / G, e * v
        s = t - start
        return v * s - G * s * s / 2, v - G * s
    apexes = [float(drop * e ** (2 * k)) for k in range(6)]
    impacts = [float(t0 + 2 * v0 / G * sum(e ** j for j in range(1, k + 1))) for k in range(6)]
    times = [0.3, 0.8, 1.2, 1.5, 2.0, 2.5, 5.0]
    values = np.array([height(t) for t in times])
    store("bouncing-ball", "a ball dropped from one metre, restitution 0.8", dict(radius=radius, drop=drop, e=e, g=G), times,
          {"ball.z": radius + values[:, 0], "ball.vz": values[:, 1]}, dict(formula="exact"),
          [(["ball.z"], times[:-1], 60 * step, first_order(step, "Times of impacts are known to a step, and each moves those that follow.")),
           (["ball.vz"], times[:-1], 250 * step, first_order(step, "A flight that starts late by a step is off by g times that, and so are all that follow.")),
           (["ball.z", "ball.vz"], times[-1:], step, "After infinitely many impacts in 4.06 s the ball lies still.")],
          [("residual.rel", 1e-12, "One contact is solved exactly."), ("penetration", 1e-3, "No more than the speed of impact times the step.")],
          dict(apex_heights=apexes, impact_times=impacts, at_rest_from=float(end)), script="contact_formulas")


def incline():
    size, angle = 1.0, np.radians(10)
    n = np.array([np.sin(angle), 0, np.cos(angle)])
    x = n * size / 2
    store("incline", "a block of 1 m on a slope of 10° with friction 0.3", dict(size=size, degrees=10, friction=0.3, g=G), [10.0],
          {"block.x": [x[0]], "block.y": [0.0], "block.z": [x[2]], "block.vx": [0.0], "block.vy": [0.0], "block.vz": [0.0]}, dict(formula="exact"),
          [(["block.x", "block.y", "block.z", "block.vx", "block.vy", "block.vz"], [10.0], 1e-11, EXACT)],
          [("residual.rel", 1e-12, "Every step's contact problem is solved."), ("penetration", 1e-12, EXACT)],
          dict(friction_needed=float(np.tan(angle))), script="contact_formulas")


def box_stack():
    size = 0.5
    z = [size / 2 + k * size for k in range(10)]
    columns = {f"box{k}.{c}": [z[k] if c == "z" else 0.0] for k in range(10) for c in ("x", "y", "z", "vx", "vy", "vz")}
    store("box-stack", "ten boxes on each other", dict(size=size, g=G), [60.0], columns, dict(formula="exact"),
          [(list(columns), [60.0], 1e-9, EXACT)],
          [("residual.rel", 1e-10, "Every step's contact problem is solved."), ("penetration", 1e-9, EXACT)], script="contact_formulas")


def heavy_stack():
    columns = {f"{b}.{c}": [z if c == "z" else 0.0] for b, z in (("light", 0.25), ("heavy", 0.75)) for c in ("x", "y", "z", "vx", "vy", "vz")}
    store("heavy-stack", "1000 kg on 1 kg", dict(size=0.5, masses=[1, 1000], g=G), [10.0], columns, dict(formula="exact"),
          [(list(columns), [10.0], 1e-9, EXACT)],
          [("residual.rel", 1e-10, "Every step's contact problem is solved."), ("penetration", 1e-9, EXACT)], script="contact_formulas")


def conveyor():
    mu, v, x0, step = 0.5, 1.0, -1.0, 1e-3
    stop, slip = v / (mu * G), v * v / (2 * mu * G)
    times = [0.1, 0.2, 0.5, 2.0]
    x = [x0 + (mu * G * t * t / 2 if t < stop else v * t - slip) for t in times]
    s = [min(mu * G * t, v) for t in times]
    zero = [0.0] * len(times)
    store("conveyor", "a box is put on a belt that moves at 1 m/s", dict(friction=mu, belt=v, g=G), times,
          {"box.x": x, "box.y": zero, "box.z": [0.1] * len(times), "box.vx": s, "box.vy": zero, "box.vz": zero, "box.wy": zero}, dict(formula="exact"),
          [(["box.x", "box.vx"], times, v * step, first_order(step)),
           (["box.y", "box.z", "box.vy", "box.vz", "box.wy"], times, 1e-9, "Nothing moves it across the belt.")],
          [("residual.rel", 1e-10, "Every step's contact problem is solved."), ("penetration", 1e-9, "The belt is flat.")],
          dict(slides_until=float(stop), slips_by=float(slip)), script="contact_formulas")


def turntable():
    rate, radius, step = 3.5, 0.05, 1e-3
    w = 2 * rate / 7
    x0, v0 = np.array([0.5, 0.0]), np.array([0.0, 0.3])
    centre = x0 - np.array([v0[1], -v0[0]]) / w
    times = [1.0, 3.0, 6.0]
    turn = lambda t: np.array([[np.cos(w * t), -np.sin(w * t)], [np.sin(w * t), np.cos(w * t)]])
    x = np.array([centre + turn(t) @ (x0 - centre) for t in times])
    v = np.array([turn(t) @ v0 for t in times])
    # Rolling: v + ω × (−r ẑ) = Ω ẑ × x.
    spin = np.array([[(rate * p[0] - u[1]) / radius, (rate * p[1] + u[0]) / radius] for p, u in zip(x, v)])
    store("turntable", "a ball rolls on a turntable", dict(rate=rate, radius=radius, start=list(x0), velocity=list(v0)), times,
          {"ball.x": x[:, 0], "ball.y": x[:, 1], "ball.z": [radius] * 3, "ball.vx": v[:, 0], "ball.vy": v[:, 1], "ball.wx": spin[:, 0], "ball.wy": spin[:, 1],
           "axle.q0": [rate * t for t in times]}, dict(formula="exact"),
          [(["ball.x", "ball.y", "ball.vx", "ball.vy"], times, 2 * step, first_order(step)), (["ball.wx", "ball.wy"], times, 80 * step, first_order(step, "Speeds over the radius.")),
           (["ball.z"], times, 1e-9, "The table is flat."), (["axle.q0"], times, 1e-12, "Prescribed.")],
          [("residual.rel", 1e-10, "Every step's contact problem is solved."), ("penetration", 1e-9, "The table is flat.")],
          dict(circle=dict(centre=[float(c) for c in centre], radius=float(np.linalg.norm(x0 - centre)), rate=w, rolling_spin_at_start=float((rate * x0[0] - v0[1]) / radius))),
          script="contact_formulas")


def dominoes():
    n, thickness, height, spacing = 10, 0.08, 0.5, 0.25
    # A long row lies face on face at cos θ = thickness / spacing; the last one lies flat; the others are between.
    least, flat = np.arccos(thickness / spacing), np.pi / 2
    middle, half = (np.sin(least / 2) + np.sin(flat / 2)) / 2, (np.sin(flat / 2) - np.sin(least / 2)) / 2
    columns = {f"domino{k}.qy": [middle] for k in range(n - 1)} | {f"domino{n - 1}.qy": [np.sin(flat / 2)], f"domino{n - 1}.z": [thickness / 2]}
    rates = {f"domino{k}.wy": [0.0] for k in range(n)}
    store("dominoes", "ten dominoes; the first is let go past its tipping point", dict(count=n, thickness=thickness, height=height, spacing=spacing, g=G), [3.0],
          columns | rates, dict(formula="bounds"),
          [([f"domino{k}.qy" for k in range(n - 1)], [3.0], round(float(half), 3) + 0.02, "They lean on each other, from face on face to flat; 0.02 for sliding."),
           ([f"domino{n - 1}.qy", f"domino{n - 1}.z"], [3.0], 1e-3, "The last one lies flat."),
           (list(rates), [3.0], 1e-3, "All have come to rest.")],
          [("residual.rel", 1e-8, "Every step's contact problem is solved.")], dict(least_tilt=float(least)), script="contact_formulas")


def spheres_in_box():
    n, radius, inside, height = 60, 0.05, 0.5, 0.5
    columns = {f"ball{k}.{c}": [v] for k in range(n) for c, v in (("x", 0.0), ("y", 0.0), ("z", height / 2), ("vx", 0.0), ("vy", 0.0), ("vz", 0.0))}
    pick = lambda *cs: [c for c in columns if c.split(".")[1] in cs]
    store("spheres-in-box", "sixty balls fall into a box", dict(count=n, radius=radius, inside=inside, g=G), [4.0], columns, dict(formula="bounds"),
          [(pick("x", "y"), [4.0], inside / 2 - radius + 1e-3, "No ball leaves the box; 1e-3 for what a step may let overlap."),
           (pick("z"), [4.0], height / 2 - radius + 1e-3, "No ball leaves the box."),
           (pick("vx", "vy", "vz"), [4.0], 0.05, "They have come to rest but for single ones that still roll.")],
          [("residual.rel", 1e-8, "Every step's contact problem is solved.")], script="contact_formulas")


def chain_on_floor():
    n, radius = 100, 0.02
    columns = {f"link{k}.{c}": [v] for k in range(n) for c, v in (("z", radius), ("vx", 0.0), ("vy", 0.0), ("vz", 0.0))}
    pick = lambda *cs: [c for c in columns if c.split(".")[1] in cs]
    store("chain-on-floor", "a chain of a hundred links falls on the floor", dict(count=n, radius=radius, g=G), [0.8], columns, dict(formula="bounds"),
          [(pick("z"), [0.8], 1e-4, "Every link lies on the floor."), (pick("vx", "vy", "vz"), [0.8], 1e-3, "The chain has come to rest.")],
          [("residual.rel", 1e-8, "Every step's contact problem is solved.")], script="contact_formulas")


if __name__ == "__main__":
    bouncing_ball()
    incline()
    box_stack()
    heavy_stack()
    conveyor()
    turntable()
    dominoes()
    spheres_in_box()
    chain_on_floor()
