// Checks of values that were JSON once, combined into the schema of records. A check describes the fault, to follow the
// name of the place: ` must be text, not null`, `.parts[2].text is missing`. It ignores unknown fields.

/** Returns undefined if nothing is wrong. */
export type Check = (value: unknown) => string | undefined

interface OptionalCheck {
  readonly optional: Check
}

export type FieldChecks = Readonly<Record<string, Check | OptionalCheck>>

export const checkText: Check = (value) => (typeof value === 'string' ? undefined : mustBe('text', value))
export const checkFlag: Check = (value) => (typeof value === 'boolean' ? undefined : mustBe('true or false', value))
/** Accepts any JSON value: it was parsed from JSON. */
export const checkJson: Check = (value) => (value === undefined ? ' is missing' : undefined)
export const checkObject: Check = (value) => (isObject(value) ? undefined : mustBe('an object', value))

/** A count, a position, a number of something. */
export const checkWhole: Check = (value) =>
  Number.isSafeInteger(value) ? undefined : mustBe('a safe whole number', value)

/** A size or an amount, which may be an estimate. */
export const checkAmount: Check = (value) =>
  typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? undefined : mustBe('a number', value)

/** Milliseconds: a duration, or a future time. */
export const checkMs: Check = (value) =>
  Number.isFinite(value) ? undefined : mustBe('a number of milliseconds', value)

/** Maximum milliseconds since 1970 of a date. */
export const DATE_MS_MAX = 8_640_000_000_000_000

export const checkDate: Check = (value) =>
  typeof value === 'number' && Math.abs(value) <= DATE_MS_MAX ? undefined : mustBe('milliseconds of a date', value)

export function optional(check: Check): OptionalCheck {
  return { optional: check }
}

export function checkNullOr(check: Check): Check {
  return (value) => (value === null ? undefined : check(value))
}

export function checkWord(...words: readonly (string | number | boolean)[]): Check {
  return (value) => (words.some((word) => word === value) ? undefined : mustBe(words.map(show).join(' or '), value))
}

export function checkList(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return mustBe('a list', value)
    for (const [index, item] of value.entries()) {
      const issue = check(item)
      if (issue !== undefined) return `[${index}]${issue}`
    }
    return undefined
  }
}

export function checkFields(checks: FieldChecks): Check {
  const fields = Object.entries(checks).map(([name, check]) =>
    'optional' in check ? { name, check: check.optional, isOptional: true } : { name, check, isOptional: false },
  )
  return (value) => {
    if (!isObject(value)) return mustBe('an object', value)
    for (const { name, check, isOptional } of fields) {
      const field = Object.hasOwn(value, name) ? value[name] : undefined
      if (field === undefined) {
        if (!isOptional) return `.${name} is missing`
        continue
      }
      const issue = check(field)
      if (issue !== undefined) return `.${name}${issue}`
    }
    return undefined
  }
}

/** An object of one of several forms, distinguished by its field `type`. */
export function checkVariant(variants: Readonly<Record<string, Check>>): Check {
  const words = Object.keys(variants).map(show).join(' or ')
  return (value) => {
    const type = isObject(value) && Object.hasOwn(value, 'type') ? value['type'] : undefined
    const check = typeof type === 'string' && Object.hasOwn(variants, type) ? variants[type] : undefined
    return check ? check(value) : `.type${mustBe(words, type)}`
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function mustBe(what: string, value: unknown): string {
  return ` must be ${what}, not ${show(value)}`
}

const SHOWN_CHARS = 40

function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, SHOWN_CHARS))
  return typeof value === 'object' && value !== null ? (Array.isArray(value) ? 'a list' : 'an object') : String(value)
}
