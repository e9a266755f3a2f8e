"""How `--help` lists options: in panels, with placeholders and defaults."""

from typing import Any

from typer.core import TyperCommand

MODEL, SAMPLING, SELECTION, LIMITS, OUTPUT, MORE = PANELS = (
    "Model",
    "Sampling",
    "Selection",
    "Limits",
    "Output",
    "More",
)
"""Panels of options, in order; options without a panel come first."""
WIDTH = 84
PANEL_THRESHOLD = 16
"""Number of options from which they are listed in panels."""
MAX_NAME_WIDTH = 26
"""Columns for the names of options; a longer name gets its own line."""
NUMBER_NAMES = {"integer": "whole number", "int": "whole number", "float": "number"}
"""What messages call the types of numbers."""
METAVARS = {"whole number": "N", "number": "X", "text": "TEXT", "str": "TEXT", "path": "PATH"}
"""Placeholders for values by type, for options that name none."""


class PanelCommand(TyperCommand):
    """A command whose options are listed in panels. An option with several long names is shown with the first; the
    others are older names that still work.
    """

    def format_options(self, ctx: Any, formatter: Any) -> None:
        panels = {
            panel: [(_name(param), _help_text(param)) for param in params]
            for panel, params in self._panels(ctx).items()
        }
        if panels[MORE]:
            # --help comes last.
            panels[MORE].append(panels["Options"].pop())
        widest = min(max(len(name) for rows in panels.values() for name, _ in rows), MAX_NAME_WIDTH)
        for panel, rows in panels.items():
            if rows:
                with formatter.section(panel):
                    formatter.write_dl([(name.ljust(widest), text) for name, text in rows], MAX_NAME_WIDTH)

    def first_option(self, ctx: Any) -> str | None:
        """The first option with a value that help lists, with its placeholder; None where there is none."""
        options = (
            param for params in self._panels(ctx).values() for param in params if not _is_argument(param)
        )
        return next((_name(param).strip() for param in options if not param.is_flag), None)

    def _panels(self, ctx: Any) -> dict[str, list[Any]]:
        """By panel the parameters that it lists."""
        every: list[Any] = list(self.get_params(ctx))
        params = [param for param in every if not param.hidden]
        panels: dict[str, list[Any]] = {name: [] for name in ("Arguments", "Options", *PANELS)}
        for param in params:
            panels[_panel(param, many=len(params) >= PANEL_THRESHOLD)].append(param)
        return panels

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        pieces = ["[OPTIONS]"]
        for param in self.get_params(ctx):
            if _is_argument(param):
                name = _name(param)
                pieces.append(name if param.required else f"[{name}]")
        return pieces


def _is_argument(param: Any) -> bool:
    return param.param_type_name == "argument"


def _panel(param: Any, *, many: bool) -> str:
    if _is_argument(param):
        return "Arguments"
    return getattr(param, "rich_help_panel", None) or "Options" if many else "Options"


def _name(param: Any) -> str:
    """An argument, or an option with its value, as help shows it."""
    if _is_argument(param):
        return (param.metavar or param.name).strip("[]{}")
    short = next((name for name in param.opts if not name.startswith("--")), None)
    long = next(name for name in param.opts if name.startswith("--"))
    names = f"{short}, {long}" if short else f"    {long}"
    return names if param.is_flag else f"{names} {_metavar(param)}"


def _metavar(param: Any) -> str:
    if param.metavar:
        return param.metavar
    if choices := getattr(param.type, "choices", None):
        return "|".join(map(str, choices))
    return METAVARS.get(param.type.name, "VALUE")


def _help_text(param: Any) -> str:
    """The help text, with the default if it is worth showing."""
    default = param.default
    value = getattr(default, "value", default)
    if param.required and param.param_type_name == "option":
        return f"{param.help} (required)"
    if value in (None, "", ()) or isinstance(value, bool) or callable(value) or not param.show_default:
        return param.help or ""
    number = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{param.help} (default: {number})"
