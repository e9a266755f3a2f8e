"""`python -m wildtool` is the command `wildtool`."""

from wildtool.cli import main

main()
