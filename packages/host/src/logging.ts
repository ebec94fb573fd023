// A server's log: one line per event, as JSON for programs or formatted by the caller for people, in the fields that
// pino writes. Secrets are never logged. The rest of Baton only knows the Logger interface.
import type { Logger } from '@baton/core'
import { BatonError } from '@baton/core'
import { LogValues, REDACTED } from './log-values.ts'

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

/** @throws BatonError `invalid_option` for an unknown level */
export function createLogger(options: LoggerOptions = {}): Logger {
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
