"""The local web server of `wildtool view`."""
