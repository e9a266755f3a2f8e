"""The simulated calculator (section 2 of the specification of the classes). It has no state."""

import math
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from typing import Any

from wildtool.benchmarks.bfcl.simulated.base import ApiState, SimulatedApi, failed
from wildtool.toolcall.refusals import refuse_if

MAX_PRECISION = 1_000
"""Most decimal digits of a root or logarithm; the original has no limit and would not end."""
MAX_POWER_BITS = 100_000
"""Most bits of a whole number that a power gives."""
_BITS_PER_DIGIT = 3.3219280948873626


@dataclass(frozen=True, slots=True, eq=False)
class BinaryFloat:
    """A binary floating point number of a chosen precision, printed as mpmath prints its numbers."""

    value: Fraction
    digits: int
    """Decimal digits to print at most."""

    def __repr__(self) -> str:
        return f"mpf('{_shown(self.value, self.digits)}')"


class MathAPI(SimulatedApi):
    """Arithmetic, statistics of lists, and units."""

    NAME = "MathAPI"
    DOCUMENTS = "math_api"

    def logarithm(self, value: Any, base: Any, precision: Any) -> ApiState:
        is_bad = not _are_numbers(value, base, precision) or value <= 0 or base <= 0 or base == 1
        refuse_if(is_bad, "expected a positive value, and a positive base other than 1")
        _check_precision(precision)
        bits = max(1, round((int(precision) + 1) * _BITS_PER_DIGIT))
        quotient = _rounded(_logarithm(value, bits) / _logarithm(base, bits), bits)
        digits = max(1, round(bits / _BITS_PER_DIGIT) - 1)
        return {"result": BinaryFloat(quotient, 17 if digits == 15 else digits + 3)}

    def square_root(self, number: Any, precision: Any) -> ApiState:
        refuse_if(not _are_numbers(number, precision) or number < 0, "expected a number that is not negative")
        _check_precision(precision)
        with localcontext() as context:
            context.prec = precision
            return {"result": Decimal(number).sqrt()}

    def add(self, a: Any, b: Any) -> ApiState:
        return {"result": a + b}  # texts and lists too

    def subtract(self, a: Any, b: Any) -> ApiState:
        return {"result": a - b} if _are_numbers(a, b) else failed("expected numbers")

    def multiply(self, a: Any, b: Any) -> ApiState:
        return {"result": a * b} if _are_numbers(a, b) else failed("expected numbers")

    def divide(self, a: Any, b: Any) -> ApiState:
        refuse_if(not _are_numbers(a, b), "expected numbers")
        return {"result": a / b} if b != 0 else failed("cannot divide by zero")

    def power(self, base: Any, exponent: Any) -> ApiState:
        refuse_if(not _are_numbers(base, exponent), "expected numbers")
        are_whole = isinstance(base, int) and isinstance(exponent, int)
        refuse_if(are_whole and base.bit_length() * exponent > MAX_POWER_BITS, "the result is too large")
        return {"result": base**exponent}

    def absolute_value(self, number: Any) -> ApiState:
        return {"result": abs(number)} if _are_numbers(number) else failed("expected a number")

    def round_number(self, number: Any, decimal_places: Any = 0) -> ApiState:
        refuse_if(not _are_numbers(number, decimal_places), "expected numbers")
        if decimal_places < -MAX_PRECISION:
            return {"result": type(number)(0)}
        return {"result": round(number, decimal_places)}

    def percentage(self, part: Any, whole: Any) -> ApiState:
        refuse_if(not _are_numbers(part, whole), "expected numbers")
        return {"result": part / whole * 100} if whole != 0 else failed("the whole must not be zero")

    def mean(self, numbers: Any) -> ApiState:
        return {"result": _mean(numbers)} if numbers else failed("the list is empty")

    def standard_deviation(self, numbers: Any) -> ApiState:
        refuse_if(not numbers, "the list is empty")
        mean = _mean(numbers)
        return {"result": math.sqrt(sum((number - mean) ** 2 for number in numbers) / len(numbers))}

    def min_value(self, numbers: Any) -> ApiState:
        return {"result": min(numbers)} if numbers else failed("the list is empty")

    def max_value(self, numbers: Any) -> ApiState:
        return {"result": max(numbers)} if numbers else failed("the list is empty")

    def sum_values(self, numbers: Any) -> ApiState:
        return {"result": sum(numbers)} if numbers else failed("the list is empty")

    def si_unit_conversion(self, value: Any, unit_in: Any, unit_out: Any) -> ApiState:
        to_meters = self._lookups["si_unit_conversion.to_meters"]
        refuse_if(not _are_numbers(value), "expected a number")
        are_known = unit_in in to_meters and unit_out in to_meters
        refuse_if(not are_known, f"expected units of {', '.join(to_meters)}")
        return {"result": value * to_meters[unit_in] * (1 / to_meters[unit_out])}

    def imperial_si_conversion(self, value: Any, unit_in: Any, unit_out: Any) -> ApiState:
        factors = self._lookups["imperial_si_conversion.conversion"]
        refuse_if(not _are_numbers(value), "expected a number")
        if unit_in == unit_out:
            return {"result": value}
        match unit_in, unit_out:
            case "celsius", "fahrenheit":
                return {"result": value * factors["celsius_to_fahrenheit"] + 32}
            case "fahrenheit", "celsius":
                return {"result": (value - 32) * factors["fahrenheit_to_celsius"]}
            case _:
                key = f"{unit_in}_to_{unit_out}"
                return {"result": value * factors[key]} if key in factors else failed(f"{key}: not known")


