"""What `--on ray…` says."""

import pytest

from wildtool.errors import UsageError
from wildtool.scale.ray_cluster import RayPlace


@pytest.mark.parametrize(
    ("typed", "place"),
    [
        ("ray", RayPlace(address=None)),
        ("ray,workers=8,gpus=0.5", RayPlace(address=None, workers=8, gpus=0.5)),
        ("ray://head:10001,cpus=2", RayPlace(address="ray://head:10001", cpus=2.0)),
    ],
)
def test_a_cluster_is_named_with_what_each_worker_takes(typed: str, place: RayPlace):
    assert RayPlace.parse(typed) == place


@pytest.mark.parametrize(
    "typed", ["rays", "ray:4", "ray,workers=0", "ray,workers=1.5", "ray,gpus=", "ray,tpus=1"]
)
def test_what_cannot_be_meant_is_refused_with_an_example(typed: str):
    with pytest.raises(UsageError, match="such as ray,workers=8"):
        RayPlace.parse(typed)
