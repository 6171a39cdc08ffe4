"""All words of a page, as a reader would meet them."""

from streamlit.testing.v1 import AppTest

MARKDOWN = ("markdown", "caption", "error", "warning", "info", "success", "title", "subheader", "header")


def markdown_of(app: AppTest) -> list[str]:
    """Every piece of text that the browser reads as markdown."""
    found = [element.value for kind in MARKDOWN for element in app.get(kind)]
    labels = [widget.label for kind in ("button", "expander", "toggle") for widget in app.get(kind)]
    return [str(text) for text in (*found, *labels)]


def all_text(app: AppTest) -> str:
    """The texts of a page in one string, without the escapes."""
    return "\n".join(markdown_of(app)).replace("\\", "").replace("\u2060", "")
