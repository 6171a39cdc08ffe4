"""The command line: thin, the same services as the pages.

Exit 0, or 2 for bad input with one line on stderr.
"""

import argparse
import importlib
import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn

from affinity.core.errors import AffinityError
from affinity.core.strict_json import dumps

if TYPE_CHECKING:
    from affinity.commands.shared import Answer, Options

SHELVES = ("datasets", "models", "methods", "probes", "measures", "grouping")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        0, or 2 when the user gave something that cannot be used.
    """
    options = _parser().parse_args(arguments)
    try:
        answer, text = _command(options.module, options.name)(options)
    except AffinityError as error:
        return _refuse(str(error))
    except OSError as error:
        return _refuse(f"{error.filename or 'system'}: {error.strerror or error}.")
    except KeyboardInterrupt:
        print("error: interrupted.", file=sys.stderr)
        return 130
    # Names are any unicode, and JSON is UTF-8 whatever the terminal speaks.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    try:
        print(dumps(answer) if options.json else text, flush=True)
    except BrokenPipeError:  # the reader has seen enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _refuse(reason: str) -> int:
    """One line that says what and where."""
    print(f"error: {' '.join(reason.split())}", file=sys.stderr)
    return 2


class _Parser(argparse.ArgumentParser):
    """Bad usage is bad input too: one line, without the usage text before it."""

    def error(self, message: str) -> NoReturn:
        """Print the one line and leave."""
        sys.exit(_refuse(f"{self.prog}: {message} (--help shows what is possible)."))


def _command(module: str, name: str) -> "Callable[[Options], Answer]":
    """The function of a command, loaded now, so that `--help` and errors of usage answer at once."""
    found: Callable[[Options], Answer] = getattr(
        importlib.import_module(f"affinity.commands.{module}"), f"{name}_command"
    )
    return found


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="affinity", description="Which tasks should be learned together?")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, module: str, text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text)
        added.set_defaults(module=module, name=name)
        added.add_argument("--json", action="store_true", help="print one JSON object")
        added.add_argument("--home", help="folder of runs (default: AFFINITY_HOME, else runs/)")
        return added

    one = command("list", "reading", "List runs, or the entries of a shelf.")
    one.add_argument("shelf", nargs="?", choices=("runs", *SHELVES), default="runs")

    one = command("train", "training", "Train tasks together and record who helps whom.")
    one.add_argument("--dataset", required=True)
    one.add_argument("--model")
    one.add_argument("--method")
    one.add_argument("--optimizer")
    for name in ("steps", "batch", "lr", "every", "device"):
        one.add_argument(f"--{name}")
    one.add_argument("--seeds", default="0", help="comma-separated; one run each")
    one.add_argument("--probes", help="comma-separated; see `list probes`")
    one.add_argument("--label", default="")
    one.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="for example dataset.groups=4, momentum=0.9",
    )

    one = command("show", "reading", "What a run is, and who helps and hurts most.")
    one.add_argument("run")

    one = command("matrix", "reading", "An affinity matrix, [source, affected], positive helps affected.")
    one.add_argument("run")
    _signal_options(one)

    one = command("group", "grouping", "Find the best grouping into at most K networks.")
    one.add_argument("run", metavar="RUN_OR_MATRIX")
    _signal_options(one)
    one.add_argument("--groups", type=int, required=True, metavar="K")
    one.add_argument("--algorithm", default="exact")
    one.add_argument("--overlap", action="store_true", help="a task may help in several networks")
    _limit_options(one)
    one.add_argument("--output", metavar="FILE", help="also write the grouping file, for `rerun` or the app")

    one = command("rerun", "training", "Retrain a grouping beside all-joint and single-task training.")
    one.add_argument("run")
    one.add_argument("--grouping", required=True, metavar="FILE")
    one.add_argument("--seeds", default="0,1,2")
    one.add_argument("--steps", type=int)
    one.add_argument("--backend", default="local", choices=("local", "ray"))

    one = command("validate", "validation", "Does a prediction from pairs choose the right networks?")
    _validate_options(one)

    gradients = '{"tasks": [...], "matrix": [one gradient a task]}'
    one = command("statistics", "gradients", "Every conflict statistic of a gradient matrix.")
    one.add_argument("matrix", metavar="MATRIX.json", help=gradients)

    one = command("direction", "gradients", "What a training method does with a gradient matrix.")
    one.add_argument("matrix", metavar="MATRIX.json", help=f"{gradients}, perhaps with losses")
    one.add_argument("--method", required=True, help="see `list methods`")
    one.add_argument("--seed", type=int, default=0, help="of what the method draws")
    one.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="of the method")

    one = command("export", "reading", "Write a grouping or a matrix to a file or to the screen.")
    one.add_argument("run")
    one.add_argument("--grouping", metavar="FILE", help="check a grouping file against the run and export it")
    one.add_argument("--matrix", action="store_true", help="export the affinity matrix")
    one.add_argument("--format", choices=("json", "csv"), default="json")
    one.add_argument("--output", metavar="FILE")
    _signal_options(one)
    return parser


def _limit_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--objective",
        default="mean_affinity",
        choices=("mean_affinity", "tag", "higher_order", "correlation", "density"),
        help="what is best: mean gain, a task alone at 0 (default), at minus a million or at its own effect; "
        "sum of helpful minus harmful pairs; density with exactly K networks",
    )
    parser.add_argument("--min-size", type=int, default=1, metavar="N", help="fewest tasks in a network")
    parser.add_argument("--max-size", type=int, metavar="N", help="most tasks in a network")
    for name, text in (
        ("--together", "tasks that share their networks"),
        ("--apart", "tasks that share none"),
    ):
        parser.add_argument(name, action="append", default=[], metavar="A,B", help=f"{text}; may be repeated")
    parser.add_argument("--price", type=float, default=0.0, metavar="X", help="price of a network, in gain")
    parser.add_argument(
        "--task-price",
        action="append",
        default=[],
        metavar="[A=]X",
        help="price of training a task in a network, for all tasks or for one; may be repeated",
    )
    parser.add_argument("--min-gain", type=float, metavar="X", help="a task that gains less stays alone")
    parser.add_argument("--threshold", type=float, default=0.0, metavar="X", help="pairs count above this")
    parser.add_argument(
        "--seconds", type=float, default=20.0, metavar="S", help="longest search (default: 20)"
    )


def _validate_options(parser: argparse.ArgumentParser) -> None:
    # Spelled out here, so that --help needs no numpy; the page says the same from the reader's own words.
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = """\
A table of networks that were trained: what would have been chosen from the pairs alone, and how far
is that from the best choice? TABLE is one of:
  CSV   one row a network, one column a task, empty where the network does not train the task;
        optional columns: cost (1 = a network of full size), group (such as depth|normals)
  CSV   a column mask (11000 = the first two tasks) and columns val_t1, test_t1, gain_t1, loss_task1:
        val, gain and loss choose, test judges, every other prefix (hoa_t1) is a prediction
  text  losses divided by tabs, without a header, as published by Standley et al.: one row with the
        networks of half size, then one row a network
  JSON  {"sense": "lower", "groups": [{"scores": {"depth": 0.2, "normals": 0.1}, "cost": 1}, ...]}"""
    parser.add_argument("table", metavar="TABLE")
    parser.add_argument("--sense", choices=("lower", "higher"), help="the better score, if TABLE is silent")
    parser.add_argument(
        "--part", default="", help="which part (column setting) of a table that holds several"
    )
    parser.add_argument("--test", metavar="FILE", help="the same networks measured on test data, to judge by")
    parser.add_argument("--masks", metavar="FILE", help="rows of 0 and 1, if TABLE holds only numbers")
    parser.add_argument("--prediction", default="pairs", help="pairs, or a prediction that TABLE holds")
    parser.add_argument(
        "--budgets", help="comma-separated total costs; 1 to the number of tasks when left out"
    )


def _signal_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--signal", help="see `list measures`; the run's first when left out")
    parser.add_argument("--reduce", choices=("mean", "last", "ema"))
    parser.add_argument("--from", dest="first", type=int, metavar="STEP")
    parser.add_argument("--to", dest="last", type=int, metavar="STEP")
    parser.add_argument("--split", choices=("train", "validation"), default="train")
