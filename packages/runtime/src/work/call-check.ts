// Checks a call before the machine sees it: are its arguments valid, does a policy allow it, must a person approve it,
// and what does that person see? The checks are foreign code, which may throw or hang; then the call does not run, and
// the model reads why.
import type {
  Agent,
  AskedCall,
  AskedFor,
  JsonObject,
  ModelCallPart,
  PolicyVerdict,
  StoredMessage,
  Timers,
  Tool,
  ToolDeclaration,
  CallDescription,
  Logger,
  WaitingWords,
} from '@baton/core/internal'
import { BatonError, describeValue, runsWhere, WAITING_CHARS_MAX } from '@baton/core/internal'
import type { CallCheck, ClientToolSpec } from '@baton/core/machine'
import { findClientToolRefusal } from './permitted.ts'
import { within } from '../deadline.ts'
import { describeThrown, hideSecrets } from '../describe-thrown.ts'
import type { Validated } from './arguments.ts'
import { readConversation } from './request.ts'
import { findBackground, hasFlag, readBackground, readOperation } from './background.ts'
import type { Streaks } from './repeats.ts'
import { denyRepeat } from './repeats.ts'
import { collectTexts, findComposed, findCopies } from './copied-text.ts'
import { describeDelegation } from './delegated-call.ts'
import { readVerdict } from './policy-verdict.ts'
import type { WorkContext } from './work.ts'

export interface CheckedCall {
  readonly session: string
  readonly principal: string
  readonly callId: string
  /** Messages that the model had read when it made the call. */
  readonly told: () => readonly StoredMessage[]
  readonly name: string
  /** JSON text. */
  readonly arguments: string
  /** Tools provided by clients. */
  readonly clientTools: readonly ClientToolSpec[]
  /** Tools whose untrusted results the model has read. */
  readonly untrusted: readonly string[]
  /** Names of the tools offered in the step, if `prepareStep` chose them. */
  readonly inForce?: ReadonlySet<string>
  /** Calls of this turn that repeated with the same result. */
  readonly streaks?: Streaks
}

/** Time limit of a schema and an approval function together, in milliseconds. */
const CHECK_MS = 10_000

/** Never rejects. Synchronous if the check needs only plain JSON Schema. */
export function checkCall(context: WorkContext, call: CheckedCall): CallCheck | Promise<CallCheck> {
  const tool = context.tools.find((candidate) => candidate.name === call.name)
  const brought = tool ? undefined : call.clientTools.find(({ name }) => name === call.name)
  const found = findBackground(context.agent, call.name, tool)
  const background = found === 'model' && brought && hasFlag(brought.inputSchema as JsonObject) ? false : found
  const { isWanted, arguments: text, chooses } = readBackground(background, call.arguments)
  const check = checkArguments(context, call, text)
  if (!isWanted && !chooses) return check
  const more = { ...(isWanted && { background: true as const }), ...(chooses && { chooses }) }
  return 'then' in check ? check.then((found) => ({ ...found, ...more })) : { ...check, ...more }
}

/** `text`: the arguments that the tool gets. */
function checkArguments(context: WorkContext, call: CheckedCall, text: string): CallCheck | Promise<CallCheck> {
  const argumentsHash = context.digest(call.arguments)
  if (call.inForce && !call.inForce.has(call.name))
    return { argumentsHash, denied: `the tool "${call.name}" is not offered in this step` }
  const repeated = call.streaks && denyRepeat(call.streaks, call.name, call.arguments)
  if (repeated !== undefined) return { argumentsHash, denied: repeated }
  const tool = context.tools.find((candidate) => candidate.name === call.name)
  const brought = tool ? undefined : call.clientTools.find(({ name }) => name === call.name)
  const refusal = brought && findClientToolRefusal(context.agent, call.name)
  if (refusal !== undefined)
    return { argumentsHash, denied: `this agent may not use the client tool "${call.name}": ${refusal}` }
  // A client's tool was decoded: the root of its schema is an object.
  const input = tool?.input ?? (brought?.inputSchema as JsonObject | undefined)
  if (!input) return { argumentsHash }
  try {
    const checked = context.validator.validate({ input }, text)
    if (tool?.operation) return checkOperation({ argumentsHash }, tool.operation, checked)
    const asksNobody = typeof tool?.approval !== 'function' && !context.agent.approvalPolicy
    const saysNothing = !tool?.describe && !tool?.kind && !tool?.waiting && tool?.title === undefined
    if ('then' in checked || !asksNobody || !saysNothing || tool?.delegation) {
      const judged = judge(context, { call, tool, brought, argumentsHash }, checked)
      return limit(context.timers, judged).catch((cause: unknown) => failCheck(context, call, argumentsHash, cause))
    }
    if (!checked.ok) return { argumentsHash, invalid: checked.issues }
    if (tool?.execute) context.validated.keep(call.name, call.arguments, checked.value)
    return tool?.approval ? { argumentsHash, asks: true, ...decidedBy(tool.deciders) } : { argumentsHash }
  } catch (cause) {
    return failCheck(context, call, argumentsHash, cause)
  }
}

