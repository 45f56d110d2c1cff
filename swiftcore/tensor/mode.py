"""One axis of a tensor: its name and the labels of its indices."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mode:
    """One axis of a tensor: what it holds and what each index is called."""

    name: str
    labels: tuple[str, ...]

    def __post_init__(self) -> None:
        """Labels are text, whatever list or array they came in."""
        object.__setattr__(self, "labels", tuple(str(label) for label in self.labels))

    @classmethod
    def numbered(cls, name: str, size: int) -> Mode:
        """A mode whose indices have no names of their own."""
        return cls(name, tuple(str(index) for index in range(size)))

    def __len__(self) -> int:
        return len(self.labels)
