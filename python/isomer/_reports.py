"""What the lab found out, as data: reports of checks and differences, with tables and pictures for a notebook."""

import html
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Finding:
    """One diagnosed fault of a candidate, its test or its instruction. docs/findings.md explains the codes."""

    code: str  #: "rounding-mode"
    subject: str  #: "candidate", "test" or "instruction"
    strength: str  #: "proved", "consistent", "observed", "nearest" or "unobservable"
    argument: str
    evidence: str
    fix: str
    file: str = ""
    line: int = 0
    variations: dict = field(default_factory=dict, repr=False)

    def __str__(self):
        place = f"  ({self.file.rpartition('/')[2]}{f':{self.line}' if self.line else ''})" if self.file else ""
        whose = "" if self.subject == "candidate" else f" [{self.subject}]"
        fix = f"\n     fix: {self.fix}{place}" if self.fix else ""
        return f"{self.code}{f' {self.argument}' if self.argument else ''}{whose}  {self.strength}  {self.evidence}{fix}"


@dataclass(frozen=True)
class Candidate:
    """A port that was checked, and what is wrong with it."""

    folder: str
    name: str  #: its file
    op: str  #: empty where it is no known op
    entry: str
    backend: str
    verdict: str  #: "pass", "fail", or "error" where it could not be judged
    compile: str  #: "passed", "failed" or "not reached"; so of call and exec
    call: str
    exec: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = field(repr=False)
    error: str  #: why it could not be judged
    calls: int
    seconds: float

    @property
    def passed(self):
        """Whether nothing was found and everything could be judged."""
        return self.verdict == "pass"

    def __str__(self):
        lines = [f"{self.folder}/{self.name}: {self.verdict}" if self.folder else f"{self.name}: {self.verdict}"]
        lines += [f"  {self.error}"] if self.error else []
        lines += [f"  {i}. {finding}" for i, finding in enumerate(self.findings, 1)]
        return "\n".join(lines + [f"  note: {note}" for note in self.notes])


@dataclass(frozen=True)
class CaseResult:
    """One case of an op, run by one implementation and compared with the reference."""

    op: str
    implementation: str
    case: str  #: the line that `isomer.check(case=…)` takes
    status: str  #: "passed", "failed" or "refused"
    reason: str
    max_abs: float  #: None where it is no number
    max_rel: float
    tolerance: float
    seconds: float


@dataclass(frozen=True)
class Report:
    """What `isomer.check` found. It is true where something was checked and all of it holds."""

    candidates: tuple[Candidate, ...] = ()
    results: tuple[CaseResult, ...] = ()
    seed: int = 0  #: of the inputs that ops were checked with
    html: str = field(default="", repr=False)  #: the page of the candidates, with pictures

    @property
    def passed(self):
        """Whether something was checked and all of it holds."""
        if not self.candidates and not any(r.status != "refused" for r in self.results):
            return False
        return all(c.passed for c in self.candidates) and not any(r.status == "failed" for r in self.results)

    def __bool__(self):
        return self.passed

    @property
    def failures(self):
        """The candidates and cases that failed, and the candidates that could not be judged."""
        return (*(c for c in self.candidates if not c.passed), *(r for r in self.results if r.status == "failed"))

    def __str__(self):
        if self.candidates:
            return "\n\n".join(map(str, self.candidates))
        lines = [f"FAILED {r.implementation}  {r.reason}\n  {r.case}" for r in self.results if r.status == "failed"]
        checked = sum(r.status != "refused" for r in self.results)
        failed = sum(r.status == "failed" for r in self.results)
        return "\n".join(lines + [f"{checked} checked, {failed} failed, {len(self.results) - checked} refused, seed "
                                  f"{self.seed}" + ("" if checked else ": nothing was checked")])

    def _repr_html_(self):
        if self.html:
            return _framed(self.html, 120 + sum(140 + 70 * len(c.findings) for c in self.candidates))
        groups = {}
        for r in self.results:
            groups.setdefault((r.op, r.implementation), []).append(r)
        rows = [(op, name, len(group) - sum(r.status == "refused" for r in group),
                 sum(r.status == "failed" for r in group), sum(r.status == "refused" for r in group),
                 f"{sum(r.seconds for r in group):.2f}") for (op, name), group in groups.items()]
        failed = [(r.implementation, r.case, r.reason) for r in self.results if r.status == "failed"]
        return (_table(("op", "implementation", "checked", "failed", "refused", "seconds"), rows) +
                (_table(("implementation", "case", "reason"), failed[:50]) if failed else "") +
                f"<p>{html.escape(str(self).splitlines()[-1])}</p>")


