"""View objects: what the services answer and what figures, pages and exports show."""

from affinity.analysis.views.affinity import (
    AffinityView,
    Overview,
    PairCurve,
    PairRow,
    RankAgreement,
    RankAgreementRow,
    SignalChoice,
    Verdict,
)
from affinity.analysis.views.compare import (
    ArmCost,
    CompareView,
    DeltaM,
    PredictionCheck,
    RunsComparison,
    SettingDifference,
    TaskGain,
)
from affinity.analysis.views.conflicts import (
    ConflictsView,
    HurtTask,
    LayerConflict,
    MethodHurt,
    MethodsHurt,
    PairConflict,
)
from affinity.analysis.views.groups import BudgetPoint, GroupsView, PredictedGain

__all__ = [
    "AffinityView",
    "ArmCost",
    "BudgetPoint",
    "CompareView",
    "ConflictsView",
    "DeltaM",
    "GroupsView",
    "HurtTask",
    "LayerConflict",
    "MethodHurt",
    "MethodsHurt",
    "Overview",
    "PairConflict",
    "PairCurve",
    "PairRow",
    "PredictedGain",
    "PredictionCheck",
    "RankAgreement",
    "RankAgreementRow",
    "RunsComparison",
    "SettingDifference",
    "SignalChoice",
    "TaskGain",
    "Verdict",
]
