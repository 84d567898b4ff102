"""What a provider's failure means: the one place where its library's exceptions become ours."""

from __future__ import annotations

import re
from http import HTTPStatus

from groundql.core.budget import Usage
from groundql.core.chat import Finish, ModelReply
from groundql.errors import (
    ModelError,
    ModelRateLimited,
    ModelTimeout,
    ModelUnavailable,
    ModelUnreadable,
)

MESSAGE_CHARS = 300
REDIRECTS = range(300, 400)
SLOW = "ask again later, use a faster model, or allow more time: the setting model_timeout_s (GROUNDQL_MODEL_TIMEOUT_S)"
LATER = "try again later, or use another model"


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
            hint = "wait a little and ask again; the provider limits how much may be asked at a time"
            return ModelRateLimited(f"{name} asks to wait: {said(error)}", retry_after_s=error.retry_after, hint=hint)
        case ai.ModelTimeoutError() | ai.ModelRequestTimeout() | TimeoutError():
            return ModelTimeout(f"{name} gave no reply in time", hint=SLOW)
        case ai.ModelConnectionError():
            hint = "check that the server runs, and the base URL and the network"
            return _passing(ModelUnavailable(f"{name} cannot be reached: {said(error)}", hint=hint))
        case ai.UnexpectedModelBehavior():
            return _unreadable(name)
        case ai.ModelAPIError() if type(error) is ai.ModelAPIError:
            return _without_category(error, name)
        case ai.ModelAPIError():
            return _translate_status(error, name)
        case _:
            return ModelError(f"{name} failed: {said(error)}", hint=LATER)


def _translate_status(error: Exception, name: str) -> ModelError:
    from pydantic_ai import exceptions as ai

    status = getattr(error, "status_code", 0)
    shown = f" ({status})" if status else ""
    match error:
        case ai.ModelAuthenticationError():
            hint = "check the API key, and that it may use this model"
            return ModelUnavailable(f"{name} refused the key: {said(error)}", hint=hint)
        case ai.ModelNotFoundError():
            near = getattr(error, "suggested_model_id", None)
            hint = f"did you mean {near}?" if near else "check the model's name and the base URL (it often ends in /v1)"
            return ModelUnavailable(f"{name} is not there: {said(error)}", hint=hint)
        case ai.ModelContextWindowExceededError():
            return ModelError(f"the prompt is too long for {name}", hint="use a model with a larger context")
        case ai.ModelQuotaExceededError():
            hint = "check the account's plan and billing, or use another model"
            return ModelUnavailable(f"the account's quota for {name} is used up: {said(error)}", hint=hint)
        case ai.ModelUnavailableError() | ai.ModelServerError():
            waited = error.retry_after
            if waited is not None:
                return ModelRateLimited(f"{name} is overloaded: {said(error)}", retry_after_s=waited, hint=LATER)
            return _passing(ModelUnavailable(f"{name} failed on its side{shown}: {said(error)}", hint=LATER))
        case _ if status == HTTPStatus.REQUEST_TIMEOUT:
            return ModelTimeout(f"{name} gave no reply in time", hint=SLOW)
        case _:
            hint = "check the model's name, and what the server says about it; another model may do"
            return ModelError(f"{name} turned the request down{shown}: {said(error)}", hint=hint)


def _without_category(error: Exception, name: str) -> ModelError:
    """Tell what the library has no kind for: a body that it could not decode, a redirect, and the rest."""
    if isinstance(error.__cause__, ValueError) or getattr(error.__cause__, "status_code", 0) in REDIRECTS:
        return _unreadable(name)
    return ModelError(f"{name} failed: {said(error)}", hint=LATER)


def _unreadable(name: str) -> ModelUnreadable:
    provider = name.partition(":")[0]
    return ModelUnreadable(
        f"the reply of {name} cannot be read: it is no chat completion",
        hint=f"does the base URL speak the protocol of {provider}? OpenAI-compatible ones often end in /v1",
    )


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
