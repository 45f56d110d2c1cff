"""Names for the modes of a tensor file, and which of them are the rows."""

from __future__ import annotations

from swiftcore.data.options import BuildOptions
from swiftcore.errors import InvalidSettings, refuse
from swiftcore.tensor import Mode, SparseTensor


def with_modes(
    tensor: SparseTensor, options: BuildOptions, *, has_outcome: bool = False
) -> SparseTensor:
    """The tensor with the modes named and ordered as asked, its rows first.

    Raises
    ------
    InvalidSettings
        When there are not as many names as modes, or no such mode; when the outcome of the file
        belongs to other rows.
    """
    if not (options.mode_names or options.row_mode > 1):
        return tensor
    size = len(tensor.modes)
    names = options.mode_names or tuple(mode.name for mode in tensor.modes)
    wrong = len(names) != size or len(set(names)) != size
    if wrong or options.row_mode > size or (has_outcome and options.row_mode > 1):
        raise refuse(
            "modes-named",
            "The modes cannot be named or ordered so",
            "options mode_names and row_mode",
            f"{len(names)} names, rows from mode {options.row_mode}, for {size} modes"
            + (" and an outcome of mode 1" if has_outcome else ""),
            "Give every mode its own name, and a row mode that is there.",
            kind=InvalidSettings,
        )
    first = options.row_mode - 1
    order = [first, *(axis for axis in range(size) if axis != first)]
    modes = [Mode(names[axis], tensor.modes[axis].labels) for axis in order]
    return SparseTensor.from_coordinates(tensor.coordinates[:, order], tensor.values, modes=modes)
