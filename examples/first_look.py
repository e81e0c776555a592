"""A first look at mercer: similarity, kernels, a tuned model, a certificate, strings, on one page.

    python examples/first_look.py [folder]

Writes index.html (self-contained, works offline), its pictures, progression.mercer (a model) and
two tables of predictions into the folder. Needs matplotlib: pip install ".[plot]"
"""

import base64
import csv
from html import escape

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes, load_iris, make_moons
from sklearn.model_selection import train_test_split
from style import BLUE, COLOURS, INK, ORANGE, STYLE, TINTS, output_folder

from mercer import KernelPrototypeClassifier, KernelRidgeCV, check_kernel, load, save
from mercer.kernels import FunctionKernel, Gaussian, Laplacian, Linear, Spectrum

# The same sentences in three languages: eight of each to learn from, four to name.
KNOWN = {
    "Finnish": [
        "kissa nukkuu tuolilla", "huomenna menemme rannalle", "ikkuna on auki",
        "siskoni lukee kirjaa", "tänään sataa paljon", "juna lähtee yhdeksältä",
        "ostamme leipää ja maitoa", "vuori on kaukana",
    ],
    "German": [
        "die Katze schläft auf dem Stuhl", "morgen fahren wir ans Meer", "das Fenster ist offen",
        "meine Schwester liest ein Buch", "heute regnet es viel", "der Zug fährt um neun Uhr",
        "wir kaufen Brot und Milch", "der Berg ist weit weg",
    ],
    "Italian": [
        "il gatto dorme sulla sedia", "domani andiamo al mare", "la finestra è aperta",
        "mia sorella legge un libro", "oggi piove molto", "il treno parte alle nove",
        "compriamo pane e latte", "la montagna è lontana",
    ],
}  # fmt: skip
NEW = {
    "Finnish": [
        "koira juoksee puutarhassa", "keitto on kuumaa", "veljeni soittaa kitaraa",
        "illalla katsomme tähtiä",
    ],
    "German": [
        "der Hund läuft im Garten", "die Suppe ist heiß", "mein Bruder spielt Gitarre",
        "heute Abend sehen wir die Sterne",
    ],
    "Italian": [
        "il cane corre nel giardino", "la zuppa è calda", "mio fratello suona la chitarra",
        "stasera guardiamo le stelle",
    ],
}  # fmt: skip


def draw_similarity(path):
    """Draw the Gram matrix of the iris flowers, sorted by species."""
    iris = load_iris()
    kernel = Gaussian().resolve(iris.data)  # the rows are sorted by species already
    figure, axes = plt.subplots(figsize=(5.8, 4.8))
    image = axes.imshow(kernel(iris.data), cmap="viridis", vmin=0, vmax=1)
    for border in (49.5, 99.5):
        axes.axhline(border, color="white", linewidth=1)
        axes.axvline(border, color="white", linewidth=1)
    names = [str(name) for name in iris.target_names]
    axes.set_xticks([25, 75, 125], names)
    axes.set_yticks([25, 75, 125], names, rotation=90, va="center")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title(f"k(x, y) for Gaussian(gamma={kernel.gamma:.3f})")
    figure.colorbar(image, label="similarity", shrink=0.85)
    figure.savefig(path)
    return kernel


def draw_regions(path):
    """Draw what the nearest class mean in feature space decides, for three kernels."""
    X, y = make_moons(240, noise=0.18, random_state=3)
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    x1, x2 = np.meshgrid(np.linspace(-1.8, 2.8, 180), np.linspace(-1.5, 1.9, 140))
    grid = np.column_stack([x1.ravel(), x2.ravel()])
    figure, panels = plt.subplots(1, 3, figsize=(10.5, 3.6), sharey=True)
    scores = []
    for axes, kernel in zip(panels, (Linear(), Gaussian(8.0), Laplacian(4.0)), strict=True):
        model = KernelPrototypeClassifier(kernel).fit(train, y_train)
        height = model.decision_function(grid).reshape(x1.shape)
        axes.contourf(x1, x2, height, levels=[-np.inf, 0, np.inf], colors=TINTS)
        axes.contour(x1, x2, height, levels=[0], colors=INK, linewidths=1.2)
        for label, colour, marker in ((0, BLUE, "o"), (1, ORANGE, "^")):
            points = test[y_test == label]
            axes.scatter(*points.T, s=22, c=colour, marker=marker, edgecolor="white", linewidth=0.5)
        scores.append((kernel, model.score(test, y_test)))
        axes.set_title(f"{kernel!r}\n{scores[-1][1]:.0%} of new points right")
        axes.set_xlabel("x₁")
    panels[0].set_ylabel("x₂")
    figure.savefig(path)
    return scores


