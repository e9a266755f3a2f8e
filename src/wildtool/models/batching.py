"""Which models can be asked by batches."""

from wildtool.models.http_model import HttpModel
from wildtool.models.prompted import PromptedModel
from wildtool.types import Model


def batching_of(model: Model) -> HttpModel | None:
    """The model whose requests can go by batches: itself, or the one behind its format; None where they cannot."""
    asked = model.inner if isinstance(model, PromptedModel) else model
    return asked if isinstance(asked, HttpModel) and asked.can_batch else None
