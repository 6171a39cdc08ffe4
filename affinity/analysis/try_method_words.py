"""What the methods did, in words."""

from collections.abc import Sequence

from affinity.analysis.try_method_view import EndPoint
from affinity.analysis.wording import listing, plural
from affinity.core.problem import Problem


def answer(methods: Sequence[str], ends: Sequence[EndPoint], *, tasks: Sequence[str]) -> str:
    """Who left how many starts where, one clause a method."""
    starts = max((end.start for end in ends), default=0)
    clauses = []
    for method in methods:
        own = [end for end in ends if end.method == method]
        counts = {
            word: sum(end.outcome == outcome for end in own)
            for outcome, word in (("stuck", "stuck"), ("under way", "still under way"), ("diverged", "lost"))
        }
        left = [f"{count} {word}" for word, count in counts.items() if count]
        brought = starts - sum(counts.values())
        if not left:
            clauses.append(
                f"{method} brings {'the start' if starts == 1 else f'all {starts} starts'} to the front"
            )
        else:
            clauses.append(
                f"{method} brings {brought} of {starts} to the front and leaves {' and '.join(left)}"
            )
    return "; ".join(clauses) + "." if clauses else ""


def caveats(
    problem: Problem,
    coinciding: Sequence[tuple[str, str]],
    *,
    optimizer: str,
    lr: float,
    exceptions: Sequence[str],
) -> tuple[str, ...]:
    """What a reader has to know beside the picture; no sentence that does not apply."""
    name = {"sgd": "plain steps", "adam": "Adam"}[optimizer]
    said = [
        f"Every method steps with {name} at learning rate {lr:g}, its own settings at their defaults. "
        f"On the front means within {problem.near:g} of it in parameter space."
    ]
    if exceptions:
        said.append(f"{listing(exceptions)} takes plain steps: its direction is scaled already.")
    said += [
        f"{one} and {other} took exactly the same way: here they are the same method."
        for one, other in coinciding
    ]
    others = len(problem.parameters) - 2
    if others:
        said.append(
            f"The picture shows two of {len(problem.parameters)} parameters; {plural(others, 'more one')} "
            "cannot be seen, so a way may seem to touch the front without being there."
        )
    return tuple(said)
