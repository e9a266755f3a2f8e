"""A package of its own, since NeMo Gym installs one of this name."""
