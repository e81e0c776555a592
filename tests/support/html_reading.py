"""A strict reader of HTML pages: balanced tags, ids, labels, headings, text."""

from html.parser import HTMLParser

EMPTY = {"br", "hr", "img", "meta", "link", "input"}
BLOCKS = {"p", "h1", "h2", "h3", "div", "section", "ul", "ol", "table", "figure", "dl", "article"}


class Page(HTMLParser):
    """What a page has; wrong nesting is an error."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.headings = [], [], []
        self.words = ""
        self.feed(text)
        self.close()
        assert self.open == [], f"not closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), f"{tag} has an attribute twice: {names}"
        assert not (self.open and self.open[-1] == "p" and tag in BLOCKS), f"{tag} within p"
        self.elements.append((tag, dict(attributes), tuple(self.open)))
        if tag in ("h1", "h2", "h3"):
            self.headings.append(int(tag[1]))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        raise AssertionError(f"<{tag}/> means nothing in HTML")

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> without a start"
        assert self.open[-1] == tag, f"</{tag}> closes <{self.open[-1]}>"
        self.open.pop()

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.words += data

    def all(self, *tags):
        """The attributes of all elements of these names."""
        return [attributes for tag, attributes, _ in self.elements if tag in tags]
