"""Write the chain scene:  python generate.py [N] > scene.toml   (N = 1000 in the bundled one).

Links of length 0.1 and mass 0.1, square section 0.02, hanging along −z; hinges about y and x in turn.  At the start the y
hinges bend the chain into an arc, the x hinges into a wave.
"""
import math
import sys

LENGTH, MASS, WIDTH = 0.1, 0.1, 0.02
INERTIA = [MASS * (LENGTH ** 2 + WIDTH ** 2) / 12] * 2 + [MASS * WIDTH ** 2 / 6]


def angle(i, n):
    """Initial angle of joint i."""
    return round(1.6 / n if i % 2 == 0 else 2.0 / n * math.cos(2 * math.pi * i / n), 15)


def axis(i):
    return [0.0, 1.0, 0.0] if i % 2 == 0 else [1.0, 0.0, 0.0]


def main(n):
    print(f'title = "A hanging chain of {n} links with alternating hinge axes"\ngravity = [0.0, 0.0, -9.81]\n\nbody = [')
    for i in range(n):
        print(f'  {{ name = "link{i}", mass = {MASS}, com = [0.0, 0.0, {-LENGTH / 2}], inertia = {INERTIA} }},')
    print("]\n\njoint = [")
    for i in range(n):
        at = f", parent_frame = {{ position = [0.0, 0.0, {-LENGTH}] }}" if i else ""
        parent = f"link{i - 1}" if i else "ground"
        print(f'  {{ name = "hinge{i}", kind = "revolute", parent = "{parent}", child = "link{i}"{at}, axis = {axis(i)}, q = [{angle(i, n)!r}] }},')
    print(f''']

[time]
end = 1.0
rtol = 1e-9

[output]
interval = 0.02
bodies = ["link0", "link{n // 2}", "link{n - 1}"]
joints = ["hinge0", "hinge1", "hinge{n // 2}", "hinge{n - 1}"]''')


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
