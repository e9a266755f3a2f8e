"""Settings of models in one line each: fields of `Sampling` and `EndpointOptions` by their names alone."""

from dataclasses import fields
from typing import Any

from wildtool.models.resolve import ModelOptions
from wildtool.models.settings import EndpointOptions, Sampling


def model_options(**given: Any) -> ModelOptions:
    """Options with each value in the record that has a field of its name."""
    return ModelOptions(sampling=_take(Sampling, given), endpoint=_take(EndpointOptions, given), **given)


def client_options(**given: Any) -> dict[str, Any]:
    """Arguments of a model's class, those of `Sampling` as one."""
    return {"sampling": _take(Sampling, given), **given}


def _take(record: Any, given: dict[str, Any]) -> Any:
    return record(**{field.name: given.pop(field.name) for field in fields(record) if field.name in given})
