"""Data near a line, near a plane, near a curved surface: PCA against kernel PCA.

    python examples/principal_components.py [folder]

Lecture B, when to use kernels (item B12): where data lie near a plane, PCA finds it; where they
lie near a curved surface, PCA flattens it and kernel PCA does not. Noisy points are projected on
the components and reconstructed by `inverse_transform`. Writes principal_components.png into the
folder.
"""

import matplotlib.pyplot as plt
import numpy as np
from style import GREY, STYLE, output_folder

from mercer import KernelPCA
from mercer.kernels import Gaussian, Linear

N, NOISE = 350, 0.12
GRID = np.linspace(-1, 1, 12)


def line(u, v):
    """Return points of a line, whatever v is."""
    return np.outer(u, [1.2, 0.8, 0.5])


def plane(u, v):
    return np.outer(u, [1.2, 0.3, 0.1]) + np.outer(v, [-0.2, 0.9, 0.5])


def sheet(u, v):
    """Return points of a sheet that is rolled to about two thirds of a tube."""
    angle = 2.2 * u
    return np.column_stack([np.cos(angle), 1.3 * v, np.sin(angle)])


def from_line(X):
    """Return the distances of points from the line."""
    along = np.array([1.2, 0.8, 0.5]) / np.linalg.norm([1.2, 0.8, 0.5])
    return np.linalg.norm(X - np.outer(X @ along, along), axis=1)


def from_plane(X):
    normal = np.cross([1.2, 0.3, 0.1], [-0.2, 0.9, 0.5])
    return np.abs(X @ normal) / np.linalg.norm(normal)


def from_tube(X):
    return np.abs(np.linalg.norm(X[:, [0, 2]], axis=1) - 1)


def typical(distances):
    """Return the root mean square."""
    return np.sqrt((distances**2).mean())


# Name, surface, distance from it, components of PCA and of kernel PCA, view.
CASES = [
    ("a line", line, from_line, 1, 2, (22, -62)),
    ("a plane", plane, from_plane, 2, 5, (14, -28)),
    ("a curved surface", sheet, from_tube, 2, 12, (18, -72)),
]


def draw(axes, surface, X, back, position, view):
    """Draw the surface, the noisy points in grey, and their reconstructions."""
    if surface is line:
        axes.plot(*surface(np.array([-1, 1]), None).T, color=GREY, linewidth=1)
    else:
        u, v = np.meshgrid(np.linspace(-1, 1, 40), GRID)
        x, y, z = (a.reshape(u.shape) for a in surface(u.ravel(), v.ravel()).T)
        axes.plot_wireframe(x, y, z, color="#AAAAAA", linewidth=0.5, rstride=1, cstride=3)
    axes.scatter(*X.T, s=4, color="#BBBBBB", depthshade=False)
    axes.scatter(*back.T, s=14, c=position, cmap="viridis", depthshade=False, edgecolor="none")
    axes.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), zlim=(-1.2, 1.2))
    axes.set(xlabel="x₁", ylabel="x₂", zlabel="x₃")
    axes.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1], zticks=[-1, 0, 1])
    axes.tick_params(pad=0, labelsize=9)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.labelpad = -2
    axes.set_box_aspect((1, 1, 0.85), zoom=0.98)
    axes.view_init(*view)


def main():
    random = np.random.default_rng(7)
    with plt.rc_context(STYLE):
        shape = {"figsize": (13, 8.6), "subplot_kw": {"projection": "3d"}}
        figure, panels = plt.subplots(2, 3, **shape)
        for case, column in zip(CASES, panels.T, strict=True):
            name, surface, distance, flat, curved, view = case
            u, v = random.uniform(-1, 1, (2, N))
            X = surface(u, v) + random.normal(0, NOISE, (N, 3))
            ways = [("PCA", flat, Linear()), ("kernel PCA", curved, Gaussian(0.5))]
            left = []
            for axes, (way, count, kernel) in zip(column, ways, strict=True):
                model = KernelPCA(count, kernel=kernel).fit(X)
                back = model.inverse_transform(model.transform(X))
                left.append(typical(distance(back)))
                draw(axes, surface, X, back, u, view)
                noun = "component" if count == 1 else "components"
                title = f"near {name}: {way}, {count} {noun}"
                axes.set_title(f"{title}\nRMS distance to it {left[-1]:.2f}")
            print(
                f"near {name:16} RMS distance {typical(distance(X)):.3f} with noise, {left[0]:.3f} "
                f"after PCA, {left[1]:.3f} after kernel PCA"
            )
            assert left[1] < typical(distance(X))
        assert left[1] < left[0] / 3  # on the curved surface
        figure.supxlabel(
            "grey: noisy points; coloured: their reconstructions from the components", fontsize=11
        )
        path = output_folder() / "principal_components.png"
        figure.savefig(path)
    print(f"The picture is in {path}.")


if __name__ == "__main__":
    main()