/** Tools for tasks are the session's own: no policy is asked about them. */
function checkOperation(
  check: CallCheck,
  type: NonNullable<Tool['operation']>,
  checked: Validated | Promise<Validated>,
): CallCheck | Promise<CallCheck> {
  if ('then' in checked) return checked.then((done) => checkOperation(check, type, done))
  return checked.ok
    ? { ...check, operation: readOperation(type, checked.value) }
    : { ...check, invalid: checked.issues }
}

interface Judged {
  readonly call: CheckedCall
  readonly tool: Tool | undefined
  readonly brought: ClientToolSpec | undefined
  readonly argumentsHash: string
}

/** The agent's policy decides first, then the tool's own `approval`. */
async function judge(
  context: WorkContext,
  judged: Judged,
  validating: Validated | Promise<Validated>,
): Promise<CallCheck> {
  const { call, tool, argumentsHash } = judged
  const checked = await validating
  if (!checked.ok) return { argumentsHash, invalid: checked.issues }
  if (tool?.execute) context.validated.keep(call.name, call.arguments, checked.value)
  const about = tool && describeCall(tool, checked.value, context.log)
  // Bounded, so it is plain data.
  const delegate =
    tool?.delegation &&
    describeDelegation(tool.delegation, { input: checked.value, told: call.told, untrusted: call.untrusted })
  const found: CallCheck = {
    argumentsHash,
    ...(about && { about: about as unknown as JsonObject }),
    ...(delegate && { delegate }),
    ...decidedBy(tool?.deciders),
  }
  const policyCall = context.agent.approvalPolicy && describeForPolicy(context, { judged, about }, checked.value)
  const verdict = policyCall && readVerdict(await context.agent.approvalPolicy?.(policyCall))
  if (verdict === 'allow') return found
  if (verdict === 'ask') return { ...found, asks: true }
  if (verdict === 'deny') return { ...found, denied: `a policy denies calls of "${call.name}"` }
  if (verdict !== undefined && 'deny' in verdict) return { ...found, denied: verdict.deny }
  const saysEach = verdict?.each
  const asks =
    saysEach === undefined && typeof tool?.approval === 'function'
      ? await tool.approval(checked.value, describeForApproval(context, call))
      : (saysEach ?? tool?.approval)
  if (verdict !== undefined) return askFor(verdict, policyCall, { found, about, isEach: Boolean(asks) })
  return asks ? { ...found, asks: true } : found
}

function decidedBy(deciders: CallCheck['deciders']): Pick<CallCheck, 'deciders'> {
  return deciders ? { deciders } : {}
}

function describeForApproval(context: WorkContext, { session, principal, callId, told }: CheckedCall): AskedCall {
  return {
    session,
    agent: context.agent.name,
    principal: { id: principal },
    callId,
    services: context.services,
    messages: () => readConversation(context, session, told()),
  }
}

const MESSAGE_CHARS = 500
const TOOLS_MAX = 32

function askFor(
  { ask, destination, deciders }: Extract<PolicyVerdict, { readonly ask: string }>,
  call: PolicyCall | undefined,
  {
    found,
    about,
    isEach,
  }: { readonly found: CallCheck; readonly about: CallAbout | undefined; readonly isEach: boolean },
): CallCheck {
  const untrusted = call?.untrusted.slice(0, TOOLS_MAX) ?? []
  const copied = call?.copied() ?? []
  const asked: AskedFor = {
    message: String(ask).slice(0, MESSAGE_CHARS),
    ...(destination !== undefined && { destination }),
    ...(isEach && { each: true as const }),
    ...(untrusted.length > 0 && { untrusted }),
    ...(copied.length > 0 && { copied }),
  }
  const shown = { ...about, asked } as unknown as JsonObject // bounded, so it is plain data
  const each = isEach && { asksEach: true as const }
  return { ...found, ...decidedBy(deciders), about: shown, asks: true, asksFor: destination ?? '', ...each }
}

