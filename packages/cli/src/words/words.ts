// Parses the words of a command line into checked values. Each error is one line that says what is allowed.
import { findNearName } from '@baton/core/internal'
import type { ParseArgsConfig } from 'node:util'
import { parseArgs } from 'node:util'
import { wholeNumber } from '../commands/limit-options.ts'
import { UsageError } from './usage-error.ts'

export type Variables = Readonly<Record<string, string | undefined>>

type Options = NonNullable<ParseArgsConfig['options']>
type Parsed<Known extends Options> = ReturnType<
  typeof parseArgs<{ options: Known; args: string[]; allowPositionals: true }>
>

/** Arguments of a command: its options, and its other words. */
export interface Grammar<Known extends Options> {
  readonly command: string
  readonly options: Known
  /** Names of the words, for the error about an extra one. Default: none. */
  readonly words?: readonly string[]
  /** Names the command to use for words that this one does not accept. */
  readonly instead?: (words: string) => string
}

/** @throws UsageError */
export function readWords<const Known extends Options>(
  words: readonly string[],
  { command, options, words: named = [], instead }: Grammar<Known>,
): Parsed<Known> {
  let parsed: Parsed<Known>
  try {
    parsed = parseArgs({ args: [...words], options, allowPositionals: true }) as Parsed<Known>
  } catch (cause) {
    throw new UsageError(`${describeReason(cause, Object.keys(options))} see "baton ${command} --help"`)
  }
  const extra = parsed.positionals[named.length]
  if (extra !== undefined) {
    const takes = named.length === 0 ? 'takes only options' : `takes ${named.join(' ')}`
    const meant = instead ? `; ${instead(parsed.positionals.slice(named.length).join(' '))}` : ''
    throw new UsageError(`unexpected word "${extra}": ${command} ${takes}${meant}; see "baton ${command} --help"`)
  }
  return parsed
}

/** Rewords an error of parseArgs in the style of the other errors. */
function describeReason(cause: unknown, options: readonly string[]): string {
  const message = cause instanceof Error ? cause.message : String(cause)
  const [, known, what = ''] = /^Option '(--[\w-]+)[^']*' (.*)/.exec(message) ?? []
  if (what.startsWith('argument missing')) return `${known} needs a value;`
  if (what.startsWith('argument is ambiguous'))
    return `${known} needs a value; write one that begins with "-" as ${known}=-…;`
  if (what.startsWith('does not take')) return `${known} takes no value;`
  const [first = message] = message.split(/\. To specify|\n/)
  const unknown = /^Unknown option '-+([\w-]+)/.exec(first)?.[1]
  if (unknown === undefined) return `${first.replace(/\.$/, '')};`
  const near = suggestion(unknown, options, '--')
  return `unknown option --${unknown}${near || ';'}`
}

/** `, did you mean "port"?`, or an empty string if nothing is similar. */
export function suggestion(text: string, known: readonly string[], prefix = ''): string {
  const near = findNearName(known, text)
  return near === undefined ? '' : `, did you mean ${prefix}${near}?`
}

/** @throws UsageError */
export function numberOfVariable(variables: Variables, name: string, most: number): number | undefined {
  const text = variables[name]?.trim() ?? ''
  return text === '' ? undefined : wholeNumber(text, `the variable ${name}`, [1, most])
}

/** @throws UsageError for blank text */
export function notBlank(text: string | undefined, option: string): string | undefined {
  if (text === undefined || text.trim() !== '') return text
  throw new UsageError(`${option} must not be empty`)
}
