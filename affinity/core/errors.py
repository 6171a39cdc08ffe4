"""Everything a user can cause or repair, as one tree.

AffinityError(what, where=None, hint=None)
  SettingsError      a setting is out of range; names the field, the value and what is allowed
  DatasetError       shapes or labels do not fit, or an optional data package is absent
  RunError           RunNotFound | RunDamaged | RunTooNew | RunBusy
  ImportFailed       UnknownFormat | NeedsAnswer | Unreadable
  TrainingFailed     NonFiniteLoss | WorkerLost | Cancelled
  GroupingError      a grouping does not cover its tasks, or a budget cannot be met
  NotRecorded        a measure needs a quantity this run did not record
  NotEnoughData      fewer tasks or steps than the question needs

One class for each different reaction, not for each place. A bug stays an ordinary Python error.
"""


class AffinityError(Exception):
    """A problem a user can understand and repair.

    Args:
        what: what happened, with the value that was found.
        where: file, line or setting it happened in.
        hint: what to do about it.
    """

    def __init__(self, what: str, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(what, where, hint)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f" {self.hint}" if self.hint else ""
        return f"{place}{self.what}{advice}"


class SettingsError(AffinityError):
    """A setting is missing, unknown, of the wrong type or out of range."""


class DatasetError(AffinityError):
    """A dataset cannot be loaded, or its shapes or labels do not fit."""


class RunError(AffinityError):
    """A run folder cannot be used."""


class RunNotFound(RunError):
    """No run has this id, prefix or path."""


class RunDamaged(RunError):
    """A run folder is unreadable; what could be read is still offered."""


class RunTooNew(RunError):
    """A run was written by a newer version of the format."""


class RunBusy(RunError):
    """Another writer holds this run."""


class ImportFailed(AffinityError):
    """A foreign log could not be imported."""


class UnknownFormat(ImportFailed):
    """No importer recognises the file."""


class NeedsAnswer(ImportFailed):
    """The file can be read in several ways and the user has to choose.

    Args:
        question: the question, in plain words.
        choices: the answers that are possible.
    """

    def __init__(self, question: str, choices: tuple[str, ...], where: str | None = None) -> None:
        super().__init__(question, where, f"Choose one of: {', '.join(choices)}.")
        self.question = question
        self.choices = choices

    def __reduce__(self) -> tuple[type["NeedsAnswer"], tuple[str, tuple[str, ...], str | None]]:
        """Its own arguments, so that it travels between processes; the base class has three others."""
        return NeedsAnswer, (self.question, self.choices, self.where)


class Unreadable(ImportFailed):
    """A part of a file could not be read; names the file, the line and the reason."""


class TrainingFailed(AffinityError):
    """A training stopped before its end."""


class NonFiniteLoss(TrainingFailed):
    """Every task's loss became NaN or infinite; names the task and the step."""


class WorkerLost(TrainingFailed):
    """The worker process ended without saying why."""


class Cancelled(TrainingFailed):
    """The training was stopped on request; what was recorded is kept."""


class GroupingError(AffinityError):
    """A grouping is malformed, does not cover its tasks, or cannot meet its budget."""


class NotRecorded(AffinityError):
    """A measure needs a quantity that this run did not record."""


class NotEnoughData(AffinityError):
    """Fewer tasks or steps than the question needs."""
