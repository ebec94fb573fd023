// Inputs with images and files: stores their bytes first, then submits the input with handles. An input that the
// machine would refuse is not stored. Clients' results are checked before that.
import type { Accepted, Refused, StoredPart } from '@baton/core/internal'
import { BatonError, decodeOutcome, findNameIssue, isBatonError } from '@baton/core/internal'
import type { Input, InputOf, Outcome } from '@baton/core/machine'
import { check, findLargeMedia, isMedia } from '@baton/core/machine'
import { describeThrown } from '../describe-thrown.ts'
import type { SessionEngine } from '../engine.ts'
import { findBelow, submitAlone } from '../engine.ts'
import { checkClientResult } from '../work/client-result.ts'
import { holdsBytes, storeMedia } from '../work/media.ts'

/** Whether the input has bytes to store before it is submitted. */
export function bringsBytes(input: Input): boolean {
  return listParts(input).some(holdsBytes)
}

/** Submits the input with handles in place of bytes; refused with `store_failed` if they cannot be stored. */
export async function submitMedia(engine: SessionEngine, input: Input): Promise<Accepted | Refused> {
  const refusal = check(engine.world.spec, engine.state(), input)
  if (refusal) return { type: 'refused', ...refusal }
  let stored: Input
  try {
    stored = await storeInput(engine, input)
  } catch (cause) {
    const code = isBatonError(cause) ? cause.code : 'store_failed'
    return { type: 'refused', code, message: describeThrown(cause) }
  }
  return await submitAlone(engine, stored)
}

/** Checks the outcome of a client's result; synchronous if the tool's schema is. */
export function checkResult(engine: SessionEngine, result: ToolResult): ToolResult | Promise<ToolResult> {
  const call = engine.history().openCall(result.callId)
  if (!call || call.settled) return result
  const checked = checkClientResult(findWorld(engine, result.callId), call.name, result.outcome)
  return 'then' in checked ? checked.then((outcome) => ({ ...result, outcome })) : { ...result, outcome: checked }
}

/** The world with the tool of a call: a session below has its own. */
function findWorld(engine: SessionEngine, callId: string): SessionEngine['world'] {
  return (findBelow(engine, callId) ?? engine).world
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

export async function submitResult(engine: SessionEngine, result: ToolResult): Promise<Accepted | Refused> {
  const checked = await checkResult(engine, result)
  return await (bringsBytes(checked) ? submitMedia(engine, checked) : submitAlone(engine, checked))
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
