"""What a provider's failure means: the one place where its library's exceptions become ours."""

from __future__ import annotations

import re

from groundql.core.budget import Usage
from groundql.core.chat import Finish, ModelReply
from groundql.errors import (
    ModelError,
    ModelMalformed,
    ModelRateLimited,
    ModelTimeout,
    ModelUnavailable,
)

MESSAGE_CHARS = 300


def is_rejected_form(error: Exception) -> bool:
    """Say whether a server turned the request down in a way that asking without a schema may mend.

    A plain "bad request" is all that most servers say when they do not know `response_format`; some fail inside.
    """
    from pydantic_ai import exceptions as ai

    if isinstance(error, ai.ModelHTTPError):
        if isinstance(error, ai.ModelAuthenticationError | ai.ModelNotFoundError | ai.ModelContextWindowExceededError):
            return False
        if error.status_code in (400, 415, 422, 501):
            return True
        text = str(error.body).lower()
        return error.status_code == 500 and any(w in text for w in ("response_format", "json_schema", "grammar"))
    return False


def translate_error(error: Exception, name: str) -> ModelReply | ModelError:
    """Return what an exception of the provider's library means: a reply that ended early, or an error of ours."""
    from pydantic_ai import exceptions as ai

    match error:
        case ModelError():
            return error
        case ai.ContentFilterError():
            return ModelReply("", Finish.REFUSAL, Usage(calls=1, cost_usd=None), name)
        case ai.OutputTokenLimitExceeded():
            return ModelReply("", Finish.LENGTH, Usage(calls=1, cost_usd=None), name)
        case ai.ModelRateLimitError():
            return ModelRateLimited(f"{name} asks to wait: {said(error)}", retry_after_s=error.retry_after)
        case ai.ModelTimeoutError() | ai.ModelRequestTimeout() | TimeoutError():
            return ModelTimeout(f"{name} gave no reply in time", hint="raise model_timeout_s in the settings")
        case ai.ModelConnectionError():
            return _passing(ModelUnavailable(f"{name} cannot be reached: {said(error)}", hint="is the server running?"))
        case ai.ModelAPIError():
            return _translate_status(error, name)
        case ai.UnexpectedModelBehavior():
            return ModelMalformed(
                f"{name} did not answer with a chat completion",
                hint="check that the base URL is the one of an OpenAI-compatible API (it often ends in /v1)",
            )
        case _:
            return ModelError(f"{name} failed: {said(error)}")


def _translate_status(error: Exception, name: str) -> ModelError:
    from pydantic_ai import exceptions as ai

    match error:
        case ai.ModelAuthenticationError():
            return ModelUnavailable(f"{name} refused the key: {said(error)}", hint="check the provider's API key")
        case ai.ModelNotFoundError():
            near = getattr(error, "suggested_model_id", None)
            hint = f"did you mean {near}?" if near else "check the model's name and the base URL"
            return ModelUnavailable(f"{name} is not there: {said(error)}", hint=hint)
        case ai.ModelContextWindowExceededError():
            return ModelError(f"the prompt is too long for {name}", hint="use a model with a larger context")
        case ai.ModelQuotaExceededError():
            return ModelUnavailable(f"the account's quota for {name} is used up: {said(error)}")
        case ai.ModelUnavailableError() | ai.ModelServerError():
            waited = error.retry_after
            if waited is not None:
                return ModelRateLimited(f"{name} is overloaded: {said(error)}", retry_after_s=waited)
            return _passing(ModelUnavailable(f"{name} failed on its side: {said(error)}"))
        case _:
            return ModelError(f"{name} turned the request down: {said(error)}")


def _passing(error: ModelError) -> ModelError:
    """Mark a failure that may be gone at the next try."""
    error.retryable = True
    return error


def said(error: Exception) -> str:
    """Return the provider's own words as one short line without keys."""
    body = getattr(error, "body", None)
    text = _message_in(body) or getattr(error, "message", None) or str(error) or type(error).__name__
    line = " ".join(str(text).split())
    return re.sub(r"\b(?:sk|gsk|xai|key|AIza)[-_]?[\w*-]{8,}", "***", line)[:MESSAGE_CHARS]


def _message_in(body: object) -> str | None:
    """Find the sentence in the error bodies that providers send: `message`, or `error.message`, or `error`."""
    while isinstance(body, dict):
        body = body.get("message") or body.get("error") or body.get("detail")  # pyright: ignore
    return body if isinstance(body, str) else None
