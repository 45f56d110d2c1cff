"""Logarithm and exponential that the compiler can run on whole vectors.

The library routines are scalar calls inside compiled loops; these are short polynomials,
so that a loop over a column becomes vector instructions. Both are exact to about two
units in the last place over the ranges stated; ``tests`` measure that against NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from math import factorial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

# Zero divided by zero must give NaN, not an exception: a check in the loop would keep it
# from being vectorised. NaN and infinity keep their meaning ("nnan", "ninf" are absent).
COMPILED: dict[str, Any] = {
    "nogil": True,
    "cache": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
}

# For what other compiled functions call. Left to itself the compiler keeps two copies of a large
# one, its own and that of its caller, rounded differently; which of them runs would depend on
# whether the loops were compiled in this process or came from the cache.
INLINED: dict[str, Any] = COMPILED | {"forceinline": True}

# Inside the two functions the order of operations is the point: no "reassoc".
_ORDERED: dict[str, Any] = COMPILED | {"fastmath": {"contract", "arcp", "nsz"}}

_LN2 = Decimal("0.693147180559945309417232121458176568")


def _split_ln2(bits: int) -> tuple[float, float]:
    """ln 2 as a head of few bits (exact when multiplied by an exponent) and a tail."""
    head = Decimal(int(_LN2 * 2**bits)) / Decimal(2**bits)
    return float(head), float(_LN2 - head)


@intrinsic
def _bits_of(context: Any, number: Any) -> Any:
    """The bit pattern of a float as an integer of the same width."""
    result = {types.float32: types.int32, types.float64: types.int64}[number]

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(signature.return_type))

    return result(number), generate


@intrinsic
def _float_of(context: Any, bits: Any) -> Any:
    """The float with the given bit pattern."""
    result = {types.int32: types.float32, types.int64: types.float64}[bits]

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(signature.return_type))

    return result(bits), generate


def _make_log(real: type, whole: type, mantissa: int, terms: int) -> Callable[..., Any]:
    """log x = e ln 2 + 2 atanh((m - 1) / (m + 1)), m in [sqrt 1/2, sqrt 2): odd series."""
    half_root = int(np.sqrt(real(0.5)).view(whole))
    shift, low = whole(mantissa), whole(half_root)
    head, tail = (real(part) for part in _split_ln2(9 if real is np.float32 else 32))
    series = tuple(real(1 / (2 * k + 1)) for k in range(terms))
    one, two = real(1), real(2)

    @njit(**_ORDERED)
    def log(x: Any) -> Any:
        bits = _bits_of(x)
        exponent = whole(whole(bits - low) >> shift)
        reduced = _float_of(whole(bits - whole(exponent << shift)))
        s = (reduced - one) / (reduced + one)
        z = s * s
        total = series[terms - 1]
        for k in range(terms - 2, 0, -1):
            total = total * z + series[k]
        scale = real(np.int32(exponent))  # 32 bits: the only vector conversion of AVX2
        return scale * head + (scale * tail + two * (s * (z * total) + s))

    return log


def _make_exp(real: type, whole: type, mantissa: int, terms: int) -> Callable[..., Any]:
    """exp x = 2^n exp r with |r| <= ln 2 / 2: Taylor series; x is held to the finite range."""
    bias = whole(2 ** (np.finfo(real).bits - mantissa - 2) - 1)
    shift = whole(mantissa)
    head, tail = (real(part) for part in _split_ln2(9 if real is np.float32 else 32))
    series = tuple(real(1 / factorial(k)) for k in range(terms))
    lowest, highest = (real(-87.0), real(88.0)) if real is np.float32 else (-708.0, 709.0)
    per_ln2, half, zero = real(1 / float(_LN2)), real(0.5), real(0)

    @njit(**_ORDERED)
    def exp(x: Any) -> Any:
        x = x if x > lowest else lowest
        x = x if x < highest else highest
        scaled = x * per_ln2
        n = np.int32(scaled + (half if scaled > zero else -half))
        r = (x - real(n) * head) - real(n) * tail
        total = series[terms - 1]
        for k in range(terms - 2, -1, -1):
            total = total * r + series[k]
        return total * _float_of(whole(whole(whole(n) + bias) << shift))

    return exp


_log32 = _make_log(np.float32, np.int32, 23, 6)
_log64 = _make_log(np.float64, np.int64, 52, 12)
_exp32 = _make_exp(np.float32, np.int32, 23, 8)
_exp64 = _make_exp(np.float64, np.int64, 52, 14)


def log(x: float) -> float:
    """Natural logarithm of a positive normal number, inside compiled code."""
    return float(np.log(x))


def exp(x: float) -> float:
    """Exponential, held at the ends of the type's finite range, inside compiled code."""
    return float(np.exp(x))


@overload(log, strict=False)
def _compiled_log(x: Any) -> Any:
    chosen = _log32 if x == types.float32 else _log64
    return lambda x: chosen(x)


@overload(exp, strict=False)
def _compiled_exp(x: Any) -> Any:
    chosen = _exp32 if x == types.float32 else _exp64
    return lambda x: chosen(x)
