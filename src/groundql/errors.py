"""What a caller must handle. What a model can repair is a `Finding` instead.

GroundQLError
├── InputError              what the user typed or passed cannot be read
│   ├── SettingsError       a settings file or variable
│   ├── PathError           the text of a path
│   ├── ProgramSyntaxError  the text of a query
│   └── LoadError           a data file
├── DatabaseError
│   ├── DatabaseUnreachable   no server there, or it went away (retryable)
│   ├── DatabaseDenied        authentication or permission
│   ├── DatabaseTimeout       a limit on time was reached
│   ├── ProgramRejected       the engine refused the program
│   └── EmbeddedUnavailable   the embedded server cannot be started here
├── ProgramForbidden        the safety check refused the program
├── ModelError
│   ├── ModelUnavailable    no extra, no file, no server
│   │   └── ModelUnset        no such provider, no key: what was given cannot work
│   ├── ModelUnreadable     the endpoint does not speak its protocol
│   ├── ModelTimeout        no reply in time (retryable)
│   ├── ModelRateLimited    the provider asks to wait (retryable)
│   ├── ModelRefused        the model declined
│   ├── ModelCutOff         the reply ended by length
│   └── ModelMalformed      the reply never took the asked form
├── BudgetExhausted         calls, tokens or money spent
└── GroundingError          a grounding cannot be built or read
"""

from __future__ import annotations


class GroundQLError(Exception):
    """Carry one clear line, a stable code, and what to do next.

    `hint` is the next step for a person; empty when the message already says it.
    """

    code = "internal"
    retryable = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class InputError(GroundQLError):
    """Report input that cannot be read."""

    code = "bad_input"


class SettingsError(InputError):
    """Report a settings file or variable of the wrong form."""

    code = "bad_settings"


class PathError(InputError):
    """Report the text of a path that does not parse."""

    code = "bad_path"


class ProgramSyntaxError(InputError):
    """Report query text that does not parse, with the place.

    Units: `line` and `column` count from 1; 0 means unknown.
    """

    code = "bad_program"

    def __init__(self, message: str, *, line: int = 0, column: int = 0, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.line = line
        self.column = column


class LoadError(InputError):
    """Report a data file of the wrong form."""

    code = "bad_data"


class DatabaseError(GroundQLError):
    """Report what went wrong at or on the way to a database."""

    code = "database"


class DatabaseUnreachable(DatabaseError):
    """Report that no server answers."""

    code = "database_unreachable"
    retryable = True


class DatabaseDenied(DatabaseError):
    """Report failed authentication or a missing permission."""

    code = "database_denied"


class DatabaseTimeout(DatabaseError):
    """Report that the time limit of a program was reached."""

    code = "database_timeout"


class ProgramRejected(DatabaseError):
    """Report that the engine refused the program; the message is the engine's."""

    code = "program_rejected"

    def __init__(self, message: str, *, engine_code: int | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.engine_code = engine_code


class EmbeddedUnavailable(DatabaseError):
    """Report that the embedded document server cannot be started here."""

    code = "embedded_unavailable"


class ProgramForbidden(GroundQLError):
    """Report a program that the safety check refuses to run."""

    code = "program_forbidden"


class ModelError(GroundQLError):
    """Report what went wrong at or on the way to a model."""

    code = "model"


class ModelUnavailable(ModelError):
    """Report a model that cannot be reached at all: no extra, file or server."""

    code = "model_unavailable"


class ModelUnset(ModelUnavailable):
    """Report a model that cannot be used as it is named and configured: no such provider, no key."""

    code = "model_unset"


class ModelUnreadable(ModelError):
    """Report an endpoint that answered, but not in the protocol it is spoken to in."""

    code = "model_unreadable"


class ModelFileError(ModelError):
    """Report a local model's file that cannot be fetched or is damaged."""

    code = "model_file"


class ModelTimeout(ModelError):
    """Report that no reply came in time."""

    code = "model_timeout"
    retryable = True


class ModelRateLimited(ModelError):
    """Report that the provider asks to wait.

    Units: `retry_after_s` in seconds; None when the provider did not say.
    """

    code = "model_rate_limited"
    retryable = True

    def __init__(self, message: str, *, retry_after_s: float | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s


class ModelRefused(ModelError):
    """Report that the model declined to answer."""

    code = "model_refused"


class ModelCutOff(ModelError):
    """Report a reply that ended by length."""

    code = "model_cut_off"


class ModelMalformed(ModelError):
    """Report a reply that did not take the asked form, repair turns included."""

    code = "model_malformed"


class BudgetExhausted(GroundQLError):
    """Report that the budget for calls, tokens or money is spent."""

    code = "budget_exhausted"


class GroundingError(GroundQLError):
    """Report a grounding that cannot be built or read."""

    code = "grounding"
