"""The paper's factorization baselines, behind one protocol."""

from swiftcore.baselines.cp_als import CpAls
from swiftcore.baselines.cp_apr import CpApr
from swiftcore.baselines.cp_binary import CpBinary
from swiftcore.baselines.cp_continuous import CpContinuous
from swiftcore.baselines.cp_nmu import CpNmu
from swiftcore.baselines.direct_wasserstein import DirectWasserstein
from swiftcore.baselines.similarity_cp import SimilarityCp
from swiftcore.baselines.supervised_cp import SupervisedCp

__all__ = [
    "CpAls",
    "CpApr",
    "CpBinary",
    "CpContinuous",
    "CpNmu",
    "DirectWasserstein",
    "SimilarityCp",
    "SupervisedCp",
]
