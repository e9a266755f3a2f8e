"""The command `wildtool`, also as `python -m wildtool`: stops are heeded before all else is imported."""

from wildtool.interrupts import exit_at_stop


def main() -> None:
    """Entry point of the installed command."""
    exit_at_stop()
    from wildtool.cli import main as run_command

    run_command()


if __name__ == "__main__":
    main()
