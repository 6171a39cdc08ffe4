"""Who may import whom. The table is the documentation; the tests walk the syntax trees against it."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

SHELVES = ["datasets", "models", "methods", "problems", "probes", "measures", "importers"]

# package -> packages of affinity that it may import, at the top of a file or inside a function
MAY_IMPORT = {
    "core": set(),
    "datasets": {"core"},
    "models": {"core"},
    "methods": {"core"},
    "problems": {"core"},
    "probes": {"core"},
    "measures": {"core"},
    "grouping": {"core"},
    "runs": {"core"},
    "importers": {"core", "runs"},
    "training": {"core", "runs", "datasets", "models", "methods", "probes"},
    "jobs": {"core", "runs", "datasets", "models", "methods", "probes", "grouping", "training"},
    "analysis": {"core", "runs", "measures", "grouping", "methods", "problems"},
    "figures": {"core", "analysis"},
    "export": {"core", "analysis"},
    "commands": {"core", "runs", "jobs", "analysis", "export", "grouping", "importers", "methods"},
    "cli": {"core", "commands"},
    "__init__": set(),
    "__main__": {"cli"},
}

# package -> heavy packages that it may import at the top of a file
MAY_LOAD = {
    "training": {"torch", "psutil"},
    "grouping": {"scipy"},
    "analysis": {"scipy"},
    "measures": {"scipy"},
    "figures": {"plotly", "networkx", "scipy"},
    "export": {"pandas"},
    "runs": {"pyarrow", "psutil", "filelock"},
    "jobs": {"psutil", "filelock", "joblib"},
    "importers": {"pandas", "pyarrow"},
}
HEAVY = {
    *("torch", "scipy", "sklearn", "networkx", "pandas", "plotly", "streamlit", "pyarrow", "psutil"),
    *("filelock", "joblib", "river", "mlxtend", "ray"),
}

FORBIDDEN_MODULES = {
    "pickle",
    "marshal",
    "shelve",
    "dill",
    "cloudpickle",
    "yaml",
    "urllib",
    "requests",
    "httpx",
}
FORBIDDEN_CALLS = {
    *("eval", "exec", "compile", "__import__", "os.system", "os.popen", "torch.load", "torch.save"),
    *(
        "joblib.load",
        "np.load",
        "numpy.load",
        "pd.read_pickle",
        "st.html",
        "st.components.v1.html",
        "os.fork",
    ),
}
FORBIDDEN_ARGUMENTS = {
    ("shell", True),
    ("unsafe_allow_html", True),
    ("allow_pickle", True),
    ("unsafe_allow_javascript", True),
}


def sources(*folders: str) -> list[Path]:
    """All our Python files below the folders, in order."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


PRODUCT = [*sources("affinity", "pages"), ROOT / "app.py"]


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def package_of(path: Path) -> str:
    """`core` for affinity/core/types.py, `cli` for affinity/cli.py."""
    return path.relative_to(ROOT / "affinity").parts[0].removesuffix(".py")


def imports(path: Path, *, top_only: bool) -> Iterator[str]:
    """Dotted names a file imports; those inside `if TYPE_CHECKING` do not happen."""
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{named(path)} imports relatively"
            names = [alias.name for alias in node.names] if node.module == "affinity" else []
            yield from [f"affinity.{name}" for name in names] or [str(node.module)]
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
        elif not (top_only and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)):
            waiting += ast.iter_child_nodes(node)


@pytest.mark.parametrize("path", sources("affinity"), ids=named)
def test_a_package_imports_only_what_the_table_allows(path: Path):
    package = package_of(path)
    found = {name.split(".")[1] for name in imports(path, top_only=False) if name.startswith("affinity.")}
    assert package in MAY_IMPORT, f"add affinity/{package} to the table"
    assert found - {package} <= MAY_IMPORT[package]