type PolicyCall = Parameters<NonNullable<Agent['approvalPolicy']>>[0]

function describeForPolicy(
  context: WorkContext,
  { judged: { call, tool, brought }, about }: { readonly judged: Judged; readonly about: CallAbout | undefined },
  input: unknown,
): PolicyCall {
  const { session, principal, name, untrusted, told } = call
  const effect = tool?.effect ?? brought?.effect ?? 'once'
  return {
    session,
    principal: { id: principal },
    tool: {
      name,
      effect,
      runs: readRuns(tool),
      // A client's tool comes from outside.
      trust: tool ? (tool.trust ?? 'trusted') : 'untrusted',
      ...(tool?.kind && { kind: tool.kind }),
      ...(tool?.source !== undefined && { source: tool.source }),
      ...(tool?.network !== undefined && { network: tool.network }),
    },
    input,
    ...(about?.destination !== undefined && { destination: about.destination }),
    untrusted,
    described: context.tools.flatMap((one) =>
      one.source !== undefined && one.trust === 'untrusted' ? [one.name] : [],
    ),
    copied: () => findCopies(input, collectTexts(told())),
    composed: () => findComposed(input, collectTexts(told())),
  }
}

function failCheck(context: WorkContext, call: CheckedCall, argumentsHash: string, cause: unknown): CallCheck {
  const why = hideSecrets(describeThrown(cause), context.secrets)
  context.log.warn('a call could not be checked', { session: call.session, tool: call.name, cause: why })
  return { argumentsHash, invalid: `the call was not run, because it could not be checked: ${why}` }
}

function limit(timers: Timers, check: Promise<CallCheck>): Promise<CallCheck> {
  const message = `its schema or its approval took longer than ${CHECK_MS} ms`
  return within(timers, { timeoutMs: CHECK_MS, error: () => new BatonError({ code: 'internal', message }) }, check)
}

function readRuns(tool: Tool | undefined): 'server' | 'client' | 'child' {
  const runs = tool ? runsWhere(tool) : 'client'
  return runs === 'machine' ? 'server' : runs
}

