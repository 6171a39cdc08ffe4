"""Words on the page: escaped names, friendly errors, empty states."""

import logging
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec

import streamlit as st

from affinity.core.errors import AffinityError
from pages.ui import state
from pages.ui.menu import find

P = ParamSpec("P")

_LOGGER = logging.getLogger("affinity.pages")
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+\-.!|>~:$<&=@/'\"^])")
_JOINER = "\u2060"  # invisible and without width
_PATH = re.compile(r"(?<![\w.])(?:/[\w.@-]+){2,}|[A-Za-z]:\\[^\s'\"]+")


def md(name: object) -> str:
    r"""Text from a user as markdown that shows exactly this text.

    A backslash goes before every character that markdown reads. Emoji codes, typographic dashes and bare
    links are replaced after that reading, so an invisible joiner interrupts them.
    """
    text = " ".join(str(name).split())
    escaped = _SPECIAL.sub(r"\\\1", text)
    for trigger in (r"\:", r"\-", r"\@", r"\=", r"\<", "www"):
        escaped = escaped.replace(trigger, trigger + _JOINER)
    return escaped


def show_error(error: AffinityError) -> None:
    """A problem that the user can understand: what, where, and what to do about it."""
    place = f" ({md(_without_paths(error.where))})" if error.where else ""
    advice = f"  \n**What to do:** {md(_without_paths(error.hint))}" if error.hint else ""
    text = _without_paths(error.what)
    st.error(md(text[:1].upper() + text[1:]) + place + advice, icon=":material/error:")


def show_bug(error: Exception) -> None:
    """A problem of the program: a short number on the page, the details in the server's log."""
    number = secrets.token_hex(3)
    _LOGGER.error("page failed, number %s", number, exc_info=error)
    st.error(
        f"Something went wrong on this page. Your runs are untouched. Reload the page to try again; if it "
        f"stays, the details are in the server's log under the number **{number}**.",
        icon=":material/bug_report:",
    )


@contextmanager
def boundary() -> Iterator[None]:
    """Inside it, errors become words. Fragments and dialogs run without their page, so each needs its own."""
    try:
        yield
    except AffinityError as error:
        show_error(error)
    except Exception as error:
        show_bug(error)


def safely(action: Callable[P, None]) -> Callable[P, None]:
    """A callback that shows its error at the top of the page instead of ending the script."""

    @wraps(action)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            action(*args, **kwargs)
        except AffinityError as error:
            state.put("problem", error)

    return guarded


def show_notices() -> None:
    """What an earlier run of the script wanted to say: a message, or the error of a callback."""
    notice, problem = state.take("notice"), state.take("problem")
    if notice:
        st.success(str(notice), icon=":material/check_circle:")
    if isinstance(problem, AffinityError):
        show_error(problem)


def empty(what: str, todo: str, *, page: str = "", link: str = "") -> None:
    """An empty state: what is missing, what to do, and a link to where it is done.

    Args:
        what: what is not there; markdown.
        todo: what to do; markdown.
        page: key of the page to go to.
        link: label of the link; the page's own label when left out.
    """
    with st.container(border=True):
        st.markdown(f"**{what}**")
        st.markdown(todo)
        if page:
            target = find(page)
            st.page_link(target.path, label=link or target.label, icon=target.icon)


def caveats(sentences: tuple[str, ...] | list[str]) -> None:
    """The fine print under a picture; plain sentences from a service, which may hold task names."""
    if sentences:
        st.caption("  \n".join(md(sentence) for sentence in sentences))


def answer(*sentences: str) -> None:
    """The sentences that answer the page's question, from a service; they may hold task names."""
    if any(sentences):
        st.info("  \n".join(md(sentence) for sentence in sentences), icon=":material/lightbulb:")


def _without_paths(text: str | None) -> str:
    """The text without absolute paths, which would tell about the server."""
    return _PATH.sub("(file)", text or "")
