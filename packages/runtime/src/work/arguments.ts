// Validates a call's arguments against its tool's schema, with messages that a model can act on. Ajv is loaded when it is
// first needed, because importing it is a tenth of a start.
import type { Agent, JsonObject, JsonValue, Schema, SchemaIssue, StandardSchema, Tool } from '@baton/core/internal'
import {
  BatonError,
  countJoints,
  createLinearPattern,
  findUnbounded,
  isStandardSchema,
  JOINTS_MAX,
  JSON_DEPTH_MAX,
  outlineSchema,
  parseJson,
  readSchema,
  stringifySorted,
  toJsonSchema,
  withoutForcedNulls,
} from '@baton/core/internal'
import type * as AjvExports from 'ajv/dist/2020.js'
import type { Ajv2020, ErrorObject, KeywordCxt, ValidateFunction } from 'ajv/dist/2020.js'
import { describeThrown } from '../describe-thrown.ts'
import { withChoicesAsEnums } from './constant-choices.ts'

export type Validated = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly issues: string }

/** The schema that validates a text, and the subject of its error messages. */
export interface ValidatedShape extends Pick<Tool, 'input'> {
  /** Start of the message about text that is not JSON: `the answer is`. */
  readonly subject?: 'the arguments are' | 'the answer is' | 'the result is' | 'the data is'
}

export interface ArgumentValidator {
  /** Loads the validator of plain JSON Schema, so that `validate` need not. @throws BatonError `internal` */
  load(): Promise<void>
  /**
   * Synchronous for plain JSON Schema after `load`; a library's schema may take longer, or throw.
   * @throws BatonError `internal` as a rejection, if the validator is not loaded and cannot be
   */
  validate(shape: ValidatedShape, argumentsText: string): Validated | Promise<Validated>
}

/**
 * Maximum characters of an issue description: enough to fix the arguments, even if each of a thousand items is wrong.
 */
const ISSUES_CHARS = 2000

/** Up to this length, the error lists all issues; for longer arguments, only the first. */
const ALL_ISSUES_CHARS = 16 * 1024
/**
 * Step budget of one check: a fixed number plus some per character. Mutually recursive references double with each
 * level.
 */
const STEPS = 100_000
const STEPS_PER_CHAR = 16
/** Characters of a value that are looked up in one step. */
const CHARS_PER_STEP = 64
/** Keywords that multiply work: each costs a step per entry. */
const COUNTED =
  '$ref $dynamicRef anyOf oneOf allOf not if properties patternProperties required dependentSchemas dependentRequired'

/** Steps left for the running check. */
interface Budget {
  left: number
  readonly spend: (steps: number) => void
}

class TooManySteps extends Error {}

function createBudget(): Budget {
  const budget: Budget = {
    left: STEPS,
    spend: (steps) => {
      budget.left -= steps
      if (budget.left < 0) throw new TooManySteps()
    },
  }
  return budget
}

type AjvModule = Pick<typeof AjvExports, 'Ajv2020' | '_'>

function createAjv({ Ajv2020: Ajv, _ }: AjvModule, budget: Budget, allErrors: boolean): Ajv2020 {
  // Unbounded patterns were reported when the schema was read, and are not checked.
  const createPattern = (pattern: string): Pick<RegExp, 'test'> =>
    findUnbounded(pattern) === undefined ? createLinearPattern(pattern, budget.spend) : { test: () => true }
  const regExp = Object.assign(createPattern, { code: '' })
  const ajv = new Ajv({
    strict: false,
    allErrors,
    logger: false,
    validateFormats: false,
    validateSchema: false,
    code: { regExp },
  })
  replaceKeyword(ajv, 'multipleOf', 'number', {
    prepare: (divisor: number) => divisor,
    fits: (divisor, value: number) => isMultipleOf(value, divisor),
    words: (divisor) => `must be multiple of ${divisor}`,
  })
  // Ajv compares every pair of items.
  replaceKeyword(ajv, 'uniqueItems', 'array', {
    prepare: (isWanted: boolean) => isWanted,
    fits: (isWanted, items: readonly unknown[]) =>
      !isWanted || new Set(items.map(stringifySorted)).size === items.length,
    words: () => 'must NOT have duplicate items',
  })
  // Ajv compares with one value after another.
  replaceKeyword(ajv, 'enum', undefined, {
    prepare: (values: readonly JsonValue[]) => new Set(values.map(stringifySorted)),
    fits: (texts, value: JsonValue) => {
      const text = stringifySorted(value)
      budget.spend(Math.ceil(text.length / CHARS_PER_STEP))
      return texts.has(text)
    },
    words: () => 'must be equal to one of the allowed values',
    params: (values) => ({ allowedValues: values }),
  })
  for (const keyword of COUNTED.split(' ')) {
    const rule = ajv.RULES.all[keyword]
    if (typeof rule !== 'object' || !('code' in rule.definition)) continue
    const { definition } = rule
    const { code } = definition
    // This validator owns its copy of the definition.
    Object.assign(definition, {
      code: (context: KeywordCxt, type?: string) => {
        const given: unknown = context.schema
        const steps = typeof given === 'object' && given !== null ? Object.keys(given).length : 1
        const spend = context.gen.scopeValue('func', { ref: budget.spend })
        context.gen.code(_`${spend}(${Math.max(1, steps)})`)
        code(context, type)
      },
    })
  }
  return ajv
}