/** Markup around a name. The name is tried with and without each. */
const MARKUP: readonly RegExp[] = [
  /[\p{Cc}\p{Cf}]/gu,
  /^["'`]|["'`]$/g,
  /\(\)?$/,
  // The format and the channel of gpt-oss without their marks: `functions.read json`.
  /\s(?:json|commentary)$/,
  /^[^]*\bto=/,
  /^(?:<\|[^|]*\|>)+/,
  /<\|[^]*$/,
  /^(?:functions?|default_api|tools?)[.:/]/,
  /[:#]\d{1,3}$/,
  /^\s+|\s+$/g,
]

/**
 * The only tool whose name remains after removing markup, else the only name that differs just in capitals, hyphens and
 * underscores, else also in dots, slashes, colons and spaces. Undefined if the name is exact, or matches no tool or
 * several.
 */
export function fitToolName(name: string, tools: readonly Pick<ToolDeclaration, 'name'>[]): string | undefined {
  if (tools.some((tool) => tool.name === name)) return undefined
  let readings = new Set([name])
  for (const markup of MARKUP) readings = new Set([...readings].flatMap((one) => [one, one.replace(markup, '')]))
  const exact = tools.filter((tool) => readings.has(tool.name))
  let near = exact
  for (const left of SPELLINGS) {
    if (near.length > 0) break
    const fold = (one: string): string => one.toLowerCase().replaceAll(left, '')
    const folded = new Set([...readings].map(fold).filter((one) => one !== ''))
    near = tools.filter((tool) => folded.has(fold(tool.name)))
  }
  return near.length === 1 ? near[0]?.name : undefined
}

/**
 * Characters that a spelling may omit or add. Models write `box_set` for `box.set`, which no provider accepts as a
 * name.
 */
const SPELLINGS: readonly RegExp[] = [/[-_]/g, /[-_./: ]/g]

/** The log and the history have the tool's own name; the log records the repair. */
export function withToolName(call: ModelCallPart, tools: readonly ToolDeclaration[]): ModelCallPart {
  const name = fitToolName(call.name, tools)
  return name === undefined ? call : { ...call, name, repairs: [...(call.repairs ?? []), 'tool-name'] }
}

const TITLE_CHARS = 200
const PLACES_MAX = 32
const PATH_CHARS = 1024
const DIFF_CHARS = 65_536
/** Maximum UTF-16 units to read. */
const SAY_SEARCHED = 10_000

export interface CallAbout extends CallDescription {
  readonly kind?: NonNullable<Tool['kind']>
  readonly waiting?: WaitingWords
}

/** Returns undefined if the tool gives no description. Never throws. */
export function describeCall(tool: Tool, input: unknown, log: Logger): CallAbout | undefined {
  const { kind, title } = tool
  const waiting = describeWaiting(tool, input, log)
  const about = {
    ...(title !== undefined && { title }),
    ...describe(tool, input, log),
    ...(kind && { kind }),
    ...(waiting && { waiting }),
  }
  return Object.keys(about).length === 0 ? undefined : about
}

function describe(tool: Tool, input: unknown, log: Logger): CallDescription {
  if (!tool.describe) return {}
  try {
    return bound(demandNow(tool.describe(input)))
  } catch (cause) {
    log.warn('a call could not be described', { tool: tool.name, cause: describeThrown(cause) })
    return {}
  }
}

function describeWaiting({ name, waiting }: Tool, input: unknown, log: Logger): WaitingWords | undefined {
  if (!waiting) return undefined
  const { afterMs, say } = waiting
  try {
    const said: unknown = typeof say === 'function' ? demandNow(say(input)) : say
    if (typeof said !== 'string') throw new Error(`it returned ${describeValue(said)} instead of text`)
    const words = said.slice(0, SAY_SEARCHED).replace(UNSPOKEN, ' ').trim()
    if (words.length > WAITING_CHARS_MAX)
      log.warn('the waiting words of a tool were cut', { tool: name, characters: WAITING_CHARS_MAX })
    return words === '' ? undefined : { afterMs, say: cut(words, WAITING_CHARS_MAX) }
  } catch (cause) {
    log.warn('the waiting words of a tool failed', { tool: name, cause: describeThrown(cause) })
    return undefined
  }
}

/** Control characters and characters that reverse the reading order: the text may contain a model's words. */
const UNSPOKEN = /[\p{Cc}\u{202a}-\u{202e}\u{2066}-\u{2069}]+/gu

/** People see a call at once, so a promise is refused. An unhandled rejection would end the process. */
function demandNow<Value>(value: Value): Value {
  const then: unknown = (value as { readonly then?: unknown } | null | undefined)?.then // supplied by foreign code
  if (typeof then !== 'function') return value
  Promise.resolve(value).catch(() => {}) // its result is not used
  throw new Error('it returned a promise; it must be synchronous')
}

/** Never cuts a character in half. */
function cut(text: string, chars: number): string {
  return text.slice(0, chars).replace(/[\ud800-\udbff]$/, '')
}

/** Copies field by field: the description comes from foreign code and goes into a record. */
function bound({ title, locations, diff, destination }: CallDescription): CallDescription {
  let left = DIFF_CHARS
  const shown = (diff ?? []).slice(0, PLACES_MAX).flatMap(({ path, oldText, newText }) => {
    const texts = { oldText: oldText === null ? null : String(oldText), newText: String(newText) }
    left -= (texts.oldText?.length ?? 0) + texts.newText.length
    return left >= 0 ? [{ path: String(path).slice(0, PATH_CHARS), ...texts }] : []
  })
  const places = locations?.slice(0, PLACES_MAX).map(({ path, line }) => ({
    path: String(path).slice(0, PATH_CHARS),
    ...(Number.isSafeInteger(line) && { line: Number(line) }),
  }))
  return {
    ...(title !== undefined && { title: cut(String(title), TITLE_CHARS) }),
    ...(places && { locations: places }),
    ...(shown.length > 0 && { diff: shown }),
    // A cut destination would be a different one.
    ...(destination !== undefined && String(destination).length <= PATH_CHARS && { destination: String(destination) }),
  }
}