def draw_search(left, model, kernels, alphas):
    """Draw the score of every kernel and alpha on points left out, with the choice circled."""
    scores = model.cv_results_["mean_test_score"].reshape(len(kernels), len(alphas))
    for kernel, row, colour in zip(kernels, scores, COLOURS, strict=True):
        left.semilogx(alphas, row, color=colour, linewidth=1.8, label=repr(kernel))
    left.scatter(model.alpha_, model.best_score_, s=90, facecolor="none", edgecolor=INK, zorder=3)
    left.set(title="choice of kernel and alpha", xlabel="alpha", ylabel="leave-one-out R²")
    left.set_ylim(0.3, 0.56)
    left.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)


def predict_progression(folder):
    """Tune a model on a table, save it, load it and predict new rows with it."""
    table = load_diabetes()
    X, X_new, y, y_new = train_test_split(table.data, table.target, test_size=142, random_state=0)
    kernels = [Linear(), Gaussian(gamma=10), Gaussian(gamma=100), Laplacian(gamma=1)]
    alphas = np.logspace(-3, 2, 21)
    model = KernelRidgeCV(alphas, kernel=kernels, fit_intercept=True).fit(X, y)
    save(model, folder / "progression.mercer")
    loaded = load(folder / "progression.mercer")
    predictions = loaded.predict(X_new)
    assert np.array_equal(predictions, model.predict(X_new))
    with open(folder / "progression.csv", "w", newline="", encoding="utf-8") as file:
        header = [*table.feature_names, "progression", "prediction"]
        csv.writer(file).writerows([header, *np.column_stack([X_new, y_new, predictions]).round(4)])

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.5), width_ratios=[1.2, 1])
    draw_search(left, model, kernels, alphas)
    right.scatter(predictions, y_new, s=18, color=BLUE, edgecolor="white", linewidth=0.4)
    right.plot([25, 340], [25, 340], color=INK, linewidth=1)
    score = loaded.score(X_new, y_new)
    right.set(title=f"142 new patients, R² {score:.2f}")
    right.set(xlabel="predicted progression", ylabel="measured progression")
    figure.savefig(folder / "progression.png")
    return model, score


def squared_city_block(X, Y):
    """exp(-||x - y||_1^2 / 4), which looks like a kernel."""
    return np.exp(-0.25 * np.abs(X[:, None] - Y[None]).sum(axis=-1) ** 2)


def draw_eigenvalues(path):
    """Draw the eigenvalues of a kernel and of a function that is not one, on five points."""
    points = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]], dtype=float)
    cases = (
        ("exp(−‖x − y‖₁ / 4)", Laplacian(0.25)),
        ("exp(−‖x − y‖₁² / 4)", FunctionKernel(squared_city_block)),
    )
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True)
    certificates = []
    for axes, (title, kernel) in zip(panels, cases, strict=True):
        certificates.append(check_kernel(kernel, points))
        values = np.linalg.eigvalsh(kernel(points))[::-1]
        colours = [ORANGE if value < 0 else BLUE for value in values]
        bars = axes.bar(range(1, 6), values, color=colours, width=0.6)
        axes.bar_label(bars, [f"{value:.2f}".replace("-", "−") for value in values], padding=3)
        axes.axhline(0, color=INK, linewidth=1)
        verdict = "a kernel on these points" if certificates[-1].is_psd else "not a kernel"
        axes.set(
            title=f"{title}\n{verdict}", xlabel="eigenvalues, largest first", ylim=(-0.75, 4.3)
        )
        axes.spines["bottom"].set_visible(False)
        axes.tick_params(axis="x", length=0)
    panels[0].set_ylabel("value")
    figure.savefig(path)
    return certificates


def name_languages(path):
    """Name the language of sentences by the groups of three letters in them."""
    model = KernelPrototypeClassifier(Spectrum(3).normalized())
    sentences, labels = unfold(KNOWN)
    model.fit(sentences, labels)
    sentences, labels = unfold(NEW)
    rows = [
        [sentence, label, guess, *(f"{distance:.3f}" for distance in distances)]
        for sentence, label, guess, distances in zip(
            sentences, labels, model.predict(sentences), model.distances(sentences), strict=True
        )
    ]
    header = ["sentence", "language", "prediction", *(f"to {name}" for name in model.classes_)]
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return model, header, rows


def unfold(sentences):
    """Return sentences and their languages as two lists."""
    pairs = [(text, name) for name, texts in sentences.items() for text in texts]
    return [text for text, _ in pairs], [name for _, name in pairs]


