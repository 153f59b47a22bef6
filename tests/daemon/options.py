#!/usr/bin/env python3
"""options.py --check | --write: docs/reference/options.md is made from docs/man/modserd.8, which
describes each option, from the rows of the options and from the table of limits."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/reference/options.md"
ROW = re.compile(r'\{\s*\.name = "([a-z-]+)",[^}]*?\.when = MSD_OPTION_(\w+)')
ZERO = re.compile(r'\{"([a-z-]+)", "(auto|off|unlimited)"\}')
LIMIT = re.compile(r'X\((\w+), "([a-z-]+)", (RELOAD|RESTART),\s+([^,]+),')
LINKS = {"docs/reference/": "", "docs/": "../"}
WORDS = 36  # of the manual's sentences on an option; more follow in the manual
HEAD = """# Options of modserd

`tests/daemon/options.py --write` makes this page from `docs/man/modserd.8` and the table of
options; `man 8 modserd` says more. Each option is also a key of the
[configuration file](configuration.md), without the dashes, except those that exit at once.
*reload*: `modser reload` applies a change; *restart*: the next start does.

```
modserd --listen unix:/tmp/m.sock --load digits=digits.so
modserd --print-config                  # the values in force and where each comes from
```
"""


def facts():
    """{option: when a change applies}, {option: default of a limit}"""
    config = ROOT / "daemon/supervisor/config"
    rows = (config / "option_rows.c").read_text()
    when, zeros, defaults = dict(ROW.findall(rows)), dict(ZERO.findall(rows)), {}
    for field, name, at, value in LIMIT.findall((ROOT / "daemon/limits.h").read_text()):
        when[name] = at
        defaults[name] = zeros.get(name, "0") if value == "0" else in_units(field, value)
    return when, defaults


def in_units(field, value):
    """4ull << 30 as 4G; a time by the unit of its field."""
    shift = re.fullmatch(r"(\d+)ull << (\d+)", value)
    if shift:
        return shift[1] + {"10": "K", "20": "M", "30": "G"}[shift[2]]
    if value != "0" and field.endswith("_us"):
        return value + "us"
    if value == "0" or not field.endswith("_ms"):
        return value
    ms = int(value)
    return f"{ms // 60000}m" if ms % 60000 == 0 else f"{ms // 1000}s"


def plain(line, mark="`"):
    """A line of the manual in Markdown: bold words are code."""
    request = re.match(r"\.(BI|BR|RB|IR|RI|IB|B|I)\s+(.*)", line)
    if request:
        words = [w.strip('"') for w in re.findall(r'"[^"]*(?:"|$)|\S+', request[2])]
        fonts = request[1] * len(words) if len(request[1]) == 2 else request[1]
        if request[1] in ("BI", "IB"):  # one word in two fonts, then what follows it
            code, _, rest = "".join(words).partition("\\fR")
            words, fonts = [code, rest], "BR"
        if len(fonts) == 1:
            words = [" ".join(words)]
        line = "".join(f"\\fB{word}\\fR" if font == "B" else word
                       for word, font in zip(words, fonts))
    line = re.sub(r"\\fB(.*?)\\f[RIP]", rf"{mark}\1{mark}", line)
    line = re.sub(r"\\f[BIRP]", "", line)
    return line.replace("\\-", "-").replace("\\(dq", '"').replace("\\&", "")


def escape(text):
    text = re.sub(r"\s+", " ", text).strip().replace("|", "\\|").replace(" See CONFIGURATION.", "")
    text = re.sub(r"\s+([.,;:])(?=\s|$)", r"\1", text)
    for folder, here in LINKS.items():
        text = re.sub(rf"(?<![\w/(]){folder}([\w/-]+)\.md", rf"[\1.md]({here}\1.md)", text)
    return text


def beginning(text):
    """The first sentences."""
    sentences, ret = re.split(r"(?<=[.]) (?=[A-Z`])", text), ""
    for sentence in sentences:
        if ret and len(f"{ret} {sentence}".split()) > WORDS:
            break
        ret = f"{ret} {sentence}".strip()
    return ret


def entries():
    """(section, tag, text) of each option, in the order of the manual."""
    text = (ROOT / "docs/man/modserd.8").read_text()
    text = text[text.index(".SH OPTIONS"):text.index(".SH CONFIGURATION")]
    section = "Options"
    for part in re.split(r"^\.TP\n", text, flags=re.M)[1:]:
        tag, _, body = part.partition("\n")
        body, limits, _ = body.partition(".SS Limits")
        lines = []
        for line in body.splitlines():
            if line.startswith(".IP"):
                break  # the keys of --load: models.md has them
            if not re.match(r"\.(RS|RE|PP|br)", line):
                lines.append(plain(line))
        yield section, plain(tag, ""), " ".join(lines)
        if limits:
            section = "Limits"


def page():
    when, defaults = facts()
    lines, section = [HEAD.rstrip()], None
    missing = set(when)
    for part, tag, text in entries():
        names = re.findall(r"--([a-z-]+)", tag)
        if part != section:
            section = part
            lines += ["", f"## {section}", ""]
            if section == "Limits":
                lines += ["Sizes accept the suffixes K, M, G. A time is a number with a unit, `ms`, "
                          "`s`, `m` or `h`.", "`auto` is a share of the machine.", ""]
            lines += ["| option | meaning | default | change |", "|---|---|---|---|"]
        missing -= set(names)
        known = [n for n in names if n in when]
        change = ", ".join(dict.fromkeys(when[n].lower() for n in known))
        default = ", ".join(defaults[n] for n in known if n in defaults)
        lines.append(f"| `{re.sub(r'[ ]+', ' ', tag).strip()}` | {beginning(escape(text))} | {default} | "
                     f"{change} |".replace("  |", " |"))
    if missing:
        sys.exit(f"docs/man/modserd.8 has no {', '.join(sorted(missing))}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(page())
    elif PAGE.read_text() != page():
        sys.exit(f"{PAGE.name} is not what the manual says: tests/daemon/options.py --write")