@dataclass(frozen=True)
class Pair:
    """Launches of both sides that belong together."""

    kind: str  #: "same", "variant", "geometry", "arguments", "code", "count", "metric" or "time"
    a: str
    b: str
    differences: dict  #: name → (a, b)


@dataclass(frozen=True)
class TensorDifference:
    """How a tensor of one file differs from that of the other."""

    name: str
    same: bool
    dtype: tuple[str, str]
    shape: tuple[str, str]
    elements: int
    unequal: int
    beyond: int  #: elements that differ by more than the tolerance
    tolerance: float
    max_abs: float  #: None where it is no number
    max_rel: float
    max_ulp: int
    at: str
    a: float
    b: float


@dataclass(frozen=True)
class Difference:
    """What differs between two records of launches, two binaries or two files of tensors."""

    same: bool
    sentences: tuple[str, ...]  #: the verdict in words
    pairs: tuple[Pair, ...] = field(default=(), repr=False)
    tensors: tuple[TensorDifference, ...] = ()
    only_a: tuple[str, ...] = ()
    only_b: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=(), repr=False)
    html: str = field(default="", repr=False)

    def __str__(self):
        lines = list(self.sentences) or ["the same" if self.same else "different"]
        lines += [f"{t.name}: {t.beyond} of {t.elements} elements beyond {t.tolerance:g}, at most {t.max_abs} apart"
                  for t in self.tensors if not t.same]
        for pair in self.pairs:
            if pair.kind != "same":
                lines.append(f"{pair.kind}: {pair.a}" + ("" if pair.a == pair.b else f" / {pair.b}"))
                lines += [f"  {name}: {a} / {b}" for name, (a, b) in pair.differences.items()]
        lines += [f"only in a: {name}" for name in self.only_a] + [f"only in b: {name}" for name in self.only_b]
        return "\n".join(lines)

    def _repr_html_(self):
        if self.html:
            return _framed(self.html, 700)
        if self.tensors:
            return _table(("tensor", "dtype", "shape", "same", "beyond", "max abs", "max rel", "ULP", "at"),
                          [(t.name, " / ".join(sorted(set(t.dtype))), " / ".join(sorted(set(t.shape))), t.same, t.beyond,
                            t.max_abs, t.max_rel, t.max_ulp, t.at) for t in self.tensors])
        rows = [(p.kind, p.a, p.b, "; ".join(f"{n}: {a} / {b}" for n, (a, b) in p.differences.items()))
                for p in self.pairs if p.kind != "same"]
        return "".join(f"<p>{html.escape(s)}</p>" for s in self.sentences) + _table(("kind", "a", "b", "differences"), rows)


def _table(head, rows):
    def cells(tag, row):
        return "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in row)

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f"<table><thead><tr>{cells('th', head)}</tr></thead><tbody>{body}</tbody></table>"


def _framed(page, height):
    """The page with its own style, which must not become the notebook's."""
    return (f'<iframe sandbox srcdoc="{html.escape(page, quote=True)}" style="width:100%;height:{min(height, 900)}px;'
            'border:0"></iframe>')


def _finding_of(said):
    place = said["location"]
    return Finding(said["code"], said["subject"], said["strength"], said["argument"], said["evidence"], said["fix"],
                   place.get("file", ""), place.get("line", 0), said["variations"])


def report_of(said, page=""):
    candidates = tuple(
        Candidate(c["folder"], c["candidate"], c["op"], c["entry"], c["backend"], c["verdict"], **c["stages"],
                  findings=tuple(map(_finding_of, c["findings"])), notes=tuple(c["notes"]), error=c["error"],
                  calls=c["calls"], seconds=c["seconds"]) for c in said.get("candidates", ()))
    results = tuple(CaseResult(**{key: r[key] for key in CaseResult.__dataclass_fields__})
                    for r in said.get("results", ()))
    return Report(candidates, results, said.get("seed", 0), page)


def difference_of(said, page=""):
    pairs = tuple(Pair(p["kind"], p["a"], p["b"], {d["name"]: (d["a"], d["b"]) for d in p["differences"]})
                  for p in said["pairs"])
    tensors = tuple(TensorDifference(**{**t, "dtype": tuple(t["dtype"]), "shape": tuple(t["shape"])})
                    for t in said.get("tensors", ()))
    return Difference(said["verdict"] == "same", tuple(said.get("sentences", ())), pairs, tensors, tuple(said["only_a"]),
                      tuple(said["only_b"]), tuple(said.get("notes", ())), page)


for _each in (Finding, Candidate, CaseResult, Report, Pair, TensorDifference, Difference):
    _each.__module__ = "isomer"
