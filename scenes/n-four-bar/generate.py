"""Write the N-four-bar scene:  python generate.py [N] > scene.toml   (N = 10 in the bundled one)."""
import sys

n = int(sys.argv[1]) if len(sys.argv) > 1 else 10
print(f'''title = "{n} four-bar windows in a row, through singular positions"
gravity = [0.0, -9.81, 0.0]

# Uniform rods, mass 1, length 1. Cranks stand along +y on their ground pin, couplers lie along +x on their left pin;
# theta_i turns clockwise from upright.
body = [''')
for i in range(n + 1):
    print(f'  {{ name = "crank{i}", mass = 1.0, com = [0.0, 0.5, 0.0], inertia = [0.08333333333333333, 1e-4, 0.08333333333333333] }},')
for i in range(n):
    print(f'  {{ name = "coupler{i}", mass = 1.0, com = [0.5, 0.0, 0.0], inertia = [1e-4, 0.08333333333333333, 0.08333333333333333] }},')
print("]\n\njoint = [")


def joint(name, parent, child, at_parent, at_child, speed):
    frames = [f'{side}_frame = {{ position = [{p[0]:.1f}, {p[1]:.1f}, 0.0] }}, ' for side, p in (("parent", at_parent), ("child", at_child)) if p != (0, 0)]
    print(f'  {{ name = "{name}", kind = "revolute", parent = "{parent}", child = "{child}", {"".join(frames)}axis = [0.0, 0.0, -1.0], q = [0.0], v = [{speed:.1f}] }},')


for i in range(n + 1):
    joint(f"theta{i}", "ground", f"crank{i}", (i, 0), (0, 0), 1)
for i in range(n):
    joint(f"left{i}", f"crank{i}", f"coupler{i}", (0, 1), (0, 0), -1)
    joint(f"right{i}", f"coupler{i}", f"crank{i + 1}", (1, 0), (0, 1), 1)
print(''']

[time]
end = 10.0
rtol = 1e-11

[output]
interval = 0.05''')
