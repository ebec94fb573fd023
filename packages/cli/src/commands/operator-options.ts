// Options of `baton serve` for operators of the console and for senders of signed events.
// Each has a name and a file with its secret, which no other user of the machine sees in a list of processes.
import { BatonError } from '@baton/core'
import type { OperatorPower } from '@baton/console'
import { OPERATOR_POWERS } from '@baton/server/internal'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { UsageError } from '../words/usage-error.ts'

export interface NamedFile {
  readonly name: string
  readonly file: string
}

export interface OperatorWords extends NamedFile {
  readonly powers: readonly OperatorPower[]
}

/** Owns the sessions of all clients without a login, so an operator of this name could change them without any power. */
const CLIENTS = 'anonymous'
const NAME = /^[\w.-]{1,40}$/

/** Reads `NAME=FILE` words. @throws UsageError */
export function readNamed(option: string, words: readonly string[]): readonly NamedFile[] {
  const named = words.map((word) => split(option, word, 'FILE')).map(([name, file]) => ({ name, file }))
  refuseRepeated(option, named)
  return named
}

/** Reads `--console NAME=FILE` and `--console-powers NAME=LIST`; an operator without a list may see. @throws UsageError */
export function readOperators(words: readonly string[], lists: readonly string[]): readonly OperatorWords[] {
  const named = readNamed('--console', words)
  if (named.some(({ name }) => name === CLIENTS))
    throw new UsageError(`--console ${CLIENTS}=…: clients without a login have this name; choose another one`)
  const powers = new Map(lists.map((list) => split('--console-powers', list, 'see,decide')))
  const stranger = [...powers.keys()].find((name) => !named.some((one) => one.name === name))
  if (stranger !== undefined)
    throw new UsageError(`--console-powers ${stranger}=…: no --console ${stranger}=FILE names this operator`)
  return named.map((one) => ({ ...one, powers: readPowers(one.name, powers.get(one.name) ?? 'see') }))
}

function readPowers(name: string, list: string): readonly OperatorPower[] {
  if (list === 'all') return OPERATOR_POWERS
  return list.split(',').map((word) => {
    const power = OPERATOR_POWERS.find((one) => one === word)
    if (power) return power
    throw new UsageError(`--console-powers ${name}=…: use "all" or some of ${OPERATOR_POWERS.join(',')}, not "${word}"`)
  })
}

function split(option: string, word: string, what: string): readonly [string, string] {
  const at = word.indexOf('=')
  const [name, value] = [word.slice(0, Math.max(0, at)), word.slice(at + 1)]
  if (!NAME.test(name) || value === '') throw new UsageError(`${option} must be NAME=${what}, not "${word}"`)
  return [name, value]
}

function refuseRepeated(option: string, named: readonly NamedFile[]): void {
  const again = named.find(({ name }, at) => named.findIndex((one) => one.name === name) !== at)
  if (again) throw new UsageError(`${option} names ${again.name} twice`)
}

export interface KnownOperator extends OperatorWords {
  readonly token: string
}

const TOKEN_CHARS_MIN = 16

/**
 * Reads the tokens of the operators.
 * @throws BatonError `invalid_option` for a file that cannot be read, a token that is too short, or the same one twice
 */
function readOperatorTokens(operators: readonly OperatorWords[], folder: string): readonly KnownOperator[] {
  const read = operators.map((one) => ({ ...one, token: readSecret('--console', one, folder) }))
  for (const { name, token, file } of read) {
    if (!/^[\x21-\x7e]+$/.test(token) || token.length < TOKEN_CHARS_MIN)
      throw createError(
        `--console ${name}=${file}: the file must contain a token of ${TOKEN_CHARS_MIN} characters or more`,
      )
    if (read.some((other) => other.name !== name && other.token === token))
      throw createError(`--console ${name}=${file}: another operator has the same token`)
  }
  return read
}

/** A sender of signed events. Its file may have several secrets, one in a line, while one replaces another. */
export interface KnownSender {
  readonly name: string
  readonly secret: readonly string[]
}

export interface Guests {
  readonly operators: readonly KnownOperator[]
  readonly webhooks: readonly KnownSender[]
  /** To hide. */
  readonly secrets: readonly string[]
}

/** Reads the files of operators and senders. @throws BatonError `invalid_option` */
export function readGuests(
  words: { readonly operators: readonly OperatorWords[]; readonly webhooks: readonly NamedFile[] },
  folder: string,
): Guests {
  const operators = readOperatorTokens(words.operators, folder)
  const webhooks = words.webhooks.map((one) => ({
    name: one.name,
    secret: readSecret('--webhook', one, folder).split(/\s+/),
  }))
  return {
    operators,
    webhooks,
    secrets: [...operators.map(({ token }) => token), ...webhooks.flatMap(({ secret }) => secret)],
  }
}

function readSecret(option: string, { name, file }: NamedFile, folder: string): string {
  try {
    return readFileSync(resolve(folder, file), 'utf8').trim()
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw createError(`${option} ${name}=${file} cannot be read: ${why}`, cause)
  }
}

function createError(message: string, cause?: unknown): BatonError {
  return new BatonError({ code: 'invalid_option', message, cause })
}