def figure_html(path, alt, caption):
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    return (
        f'<figure><img src="data:image/png;base64,{data}" alt="{escape(alt)}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def table_html(caption, header, rows):
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return (
        f'<div class="wide"><table><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>A first look at mercer</title>
<style>
body {{ margin: 0 auto; padding: 2rem 1.2rem 4rem; max-width: 52rem; color: #222; background: #fff;
  font: 1.05rem/1.6 system-ui, sans-serif; }}
h1 {{ line-height: 1.2; }}
h2 {{ margin-top: 3rem; border-top: 1px solid #ddd; padding-top: 1.5rem; }}
figure {{ margin: 1.5rem 0; }}
img {{ max-width: 100%; height: auto; display: block; margin: auto; }}
figcaption, caption {{ color: #555; font-size: .95rem; text-align: left; padding: .5rem 0; }}
pre {{ background: #f4f6f8; padding: 1rem; border-radius: .4rem; white-space: pre-wrap;
  font-size: .9rem; line-height: 1.45; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; width: 100%; font-size: .95rem; }}
th, td {{ padding: .35rem .6rem; border-bottom: 1px solid #e4e4e4; text-align: left; }}
tbody th {{ font-weight: normal; }}
</style>
</head>
<body>
<main>
<h1>A first look at mercer</h1>
<p>A kernel is a similarity of two objects that behaves like a dot product. With a kernel, every
method of this library works on your data, be they rows of numbers or sentences.</p>
{sections}
</main>
</body>
</html>
"""


def text_html(text):
    return f"<pre>{escape(str(text))}</pre>"


def section(title, text, *parts):
    return f"<h2>{escape(title)}</h2>\n<p>{escape(text)}</p>\n" + "\n".join(parts)


def similarity(folder):
    picture = folder / "similarity.png"
    kernel = draw_similarity(picture)
    return section(
        "Similarity you can see",
        "The Gram matrix holds the similarity of every pair: 150 iris flowers, sorted by species. "
        "Flowers of one species are alike: the bright blocks on the diagonal.",
        figure_html(
            picture,
            "Heat map of a 150 by 150 matrix. Three bright blocks lie along the diagonal; setosa "
            "is unlike the other two, versicolor and virginica overlap.",
            f"{kernel!r}; gamma was taken from the data.",
        ),
    )


def regions(folder):
    picture = folder / "regions.png"
    told = "; ".join(f"{kernel!r}: {score:.0%}" for kernel, score in draw_regions(picture))
    return section(
        "One learner, three kernels",
        "A new point goes to the class whose mean is nearest in feature space. The learner stays "
        "the same; the kernel decides which borders it can draw.",
        figure_html(
            picture,
            "Three panels with two interleaved half moons and the border that each kernel draws. "
            f"Share of new points that are right: {told}.",
            "Fitted on 120 points; the 120 new points are drawn. Circles and triangles are the "
            "classes, the background is what the model predicts.",
        ),
    )


def progression(folder):
    model, score = predict_progression(folder)
    found = model.certificate_
    return section(
        "A table in, a tuned model out",
        "How far does diabetes advance in a year? 300 patients, ten columns. Every kernel and "
        "every alpha is judged on patients left out one at a time, which has a closed form: one "
        f"decomposition per kernel. Chosen: {model.kernel_!r} with alpha {model.alpha_:.2g}. The "
        "model went into the file progression.mercer, and the predictions are those of the model "
        "that was read back from it.",
        figure_html(
            folder / "progression.png",
            "Left: curves of the leave-one-out score over alpha, one per kernel, the best point "
            f"circled at {model.best_score_:.2f}. Right: measured against predicted progression of "
            f"new patients; the points scatter around the diagonal, R² {score:.2f}.",
            "Predictions of all new patients are in progression.csv.",
        ),
        text_html(
            f"{found.status}: relative residual {found.residual:.1e}, no prediction farther than "
            f"{found.error_bound:.1e} from the exact one\n{found.plan}"
        ),
    )


def eigenvalues(folder):
    picture = folder / "eigenvalues.png"
    good, bad = draw_eigenvalues(picture)
    return section(
        "Is it a kernel?",
        "A function is a kernel if no Gram matrix of it has a negative eigenvalue. Two that look "
        "alike, on the five points (0, 0), (±1, 0), (0, ±1):",
        figure_html(
            picture,
            "Bars of five eigenvalues each. Those of the first function are all positive; the last "
            f"of the second is {bad.min_eigenvalue:.4f}.",
            "One negative eigenvalue is enough: no feature space has these dot products.",
        ),
        text_html(good),
        text_html(f"{bad}\n  witness c        {bad.witness.round(3)}"),
    )


def languages(folder):
    model, header, rows = name_languages(folder / "languages.csv")
    right = sum(row[1] == row[2] for row in rows)
    return section(
        "Any data that has a similarity",
        f"{model.kernel_!r} compares sentences by their common groups of three letters. The same "
        f"learner, fitted on {len(model.support_)} sentences, names the language of {right} out of "
        f"{len(rows)} new ones.",
        table_html("Distance in feature space to the mean of each language", header, rows),
        text_html(f"status {model.certificate_.status}; {model.certificate_.plan}"),
    )


SECTIONS = (similarity, regions, progression, eigenvalues, languages)


def main():
    folder = output_folder()
    with plt.rc_context(STYLE):
        parts = [show(folder) for show in SECTIONS]
    page = folder / "index.html"
    page.write_text(PAGE.format(sections="\n".join(parts)), encoding="utf-8")
    print(f"Open {page} in a browser. Beside it: a model and two tables of predictions.")


if __name__ == "__main__":
    main()