@pytest.mark.parametrize("path", sources("affinity"), ids=named)
def test_heavy_packages_are_loaded_only_where_the_table_allows(path: Path):
    package = package_of(path)
    found = {name.split(".")[0] for name in imports(path, top_only=True)} & HEAVY
    assert found <= MAY_LOAD.get(package, set())


def test_jobs_reach_training_only_inside_functions():
    for path in sources("affinity/jobs"):
        assert not any(name.startswith("affinity.training") for name in imports(path, top_only=True))


@pytest.mark.parametrize("shelf", SHELVES)
def test_entries_of_a_shelf_do_not_import_each_other(shelf: str):
    for path in sources(f"affinity/{shelf}"):
        if path.name.startswith("_"):
            continue
        for name in imports(path, top_only=False):
            if name.startswith(f"affinity.{shelf}."):
                assert name.rpartition(".")[2].startswith("_"), f"{named(path)} imports {name}"


@pytest.mark.parametrize("path", [*sources("pages"), ROOT / "app.py"], ids=named)
def test_pages_never_import_training_and_only_pages_import_streamlit(path: Path):
    found = list(imports(path, top_only=False))
    assert not any(name.startswith(("affinity.training", "torch")) for name in found)


def test_streamlit_is_imported_by_pages_alone():
    for path in sources("affinity"):
        assert "streamlit" not in {name.split(".")[0] for name in imports(path, top_only=False)}, named(path)


READING = [
    "affinity",
    "affinity.runs.library",
    "affinity.runs.archive",
    "affinity.measures",
    "affinity.grouping",
    "affinity.datasets",
    "affinity.models",
    "affinity.methods",
    "affinity.probes",
    "affinity.analysis.affinity",
    "affinity.analysis.groups",
    "affinity.analysis.compare",
    "affinity.analysis.conflicts",
    "affinity.analysis.overview",
    "affinity.export",
    "affinity.figures",
    "affinity.jobs.launch",
    "affinity.jobs.prepare",
    "affinity.commands.reading",
    "affinity.cli",
]


def test_the_reading_half_loads_neither_torch_nor_training_nor_streamlit():
    program = (
        f"import importlib, sys\nfor name in {READING!r}: importlib.import_module(name)\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('torch', 'streamlit')"
        " or name.startswith('affinity.training')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_importing_the_package_is_next_to_nothing():
    program = (
        "import sys, affinity\nprint([name for name in ('numpy', 'torch', 'pyarrow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_of_the_package_exists():
    import affinity

    for name in affinity.__all__:
        assert getattr(affinity, name).__doc__, name
    assert set(affinity.__all__) <= set(dir(affinity))
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = affinity.nonsense


@pytest.mark.parametrize("path", [*PRODUCT, *sources("tests")], ids=named)
def test_no_file_is_longer_than_300_lines(path: Path):
    answers = path.name.startswith("right_answers") or path.name.endswith("_answers.py")
    if path in PRODUCT or not answers:
        limit = 300 if path in PRODUCT else 400
        assert len(path.read_text(encoding="utf-8").splitlines()) <= limit


@pytest.mark.parametrize("path", PRODUCT, ids=named)
def test_nothing_dangerous_is_called(path: Path):
    found = {name.split(".")[0] for name in imports(path, top_only=False)}
    assert not found & FORBIDDEN_MODULES
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            assert ast.unparse(node.func) not in FORBIDDEN_CALLS, f"line {node.lineno}"
            for keyword in node.keywords:
                value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
                assert (keyword.arg, value) not in FORBIDDEN_ARGUMENTS, f"line {node.lineno}"


@pytest.mark.parametrize("path", PRODUCT, ids=named)
def test_nothing_is_left_to_do(path: Path):
    text = path.read_text(encoding="utf-8")
    for unfinished in ("NotImplementedError()", "raise NotImplementedError", "TODO", "FIXME", "XXX"):
        assert unfinished not in text


@pytest.mark.parametrize("path", sources("affinity"), ids=named)
def test_every_file_says_in_its_first_lines_what_it_is_for(path: Path):
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
