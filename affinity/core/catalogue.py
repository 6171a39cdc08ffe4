"""One file on a shelf = one entry: found by scanning, keyed by its file name, loud when it is wrong."""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Generic, TypeVar

from affinity.core.entry import Entry
from affinity.core.errors import SettingsError

E = TypeVar("E", bound=Entry)


class Catalogue(Mapping[str, E], Generic[E]):
    """The entries of one shelf, in alphabetical order of their keys.

    Args:
        shelf: the package to scan; modules whose name starts with an underscore are skipped.
        kind: the entry class, or classes, every module must hold exactly one instance of.

    Raises:
        ImportError: a module holds no entry, several entries, or one whose key is not its file name.
    """

    def __init__(self, shelf: ModuleType, kind: type[E] | tuple[type[E], ...]) -> None:
        self._entries: dict[str, E] = {}
        self._name = shelf.__name__.rpartition(".")[2]
        for found in pkgutil.iter_modules(shelf.__path__):
            if not found.name.startswith("_"):
                self._entries[found.name] = _only_entry(f"{shelf.__name__}.{found.name}", kind)

    def __getitem__(self, key: str) -> E:
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, key: str) -> E:
        """The entry called `key`.

        Raises:
            SettingsError: there is none; the message lists what there is.
        """
        if key not in self._entries:
            known = ", ".join(self._entries)
            raise SettingsError(f"'{key}' is not one of the {self._name}.", hint=f"Known: {known}.")
        return self._entries[key]


def _only_entry(module_name: str, kind: type[E] | tuple[type[E], ...]) -> E:
    module = importlib.import_module(module_name)
    entries = [value for value in vars(module).values() if isinstance(value, kind)]
    expected = module_name.rpartition(".")[2]
    wanted = " or ".join(one.__name__ for one in (kind if isinstance(kind, tuple) else (kind,)))
    if len(entries) != 1 or entries[0].key != expected:
        raise ImportError(
            f"{module_name} must hold exactly one {wanted} whose key is '{expected}'; "
            f"found {[entry.key for entry in entries] or 'none'}"
        )
    return entries[0]
