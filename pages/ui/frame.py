"""What every page shares: page config, menu, title, and the boundary at which errors become words."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from pages.ui import messages, state
from pages.ui.menu import PAGES, Page, find

# A favicon of our own: a Material symbol would be fetched from the internet.
_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><g stroke="#8a97a8" stroke-width="2.5">'
    '<path d="M8 10 24 8M8 10 16 25M24 8 16 25"/></g><circle cx="8" cy="10" r="6" fill="#1f5fa8"/>'
    '<circle cx="24" cy="8" r="5" fill="#2f74c4"/><circle cx="16" cy="25" r="5.5" fill="#d9822b"/></svg>'
)

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")


@contextmanager
def start(key: str) -> Iterator[Page]:
    """Everything around a page's own content.

    Args:
        key: the page's key in the menu.
    """
    page = find(key)
    st.set_page_config(page_title=f"{page.label} · Task affinity", page_icon=_ICON, layout="wide")
    _draw_menu()
    st.title(page.question, anchor=False)
    messages.show_notices()
    with messages.boundary():
        yield page


def _draw_menu() -> None:
    run_id = state.chosen_run()
    query = {state.RUN: run_id} if run_id else None
    with st.sidebar:
        st.markdown(":material/hub: **Task affinity**")
        section = ""
        for page in PAGES:
            if page.section != section:
                section = page.section
                st.caption(section)
            st.page_link(
                page.path,
                label=page.label,
                icon=page.icon,
                help=page.about,
                query_params=query,
                width="stretch",
            )
