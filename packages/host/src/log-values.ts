// Values of a log line, read from the data that any caller passes: plain JSON of bounded size. A value that cannot be
// read is replaced alone.

/** Fields whose value is never logged, however deep. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'token',
  'apiKey',
  'api_key',
  'authorization',
  'password',
  'secret',
])
export const REDACTED = '[redacted]'
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
export class LogValues {
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
