"""`wildtool trust`: shows what a `wildtool.toml` would do, and remembers that it is trusted."""

from pathlib import Path

from wildtool.cli.command import arg, opt
from wildtool.config.config_file import CONFIG_FILE, trust_request_of
from wildtool.terminal import print_err, print_out


def trust(
    path: Path = arg("FILE", "The file, or its folder.", default=CONFIG_FILE),
    digest: str | None = opt("--hash HASH", "Trust it without a question, if it has this hash."),
) -> None:
    """Show what a wildtool.toml would do, and trust it.

    \b
    Examples:
      wildtool trust
      wildtool trust cloned/wildtool.toml

    A wildtool.toml in the current folder may set harmless options without trust. What sends a key, calls another machine,
    starts or executes something, or writes elsewhere needs it. The answer is kept in your configuration folder by a hash
    over the file and what it executes, so any change asks again. Where nobody can be asked, commands take the hash by
    --trust or WILDTOOL_TRUST.
    """
    request = trust_request_of(path)
    if not request.effects:
        print_out(f"{request.name} does nothing that needs trust.")
        return
    if digest is not None:
        request.accept(digest)
    elif request.is_trusted:
        print_err(request.statement())
    else:
        request.demand(())
    print_out(f"{request.name} is trusted until it changes: {request.digest}")