def _are_numbers(*values: Any) -> bool:
    return all(isinstance(value, int | float) for value in values)


def _check_precision(precision: Any) -> None:
    refuse_if(not 1 <= precision <= MAX_PRECISION, f"expected a precision from 1 to {MAX_PRECISION} digits")


def _mean(numbers: Any) -> Any:
    return sum(numbers) / len(numbers)


def _logarithm(value: float, bits: int) -> Fraction:
    """The natural logarithm, rounded to a number of bits."""
    with localcontext() as context:
        context.prec = int(bits / _BITS_PER_DIGIT) + 30
        return _rounded(Fraction(Decimal(value).ln()), bits)


def _rounded(value: Fraction, bits: int) -> Fraction:
    """The nearest binary floating point number, ties to even."""
    if not value:
        return value
    exponent = abs(value.numerator).bit_length() - value.denominator.bit_length() - bits
    scaled = value / Fraction(2) ** exponent
    if abs(scaled) >= 2**bits:  # the quotient has one bit more or the same number
        exponent += 1
        scaled /= 2
    elif abs(scaled) < 2 ** (bits - 1):
        exponent -= 1
        scaled *= 2
    return Fraction(round(scaled)) * Fraction(2) ** exponent


def _shown(value: Fraction, digits: int) -> str:
    """Decimal text: fixed point for middling exponents, without zeros at the end but at least one decimal."""
    if not value:
        return "0.0"
    with localcontext() as context:
        context.prec = digits
        context.rounding = ROUND_HALF_UP
        number = Decimal(value.numerator) / Decimal(value.denominator)
    exponent = number.adjusted()
    sign, figures, _ = number.as_tuple()
    text = "".join(map(str, figures)).rstrip("0")
    minus = "-" if sign else ""
    if min(-(digits // 3), -5) < exponent < digits:
        if exponent < 0:
            return f"{minus}0.{'0' * (-exponent - 1)}{text}"
        whole = text[: exponent + 1].ljust(exponent + 1, "0")
        return f"{minus}{whole}.{text[exponent + 1 :] or '0'}"
    return f"{minus}{text[0]}.{text[1:] or '0'}e{exponent:+d}"
