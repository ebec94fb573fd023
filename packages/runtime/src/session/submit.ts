// How one input reaches the machine. The bytes of its images and files are stored, and it is submitted with handles; an
// input that the machine would refuse is not stored. Clients' results are checked before that.
import type { Accepted, Refused, StoredPart, Tool } from '@baton/core/internal'
import { BatonError, decodeOutcome, findNameIssue, isBatonError, parseJson } from '@baton/core/internal'
import type { Input, InputOf, Outcome } from '@baton/core/machine'
import { check, findLargeMedia, isMedia } from '@baton/core/machine'
import { describeThrown } from '../describe-thrown.ts'
import type { SessionEngine } from '../engine.ts'
import { findBelow } from '../engine.ts'
import { holdsBytes, storeMedia } from '../work/media.ts'
import { within } from '../deadline.ts'
import type { Validated } from '../work/arguments.ts'
import { describeToolFailure, stringifyResult } from '../work/tool-result.ts'
import type { WorkContext } from '../work/work.ts'

/** Submits an input. A refusal has the code `store_failed` if its bytes cannot be stored. */
export async function submit(engine: SessionEngine, input: Input): Promise<Accepted | Refused> {
  let ready = input
  if (bringsBytes(input)) {
    const refusal = check(engine.world.spec, engine.state(), input)
    if (refusal) return { type: 'refused', ...refusal }
    try {
      ready = await storeInput(engine, input)
    } catch (cause) {
      const code = isBatonError(cause) ? cause.code : 'store_failed'
      return { type: 'refused', code, message: describeThrown(cause) }
    }
  }
  const [answer = NO_ANSWER] = await engine.submit([ready])
  return answer
}

export const NO_ANSWER: Refused = { type: 'refused', code: 'internal', message: 'the engine did not answer' }

/** Returns an acceptance. @throws BatonError with the code of a refusal */
export function insist<Answer extends object>(answer: Answer | Refused): Answer {
  if ('type' in answer && answer.type === 'refused') {
    const { code, message } = answer as Refused // checked by its type
    throw new BatonError({ code, message })
  }
  return answer as Answer // the remaining case
}

/** Whether the input has bytes to store before it is submitted. */
export function bringsBytes(input: Input): boolean {
  return listParts(input).some(holdsBytes)
}

/** Checks the outcome of a client's result; synchronous if the tool's schema is. */
export function checkResult(engine: SessionEngine, result: ToolResult): ToolResult | Promise<ToolResult> {
  const call = engine.history().openCall(result.callId)
  if (!call || call.settled) return result
  // A session below has its own tools.
  const below = findBelow(engine, result.callId)
  if (below && 'then' in below) return below.then((found) => checkBy(found ?? engine, call.name, result))
  return checkBy(below ?? engine, call.name, result)
}

function checkBy({ world }: SessionEngine, name: string, result: ToolResult): ToolResult | Promise<ToolResult> {
  const checked = checkClientResult(world, name, result.outcome)
  return 'then' in checked ? checked.then((outcome) => ({ ...result, outcome })) : { ...result, outcome: checked }
}

/** Reads the result of a program's own tool. @throws BatonError `invalid_event` */
export function readResult(callId: string, connection: string, outcome: Outcome): ToolResult {
  const issue = findNameIssue(callId)
  // It would go into the log.
  if (issue !== undefined) throw new BatonError({ code: 'invalid_event', message: `callId must ${issue}` })
  const given = decodeOutcome(outcome)
  if (!given.ok) throw new BatonError(given.refusal)
  return { type: 'tool-result', callId, connection, outcome: given.value }
}

type ToolResult = InputOf<'tool-result'>

function listParts(input: Input): readonly StoredPart[] {
  if (input.type === 'user-input') return input.parts
  if (input.type === 'rewind') return input.replace?.parts ?? []
  return input.type === 'tool-result' && input.outcome.type === 'ok' ? input.outcome.content : []
}

async function storeInput(engine: SessionEngine, input: Input): Promise<Input> {
  const world = engine.world
  if (input.type === 'user-input') return { ...input, parts: await storeMedia(engine.session, input.parts, world) }
  if (input.type === 'rewind') {
    const { replace } = input
    if (!replace) return input
    return { ...input, replace: { ...replace, parts: await storeMedia(engine.session, replace.parts, world) } }
  }
  if (input.type !== 'tool-result' || input.outcome.type !== 'ok') return input
  const { content } = input.outcome
  const isOpen = engine.history().openCall(input.callId)?.settled === false
  // Media of late results, which are logged without them, and of results that are too large, which the machine refuses,
  // are not stored.
  if (!isOpen) return withContent(input, content.map(nameMedia))
  const large = findLargeMedia(content, world.spec.limits)
  if (large === undefined) return withContent(input, await storeMedia(engine.session, content, world))
  return {
    ...input,
    outcome: { type: 'error', code: 'result_too_large', message: `the result is too large: ${large}` },
  }
}

function withContent(input: InputOf<'tool-result'>, content: readonly StoredPart[]): Input {
  return { ...input, outcome: { ...input.outcome, type: 'ok', content } }
}

function nameMedia(part: StoredPart): StoredPart {
  return isMedia(part) ? { type: 'text', text: `[${part.type}]` } : part
}

/** Time limit of a schema, in milliseconds. */
const CHECK_MS = 10_000

/**
 * Returns the outcome, or a `result_invalid` error in its place. Synchronous if the schema is, so that results keep
 * their order. Never throws or rejects.
 */
function checkClientResult(
  { tools, validator, timers, secrets }: Pick<WorkContext, 'tools' | 'validator' | 'timers' | 'secrets'>,
  name: string,
  outcome: Outcome,
): Outcome | Promise<Outcome> {
  const tool = tools.find((candidate) => candidate.name === name)
  if (!tool?.output || tool.execute || outcome.type !== 'ok') return outcome
  const { output } = tool
  const [value, otherwise] = readTexts(outcome)
  const conclude = (checked: Validated): Outcome => (checked.ok ? outcome : createIssue(tool, checked.issues))
  const fail = (thrown: unknown): Outcome => describeToolFailure(thrown, secrets)
  try {
    const checked = validator.validate({ input: output, subject: 'the result is' }, value)
    const isSettled = !('then' in checked) && (checked.ok || otherwise === undefined)
    if (isSettled) return conclude(checked)
    const checking = Promise.resolve(checked).then(async (first) => {
      const asText =
        first.ok || otherwise === undefined
          ? first
          : await validator.validate({ input: output, subject: 'the result is' }, otherwise)
      return asText.ok ? asText : first
    })
    const message = `the output schema of "${name}" took longer than ${CHECK_MS} ms`
    const error = (): BatonError => new BatonError({ code: 'result_invalid', message })
    return within(timers, { timeoutMs: CHECK_MS, error }, checking).then(conclude, fail)
  } catch (thrown) {
    return fail(thrown)
  }
}

/**
 * The JSON text of the value that the content represents, or of its text, which is read as JSON first and as plain text
 * second.
 */
function readTexts({ content, value }: Extract<Outcome, { readonly type: 'ok' }>): readonly [string, string?] {
  if (value !== undefined) return [stringifyResult(value)]
  const [part] = content
  if (part?.type !== 'text' || content.length > 1) return [stringifyResult({ content })]
  const asText = stringifyResult(part.text)
  return parseJson(part.text).ok ? [part.text, asText] : [asText]
}

function createIssue({ name }: Pick<Tool, 'name'>, issues: string): Outcome {
  return { type: 'error', code: 'result_invalid', message: `the result of "${name}" is wrong: ${issues}` }
}