interface Keyword<Said, Prepared, Value> {
  /** Called once for each schema. */
  readonly prepare: (said: Said) => Prepared
  readonly fits: (prepared: Prepared, value: Value) => boolean
  readonly words: (said: Said) => string
  readonly params?: (said: Said) => object
}

/** @param type of the values that the keyword is for; `undefined` for all */
function replaceKeyword<Said, Prepared, Value>(
  ajv: Ajv2020,
  keyword: string,
  type: 'number' | 'array' | undefined,
  { prepare, fits, words, params }: Keyword<Said, Prepared, Value>,
): void {
  ajv.removeKeyword(keyword)
  ajv.addKeyword({
    keyword,
    ...(type && { type }),
    compile: (said: Said) => {
      const prepared = prepare(said)
      const check: { (value: Value): boolean; errors?: Partial<ErrorObject>[] } = (value) => {
        if (fits(prepared, value)) return true
        check.errors = [{ keyword, message: words(said), params: params?.(said) ?? {} }]
        return false
      }
      return check
    },
  })
}

interface Compiled {
  /** Translated to draft 2020-12. */
  readonly schema: JsonObject
  readonly check: ValidateFunction
}

/** Whether the agent's tools or output need the validator of plain JSON Schema. */
export function hasPlainSchema({ tools, output }: Pick<Agent, 'tools' | 'output'>): boolean {
  if (output && !isStandardSchema(output)) return true
  for (const { input, output } of tools)
    if (!isStandardSchema(input) || (output && !isStandardSchema(output))) return true
  return false
}

/** Compiles JSON Schemas and caches them while their schema object lives. Each is read in its own dialect. */
export function createArgumentValidator(): ArgumentValidator {
  const budget = createBudget()
  let loaded: { readonly module: AjvModule; readonly ajv: Ajv2020 } | undefined
  const load = async () => {
    const module: AjvModule = await import('ajv/dist/2020.js').catch((cause: unknown) => {
      throw new BatonError({
        code: 'internal',
        message: `the package ajv, which validates arguments, could not be loaded: ${describeThrown(cause)}`,
        hint: 'Try again; if it fails again, install the packages of your program again.',
        cause,
      })
    })
    return (loaded ??= { module, ajv: createAjv(module, budget, true) })
  }
  const compiled = new WeakMap<object, Compiled>()
  // Created for the first long arguments.
  let quickAjv: Ajv2020 | undefined
  const quickCompiled = new WeakMap<object, ValidateFunction>()
  const findQuickCheck = ({ schema, check: usual }: Compiled, module: AjvModule): ValidateFunction => {
    const known = quickCompiled.get(schema)
    if (known) return known
    let check = usual
    try {
      check = compileOnce((quickAjv ??= createAjv(module, budget, false)), schema)
    } catch {
      // Without `allErrors` Ajv nests checks instead of chaining them, and thousands of properties are too deep.
    }
    quickCompiled.set(schema, check)
    return check
  }
  const validate: ArgumentValidator['validate'] = (shape, argumentsText) => {
    const { input: schema, subject = 'the arguments are' } = shape
    const parsed = parseJson(argumentsText)
    if (!parsed.ok) {
      const issues = parsed.tooDeep ? `${subject} deeper than ${JSON_DEPTH_MAX} levels` : `${subject} not JSON`
      return { ok: false, issues }
    }
    const { value } = parsed
    if (PROTO.test(argumentsText) && holdsProto(value))
      return { ok: false, issues: 'the arguments may not have a property "__proto__"' }
    const known = compiled.get(schema)
    if (!known && canValidate(schema)) return validateStandard(schema, value)
    if (!loaded) return load().then(() => validate(shape, argumentsText))
    const usual = known ?? compileSchema(loaded.ajv, toJsonSchema(schema))
    if (!known) compiled.set(schema, usual)
    const check = argumentsText.length > ALL_ISSUES_CHARS ? findQuickCheck(usual, loaded.module) : usual.check
    budget.left = STEPS + argumentsText.length * STEPS_PER_CHAR
    try {
      if (check(value)) return { ok: true, value }
      const complaints = check.errors ?? []
      const meant = withoutForcedNulls(usual.schema, value)
      if (check(meant)) return { ok: true, value: meant }
      return { ok: false, issues: joinIssues(complaints.map(describeError)) }
    } catch (thrown) {
      if (thrown instanceof TooManySteps) return { ok: false, issues: TOO_MANY_STEPS }
      throw thrown
    }
  }
  return { load: async () => void (loaded ?? (await load())), validate }
}

