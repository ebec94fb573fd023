// `baton doctor`: reports what is configured, reachable or missing, and how to fix it. It changes nothing and sends no
// prompt.
import type { Tool, ToolSource } from '@baton/core'
import { isBatonError } from '@baton/core'
import type { ProviderVariables, Variables } from '@baton/models/internal'
import { chooseModel, listModelsOf } from '@baton/models/choose-model'
import {
  chooseToolsWay,
  describeReason,
  findVariables,
  NETWORK_PROVIDERS,
  redact,
  redactAddresses,
  secretsIn,
} from '@baton/models/internal'
import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Command } from '../command.ts'
import type { Console } from '../console.ts'
import { wantsColor } from '../console.ts'
import { errorLine } from '../words/error-line.ts'
import { wholeNumber } from './limit-options.ts'
import { loadAgent } from '../places/load-agent.ts'
import type { Screen, Tone } from '../terminal/screen.ts'
import { createScreen } from '../terminal/screen.ts'
import type { StoreLocation } from '../places/store-location.ts'
import { nameOfStore, openStoreToRead, storeLocation } from '../places/store-location.ts'
import { VERSION } from '../version.ts'
import { readWords } from '../words/words.ts'

const HELP = `baton doctor: check what is configured, reachable or missing

Checks Node, the agent, the store, the model that would answer, and each configured provider: whether its server
responds and accepts the key. It changes nothing and sends no prompt. The exit code is 1 if anything configured does
not work.

Options:
  --agent FILE   also check this agent: its tools, those of its sources, and parts of their schemas that calls are not
                 checked against
  --store URL    the store to check (default: BATON_STORE, then the file of this folder)
  --timeout-ms NUMBER
                 milliseconds to wait for each server (default: 5000)

Examples:
  baton doctor
  ANTHROPIC_API_KEY=... baton doctor
`

export const doctorCommand: Command = { help: HELP, run: doctor }

/** A finding about one thing: it works, it fails, or it is not configured. */
interface Finding {
  readonly subject: string
  readonly state: 'works' | 'fails' | 'absent'
  readonly words: string
}

const TIMEOUT_MS = 5000

async function doctor(words: readonly string[], terminal: Console): Promise<number> {
  const { values } = readWords(words, {
    command: 'doctor',
    options: { agent: { type: 'string' }, store: { type: 'string' }, 'timeout-ms': { type: 'string' } },
  })
  const { variables, folder } = terminal
  const timeoutMs =
    values['timeout-ms'] === undefined ? TIMEOUT_MS : wholeNumber(values['timeout-ms'], '--timeout-ms', [1, 600_000])
  const location = storeLocation(values.store, variables, folder)
  const findings = [
    nodeFinding(),
    ...(await agentFindings(values.agent, folder, timeoutMs)),
    await storeFinding(location),
    modelFinding(variables),
    ...(await Promise.all(NETWORK_PROVIDERS.map((provider) => providerFinding(provider, variables, timeoutMs)))),
  ]
  const screen = createScreenFor(terminal)
  screen.note(`Baton ${VERSION}`)
  const width = Math.max(...findings.map(({ subject }) => subject.length))
  const secrets = secretsIn(variables)
  for (const { subject, state, words: said } of findings) {
    const safe = redactAddresses(redact(said, secrets))
    screen.note(`${MARKS[state].mark} ${subject.padEnd(width)}  ${safe}`, MARKS[state].tone)
  }
  return findings.some(({ state }) => state === 'fails') ? 1 : 0
}

const MARKS: Readonly<Record<Finding['state'], { readonly mark: string; readonly tone: Tone }>> = {
  works: { mark: '✓', tone: 'good' },
  fails: { mark: '✗', tone: 'bad' },
  absent: { mark: '-', tone: 'dim' },
}

function createScreenFor({ write, streams, variables }: Console): Screen {
  const output = streams?.output
  const columns = output?.isTTY === true ? { columns: () => output.columns ?? 80 } : {}
  return createScreen({ writeText: write, writeNote: write, ...columns, color: wantsColor(output, variables) })
}

/** An older version would have failed earlier. */
function nodeFinding(): Finding {
  return { subject: 'node', state: 'works', words: `${process.versions.node}; 22.18 or newer is required` }
}

async function agentFindings(file: string | undefined, folder: string, timeoutMs: number): Promise<readonly Finding[]> {
  const subject = 'agent'
  if (file === undefined)
    return [{ subject, state: 'works', words: `explores ${folder}; use --agent FILE for another one` }]
  try {
    const { name, tools, sources } = await loadAgent(file, folder)
    const words = `${name}, ${countTools(tools)}, of ${file}`
    const listed = await Promise.all(sources.map((source) => sourceFindings(source, timeoutMs)))
    return [{ subject, state: 'works', words }, ...tools.flatMap(schemaFindings), ...listed.flat()]
  } catch (cause) {
    return [{ subject, state: 'fails', words: errorLine(cause) }]
  }
}

function countTools({ length }: readonly Tool[]): string {
  return length === 1 ? '1 tool' : `${length} tools`
}

/** Parts of a tool's schema that calls are not checked against. The tool still works. */
function schemaFindings({ name, schemaWarnings = [] }: Tool): readonly Finding[] {
  return schemaWarnings.map((warning) => ({
    subject: 'schema',
    state: 'absent',
    words: `calls of tool "${name}" are not fully checked: ${warning}`,
  }))
}

