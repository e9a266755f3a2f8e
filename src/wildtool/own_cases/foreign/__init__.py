"""Case files of other programs, each told apart by its own keys and read as cases of ours."""
