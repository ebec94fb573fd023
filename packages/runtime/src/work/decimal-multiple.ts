// Multiples of decimals: 19.99 is a multiple of 0.01, although their quotient in binary fractions is not an integer.

/** Digits of a decimal that a binary fraction preserves: 0.1 + 0.2 is 0.30000000000000004, meaning 0.3. */
const DIGITS = 15

/** Compares both numbers as the decimals they are written as. */
export function isMultipleOf(value: number, divisor: number): boolean {
  if (!Number.isFinite(value)) return false
  return divides(value, divisor) || (!Number.isInteger(value) && divides(Number(value.toPrecision(DIGITS)), divisor))
}

function divides(value: number, divisor: number): boolean {
  const [one, other] = [readDecimal(value), readDecimal(divisor)]
  if (other.digits === 0n) return false
  const exponent = Math.min(one.exponent, other.exponent)
  const scaled = ({ digits, exponent: own }: Decimal): bigint => digits * 10n ** BigInt(own - exponent)
  return scaled(one) % scaled(other) === 0n
}

/** `digits` × 10 to the power of `exponent`. */
interface Decimal {
  readonly digits: bigint
  readonly exponent: number
}

function readDecimal(value: number): Decimal {
  const [mantissa = '0', power = '0'] = String(value).split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length }
}