async function sourceFindings(source: ToolSource, timeoutMs: number): Promise<readonly Finding[]> {
  const subject = 'source'
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`it did not answer in ${timeoutMs} ms`)), timeoutMs)
  try {
    const tools = await Promise.race([source.list(), late])
    return [
      { subject, state: 'works', words: `${source.name}, ${countTools(tools)}` },
      ...tools.flatMap(schemaFindings),
    ]
  } catch (cause) {
    return [{ subject, state: 'fails', words: `the tools of ${source.name} cannot be listed: ${errorLine(cause)}` }]
  } finally {
    clearTimeout(timer)
    await source.close?.()
  }
}

async function storeFinding(location: StoreLocation): Promise<Finding> {
  const subject = 'store'
  if (location.type === 'memory') return { subject, state: 'works', words: 'in memory: lost when the command ends' }
  const path = nameOfStore(location)
  try {
    if (location.type === 'sqlite') accessSync(existing(path), constants.W_OK)
    if (location.type === 'sqlite' && !existsSync(path))
      return { subject, state: 'works', words: `${path} will be created by the first chat or server` }
    const store = await openStoreToRead(location)
    let sessions = 0
    for await (const session of store.list()) sessions += session.records > 0 ? 1 : 0
    await store.close()
    return { subject, state: 'works', words: `${path}, ${sessions} session${sessions === 1 ? '' : 's'}` }
  } catch (cause) {
    return {
      subject,
      state: 'fails',
      words: `${path}: ${errorLine(cause)}; use --store or BATON_STORE for another one`,
    }
  }
}

/** The file, or the folder where it would be created. */
function existing(path: string): string {
  const above = dirname(path)
  return existsSync(path) || above === path ? path : existing(above)
}

function modelFinding(variables: Variables): Finding {
  const subject = 'model'
  try {
    const { id, reason } = chooseModel({ variables })
    return { subject, state: 'works', words: `${id}, ${reason}` }
  } catch (cause) {
    return { subject, state: 'fails', words: errorLine(cause) }
  }
}

async function providerFinding(provider: string, variables: Variables, timeoutMs: number): Promise<Finding> {
  const known = findVariables(provider, variables)
  if (!known || !isConfigured(provider, known, variables))
    return { subject: provider, state: 'absent', words: howToGet(known) }
  try {
    const words = await askProvider(provider, known, variables, timeoutMs)
    return { subject: provider, state: 'works', words }
  } catch (cause) {
    return {
      subject: provider,
      state: 'fails',
      words: isBatonError(cause) ? errorLine(cause) : `${known.label} is not reachable: ${describeReason(cause)}`,
    }
  }
}

async function askProvider(
  provider: string,
  known: ProviderVariables,
  variables: Variables,
  timeoutMs: number,
): Promise<string> {
  if (provider === 'anthropic') return askAnthropic(known, variables, timeoutMs)
  if (provider !== 'bedrock') return askList(provider, variables, timeoutMs)
  // It has no free request that every key may make.
  const { id } = chooseModel({ flag: provider, variables })
  return `${id} has credentials, which the first answer will try`
}

/** Whether anything is set for it; `openai-chat` and `openai-compatible` share the variables of `openai`. */
function isConfigured(provider: string, known: ProviderVariables, variables: Variables): boolean {
  const isSet = (name: string): boolean => (variables[name]?.trim() ?? '') !== ''
  const isChosen = variables['MODEL_PROVIDER']?.trim().split('/')[0] === provider
  if (isChosen || provider === 'openai-chat') return isChosen
  if (provider === 'openai-compatible') return isSet(known.baseUrlVariable) && !isSet(known.keyVariable)
  if (known.needsKey) return isSet(known.keyVariable)
  return isSet(known.baseUrlVariable) || isSet(known.modelVariable) || isSet(known.keyVariable)
}

function howToGet(known: ProviderVariables | undefined): string {
  if (!known) return 'unknown'
  if (known.needsKey) return `not configured; set ${known.keyVariable}`
  if (known.baseUrl === undefined) return `not configured; set ${known.baseUrlVariable}, or use --base-url`
  return `not configured; start it at ${known.baseUrl}, then use --model or set ${known.modelVariable}`
}

async function askList(provider: string, variables: Variables, timeoutMs: number): Promise<string> {
  const { length } = await listModelsOf(provider, { variables, timeoutMs })
  const models = length === 1 ? '1 model' : `${length} models`
  return `answers, ${models}; "baton models ${provider}" lists them${toolsWords(provider, variables)}`
}

/**
 * No model is called here, so the server's tool support is only found out in the first turn. @throws BatonError
 * `invalid_option`
 */
function toolsWords(provider: string, variables: Variables): string {
  const way = chooseToolsWay(provider, variables)
  if (way === 'native') return ''
  return way === 'probe'
    ? '; the first turn finds out whether it supports tools'
    : `; tools as text (${way}), from BATON_TOOLS`
}

/** docs.claude.com/en/api/models-list */
async function askAnthropic(known: ProviderVariables, variables: Variables, timeoutMs: number): Promise<string> {
  chooseModel({ flag: 'anthropic', variables })
  const base = variables[known.baseUrlVariable]?.trim() || known.baseUrl
  const { status } = await fetch(`${base?.replace(/\/+$/, '')}/v1/models`, {
    headers: { 'x-api-key': variables[known.keyVariable]?.trim() ?? '', 'anthropic-version': '2023-06-01' },
    signal: AbortSignal.timeout(timeoutMs),
    redirect: 'manual',
  })
  if (status === 401 || status === 403) throw new Error(`the key of ${known.keyVariable} was refused (${status})`)
  if (status >= 500) throw new Error(`the server answered ${status}`)
  return 'answers, and accepts the key'
}
