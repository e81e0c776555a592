"""The report of a model."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ..checks import FileError, InputError, sentence
from ..storage import atomic
from .facts import Facts
from .findings.record import Finding
from .measure.sentences import Verdict
from .page.document import page_of
from .twin import twin_of

WHO = "Report.save"


@dataclass(frozen=True, kw_only=True)
class Report:
    """What is to be known of a fitted model: a page to read, and its numbers.

    `make_report` makes it. The same report always gives the same page, byte by byte.

    Attributes
    ----------
    facts : Facts
        All that the report says.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> from mercer.kernels import Gaussian
    >>> from mercer.report import make_report
    >>> X = np.linspace(0.0, 6.0, 60)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> model = KernelRidge(kernel=Gaussian(gamma=1.0), alpha=0.01).fit(X, y)
    >>> report = make_report(model, X, y, title="A sine")
    >>> report.verdict.headline
    'Better than every baseline'
    """

    facts: Facts

    @property
    def title(self) -> str:
        """The title of the page.

        Returns
        -------
        str
            As it was given, or made of the model and the target.
        """
        return self.facts.title

    @property
    def verdict(self) -> Verdict | None:
        """How good the model is, in words.

        Returns
        -------
        Verdict or None
            A grade, a headline and sentences; None where there was no time to judge the model.
        """
        return self.facts.verdict

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What a reader should mind.

        Returns
        -------
        tuple of Finding
            The gravest first.
        """
        return self.facts.findings

    def html(self) -> str:
        """Return the page: one file that needs nothing else, in light and dark, for print too.

        Returns
        -------
        str
            The HTML.

        Raises
        ------
        PackageError
            If matplotlib is not installed.
        """
        return page_of(self.facts)

    def json(self) -> str:
        """Return the twin of the page: every number of it, as strict JSON.

        Returns
        -------
        str
            The JSON; its field "version" says which form it has.
        """
        return twin_of(self.facts)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> tuple[Path, Path]:
        """Write the page and its twin beside it, each whole or not at all.

        Parameters
        ----------
        path : str or path
            The file of the page; the twin has the same name with the ending ".json".
        force : bool, default=False
            Whether files that are there may be replaced.

        Returns
        -------
        page : Path
            The file of the page.
        twin : Path
            The file of its twin.

        Raises
        ------
        FileError
            If a file is there already, or the folder is not.
        InputError
            If the page has the name of its twin.
        OSError
            If the disk is full, or may not be written to.
        """
        page = Path(path)
        twin = page.with_suffix(".json")
        if twin == page:
            must = "the page must have another ending than its twin"
            raise InputError(sentence(WHO, must, repr(page.name), 'Write it to a ".html" file.'))
        if not page.parent.is_dir():
            must = "the folder must exist"
            raise FileError(sentence(WHO, must, f"none at {str(page.parent)!r}"))
        for one in (page, twin):
            if one.exists() and not force:
                must = "no file may be there yet"
                advice = "Choose another name, or say force=True."
                raise FileError(sentence(WHO, must, repr(str(one)), advice))
        for one, text in ((page, self.html()), (twin, self.json())):
            atomic.write(str(one), [text.encode("utf-8", "replace")])
        return page, twin
