// A server's log: one line per event, as JSON for programs or formatted by the caller for people, in the fields that
// pino writes. Secrets are never logged. The rest of Baton only knows the Logger interface.
import type { Logger } from '@baton/core'
import { BatonError } from '@baton/core'
import { checkFields, checkKinds } from '@baton/core/internal'

export interface LoggerOptions {
  /** Default: `info`. `silent` writes nothing. */
  readonly level?: LogLevel
  /** Formats a JSON line for people, as `prettyFactory()` of `pino-pretty` does. Default: JSON. */
  readonly readable?: (json: string) => string | undefined
  /** Texts to redact anywhere in a line, such as tokens and keys. */
  readonly secrets?: readonly string[]
  /** Receives whole lines. Default: the process's standard error. */
  readonly write?: (line: string) => void
}

export type LogLevel = 'info' | 'warn' | 'silent'

const LEVELS: ReadonlySet<unknown> = new Set<LogLevel>(['info', 'warn', 'silent'])

const KINDS = {
  level: undefined,
  readable: 'a function',
  secrets: 'an array of secrets',
  write: 'a function',
} as const
const KNOWN = { what: 'createLogger', code: 'invalid_option' } as const

/** @throws BatonError `invalid_option` for an unknown level or option, or a value of the wrong kind */
export function createLogger(options: LoggerOptions = {}): Logger {
  checkFields(options, { ...KNOWN, fields: new Set(Object.keys(KINDS)) })
  checkKinds(options, { ...KNOWN, kinds: KINDS })
  const { level = 'info', readable } = options
  if (!LEVELS.has(level))
    throw new BatonError({
      code: 'invalid_option',
      message: `createLogger: level must be info, warn or silent, not "${String(level).slice(0, 100)}"`,
    })
  const write = options.write ?? ((line: string) => void process.stderr.write(line))
  // An empty secret would match everywhere.
  const secrets = (options.secrets ?? []).filter((secret) => secret !== '')
  const escaped = secrets.map((secret) => escape(JSON.stringify(secret)).slice(1, -1))
  const log =
    (label: LogLevel): Logger['info'] =>
    (message, data = {}) => {
      // The whole line again: a secret may be split over pieces that were redacted separately.
      const safe = redact(toLine(label, message, { data, hide: (text) => redact(text, secrets) }), escaped)
      write(readable?.(safe) ?? safe)
    }
  const ignore = (): void => {}
  return { info: level === 'info' ? log('info') : ignore, warn: level === 'silent' ? ignore : log('warn') }
}

interface LineParts {
  readonly data: unknown
  readonly hide: (text: string) => string
}

function toLine(level: LogLevel, message: unknown, { data, hide }: LineParts): string {
  // Data cannot replace the line's own fields.
  const own = { level, time: new Date().toISOString() }
  const values = new LogValues(hide)
  const msg = values.value(message, 0)
  return `${escape(JSON.stringify({ ...own, ...values.fields(data), ...own, msg }))}\n`
}

function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text)
}

/** Escapes what JSON leaves and a terminal or a reader of lines obeys. */
function escape(json: string): string {
  return json.replaceAll(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Fields whose value is never logged, however deep. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'token',
  'apiKey',
  'api_key',
  'authorization',
  'password',
  'secret',
])
const REDACTED = '[redacted]'
/** Nesting below which a value is replaced. */
const DEPTH_MAX = 8
/** Entries of one list or object. */
const ENTRIES_MAX = 200
/** Values of one line. */
const VALUES_MAX = 2000
/** Characters of one text. */
const TEXT_CHARS_MAX = 16_384
/** Characters of all texts of one line, names included. */
const LINE_CHARS_MAX = 65_536

/** Reads the parts of one line. */
class LogValues {
  readonly #hide: (text: string) => string
  readonly #ancestors = new Set<object>()
  #values = 0
  #chars = 0

  /** `hide` redacts secrets in a text. It runs before the text is cut, which could leave half of a secret. */
  constructor(hide: (text: string) => string) {
    this.#hide = hide
  }

  /** Reads the fields of a line; data that has no fields of its own becomes the field `data`. Never throws. */
  fields(data: unknown): Readonly<Record<string, unknown>> {
    const isPlain = typeof data === 'object' && data !== null && !Array.isArray(data) && !(data instanceof Error)
    try {
      return isPlain ? this.#object(data, 0) : { data: this.value(data, 0) }
    } catch {
      return { data: UNREADABLE }
    }
  }

  /** Returns JSON, or `undefined` for what JSON leaves out, such as a function. Never throws. */
  value(value: unknown, depth: number): unknown {
    try {
      return this.#read(value, depth)
    } catch {
      return UNREADABLE
    }
  }

  #read(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.#text(value)
    if (typeof value === 'bigint') return this.#text(String(value))
    if (typeof value === 'symbol' || typeof value === 'function') return undefined
    if (typeof value !== 'object' || value === null) return value
    if (value instanceof Error) return this.#text(`${value.name}: ${value.message}`)
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
    if (this.#ancestors.has(value)) return '[circular]'
    if (depth >= DEPTH_MAX) return '[too deep]'
    this.#ancestors.add(value)
    try {
      if ('toJSON' in value && typeof value.toJSON === 'function') return this.value(value.toJSON(), depth + 1)
      return Array.isArray(value) ? this.#list(value, depth) : this.#object(value, depth)
    } finally {
      this.#ancestors.delete(value)
    }
  }

  #list(list: readonly unknown[], depth: number): readonly unknown[] {
    const shown: unknown[] = []
    for (let index = 0; index < list.length && index < ENTRIES_MAX && this.#takes(); index++)
      shown.push(this.value(list[index], depth + 1) ?? null)
    if (shown.length < list.length) shown.push(MORE)
    return shown
  }

  #object(object: object, depth: number): Readonly<Record<string, unknown>> {
    const shown: (readonly [string, unknown])[] = []
    this.#ancestors.add(object)
    for (const name of Object.keys(object)) {
      if (shown.length === ENTRIES_MAX || !this.#takes()) {
        shown.push(['…', MORE])
        break
      }
      shown.push([this.#text(name), SECRET_FIELDS.has(name) ? REDACTED : this.#field(object, name, depth)])
    }
    // Not assigned one by one: a field may be named `__proto__`.
    return Object.fromEntries(shown)
  }

  #field(object: object, name: string, depth: number): unknown {
    try {
      return this.value((object as Readonly<Record<string, unknown>>)[name], depth + 1) // a name of its own
    } catch {
      return UNREADABLE
    }
  }

  #takes(): boolean {
    return this.#values++ < VALUES_MAX
  }

  #text(text: string): string {
    const hidden = this.#hide(text)
    const room = Math.min(TEXT_CHARS_MAX, Math.max(0, LINE_CHARS_MAX - this.#chars))
    const shown = hidden.length > room ? `${hidden.slice(0, room)}…` : hidden
    this.#chars += shown.length
    return shown
  }
}

const UNREADABLE = '[unreadable]'
/** Stands for the entries beyond a bound. */
const MORE = '[more]'