const TOO_MANY_STEPS =
  'the arguments take too many steps to check against their schema: its references or its patterns multiply; give shorter arguments'

/** Never throws: a schema that cannot be compiled in full is checked in outline, as reported when it was read. */
function compileSchema(ajv: Ajv2020, given: JsonObject): Compiled {
  const schema = withChoicesAsEnums(readSchema(given).schema)
  const outline = (): Compiled => {
    const outlined = outlineSchema(schema)
    return { schema: outlined, check: compileOnce(ajv, outlined) }
  }
  if (countJoints(schema) > JOINTS_MAX) return outline()
  try {
    return { schema, check: compileOnce(ajv, schema) }
  } catch {
    return outline()
  }
}

function compileOnce(ajv: Ajv2020, schema: JsonObject): ValidateFunction {
  try {
    return ajv.compile(schema)
  } finally {
    ajv.removeSchema(schema) // else it is kept forever
  }
}

/** Finds the name even if its letters are escaped. */
const PROTO = /__proto__|\\u00/

/** Whether it has a property `__proto__`, which would change the prototype of a copy. */
function holdsProto(value: JsonValue): boolean {
  const open: JsonValue[] = [value]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue
    if (Object.hasOwn(next, '__proto__')) return true
    for (const one of Object.values(next) as JsonValue[]) open.push(one)
  }
  return false
}

/** Standard JSON Schema does not ask for a validator: Effect 4's only describes itself. */
function canValidate(schema: Schema): schema is StandardSchema {
  return (
    isStandardSchema(schema) && typeof (schema['~standard'] as { readonly validate?: unknown }).validate === 'function'
  )
}

async function validateStandard(schema: StandardSchema, value: JsonValue): Promise<Validated> {
  const result = await schema['~standard'].validate(value)
  if (!result.issues) return { ok: true, value: result.value }
  const meant = await schema['~standard'].validate(withoutForcedNulls(toJsonSchema(schema), value))
  if (!meant.issues) return { ok: true, value: meant.value }
  return { ok: false, issues: joinIssues(result.issues.map(describeIssue)) }
}

function joinIssues(issues: readonly string[]): string {
  const text = issues.join('; ')
  return text.length <= ISSUES_CHARS ? text : `${text.slice(0, ISSUES_CHARS)}… (${issues.length} issues)`
}

/** Adds the unknown property or the allowed values, which Ajv's own messages omit. */
function describeError({ instancePath, message, keyword, params }: ErrorObject): string {
  const said = `${instancePath || 'the value'} ${message ?? 'is wrong'}`
  const { additionalProperty, allowedValues } = params as Readonly<Record<string, unknown>>
  if (keyword === 'additionalProperties') return `${said}: ${JSON.stringify(additionalProperty)}`
  return keyword === 'enum' ? `${said}: ${JSON.stringify(allowedValues)}` : said
}

function describeIssue(issue: SchemaIssue): string {
  const path = (issue.path ?? []).map((step) => String(typeof step === 'object' ? step.key : step)).join('.')
  return path === '' ? issue.message : `${path}: ${issue.message}`
}

/** Calls of one session that may wait to run: more than a turn has. */
const KEPT_MAX = 256

/**
 * Keeps validated arguments from the proposal of a call until it runs, so that they are validated once. Missing ones,
 * for example after a restart, are validated again.
 */
export class ValidatedArguments {
  /** Created at the first call: most open sessions are idle. */
  #kept: Map<string, unknown[]> | undefined
  #count = 0

  keep(name: string, argumentsText: string, value: unknown): void {
    if (this.#count >= KEPT_MAX) this.#forgetOldest()
    const key = `${name} ${argumentsText}`
    this.#kept ??= new Map()
    const values = this.#kept.get(key)
    if (values) values.push(value)
    else this.#kept.set(key, [value])
    this.#count += 1
  }

  /** Returns each value only once: two equal calls never share an object. */
  take(name: string, argumentsText: string): { readonly value: unknown } | undefined {
    const key = `${name} ${argumentsText}`
    const values = this.#kept?.get(key)
    if (!values) return undefined
    const value = values.pop()
    this.#count -= 1
    if (values.length === 0) this.#kept?.delete(key)
    return { value }
  }

  #forgetOldest(): void {
    for (const [key, values] of this.#kept ?? []) {
      this.#kept?.delete(key)
      this.#count -= values.length
      return
    }
  }
}

/** Digits of a decimal that a binary fraction preserves: 0.1 + 0.2 is 0.30000000000000004, meaning 0.3. */
const DIGITS = 15

/**
 * Multiples of decimals: 19.99 is a multiple of 0.01, although their quotient in binary fractions is not an integer.
 * Compares both numbers as the decimals they are written as.
 */
function isMultipleOf(value: number, divisor: number): boolean {
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
