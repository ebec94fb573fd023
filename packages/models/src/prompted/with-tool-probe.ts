// Handles models whose server may or may not support tools: before the first request with tools, a small one finds out
// for all sessions. If the server does not support them, later requests prompt for calls.
import type { AbortSignalLike, Model, ModelAnswer, ModelEvent, ModelRequest } from '@baton/core/internal'
import { BatonError, checkFields } from '@baton/core/internal'
import { cancelledError } from '../transport/transport-errors.ts'
import type { PromptedFormatName } from './formats.ts'
import { chooseFormat, promptedFormat } from './formats.ts'
import type { ToolVerdict } from './tool-probe.ts'
import { PROBE_REQUEST, PROBE_TEXT_MAX, readProbeAnswer, readProbeText, refusesTools } from './tool-probe.ts'
import { asksForTools, withPromptedTools } from './with-prompted-tools.ts'

export interface ToolProbeOptions {
  /**
   * Format for prompted tools. Defaults to the one the model used in its answer to the probe, otherwise chosen by its
   * name.
   */
  readonly format?: PromptedFormatName
  /** Timeout of the probe in milliseconds; 180 s by default, because a local server first loads its model. */
  readonly deadlineMs?: number
  /** Called once with the result, and again if the server later rejects tools. */
  readonly onVerdict?: (verdict: ToolVerdict) => void
}

const FIELDS = new Set(['format', 'deadlineMs', 'onVerdict'])
const DEADLINE_MS = 180_000
/** Maximum delay of a timer: 24 days. */
const DEADLINE_MS_MAX = 2 ** 31 - 1
/** Maximum requests sent without a probe after several inconclusive ones in a row: 0, 2, 6, 14 … */
const UNPROBED_MAX = 62

/**
 * Wraps a model: native calls if its server supports tools, `withPromptedTools` otherwise. The result is kept with this
 * object; a server restarted with other flags is probed by a new object. If a probe fails (network, key, limits,
 * deadline), the request is sent as is, and a later one probes again.
 *
 * Requests without tools are sent immediately. The probe's tokens do not count in any request's usage.
 * @throws BatonError `invalid_option` for an invalid option. A request throws `cancelled` if its signal aborts while it
 * waits for the probe, and whatever the model throws
 */
export function withToolProbe(model: Model, options: ToolProbeOptions = {}): Model {
  checkOptions(options)
  const probed: Probed = { model, probe: createProbe(model, options), inWords: createInWords(model) }
  return {
    ...model,
    capabilities: { ...model.capabilities, tools: 'native' },
    run: async (request, sink, signal) => {
      if (!asksForTools(request)) return await model.run(request, sink, signal)
      const verdict = await probed.probe.verdict(signal)
      if (verdict?.type === 'prompted') return await probed.inWords(verdict.format).run(request, sink, signal)
      return await runNatively(probed, request, sink, signal)
    },
  }
}

function checkOptions(options: ToolProbeOptions): void {
  checkFields(options, { what: 'withToolProbe', code: 'invalid_option', fields: FIELDS })
  const { format, deadlineMs = DEADLINE_MS } = options
  if (format !== undefined) promptedFormat(format)
  if (Number.isInteger(deadlineMs) && deadlineMs >= 1 && deadlineMs <= DEADLINE_MS_MAX) return
  const message = `withToolProbe: deadlineMs must be a whole number from 1 to ${DEADLINE_MS_MAX}, not ${String(deadlineMs)}`
  throw new BatonError({ code: 'invalid_option', message })
}

interface Probed {
  readonly model: Model
  readonly probe: Probe
  readonly inWords: (format: PromptedFormatName) => Model
}

/** One model per format, which caches what it has written. */
function createInWords(model: Model): Probed['inWords'] {
  const models = new Map<PromptedFormatName, Model>()
  return (format) => {
    const known = models.get(format) ?? withPromptedTools(model, { format })
    models.set(format, known)
    return known
  }
}

/** Real requests are evidence too: one answered with a call, or one rejected for its tools. */
async function runNatively(
  { model, probe, inWords }: Probed,
  request: ModelRequest,
  sink: (event: ModelEvent) => void,
  signal: AbortSignalLike,
): Promise<ModelAnswer> {
  let isSilent = true
  const heard = (event: ModelEvent): void => {
    isSilent = false
    sink(event)
  }
  try {
    const answer = await model.run(request, heard, signal)
    if (answer.parts.some((part) => part.type === 'call')) probe.settle({ type: 'native' })
    return answer
  } catch (cause) {
    if (!refusesTools(cause)) throw cause
    const refused = probe.settle({ type: 'prompted', reason: 'refused', format: chooseFormat(model) })
    // Streamed text cannot be retracted.
    if (!isSilent || refused.type === 'native') throw cause
    return await inWords(refused.format).run(request, sink, signal)
  }
}

interface Probe {
  /**
   * Resolves with the verdict, probing first if necessary; `undefined` if the probe was inconclusive or skipped.
   * @throws `cancelled`
   */
  verdict(signal: AbortSignalLike): Promise<ToolVerdict | undefined>
  /** Sets the verdict for later requests. */
  settle(found: ToolVerdict): ToolVerdict
}

/** A running probe and its number of waiters. */
interface Running {
  readonly done: Promise<ToolVerdict | undefined>
  readonly controller: AbortController
  waiting: number
}

function createProbe(model: Model, { format, deadlineMs = DEADLINE_MS, onVerdict }: ToolProbeOptions): Probe {
  let known: ToolVerdict | undefined
  let running: Running | undefined
  let unprobedNext = 0
  let unprobed = 0

  /**
   * A rejection counts even after the server accepted tools, since it may have been restarted. Text does not count
   * then: it may be a legitimate answer.
   */
  function settle(found: ToolVerdict): ToolVerdict {
    const isRefused = found.type === 'prompted' && found.reason === 'refused'
    if (known && (known.type === 'prompted' || !isRefused)) return known
    known = found.type === 'prompted' && format !== undefined ? { ...found, format } : found
    onVerdict?.(known)
    return known
  }

  function begin(): Running {
    const controller = new AbortController()
    const done = askProbe(model, controller, deadlineMs).then((found) => {
      if (running === begun) running = undefined
      if (found) return settle(found)
      if (controller.signal.aborted) return known
      unprobed = unprobedNext
      unprobedNext = Math.min(2 * unprobedNext + 2, UNPROBED_MAX)
      return known
    })
    const begun: Running = { done, controller, waiting: 0 }
    return begun
  }

  /** A probe outlives the request that started it as long as another one waits. */
  async function verdict(signal: AbortSignalLike): Promise<ToolVerdict | undefined> {
    if (known) return known
    if (signal.aborted) throw cancelledError(signal)
    if (!running && unprobed > 0) {
      unprobed -= 1
      return undefined
    }
    running ??= begin()
    const joined = running
    joined.waiting += 1
    try {
      return await unlessAborted(joined.done, signal)
    } finally {
      joined.waiting -= 1
      if (joined.waiting === 0) joined.controller.abort()
      if (joined.waiting === 0 && running === joined) running = undefined
    }
  }
  return { verdict, settle }
}

/** Never rejects. Cuts off a rambling model, and abandons a model that ignores its signal. */
async function askProbe(
  model: Model,
  controller: AbortController,
  deadlineMs: number,
): Promise<ToolVerdict | undefined> {
  const enough = new AbortController()
  const usual = chooseFormat(model)
  const signal = AbortSignal.any([controller.signal, enough.signal, AbortSignal.timeout(deadlineMs)])
  let text = ''
  const sink = (event: ModelEvent): void => {
    if (event.type !== 'text-delta' || signal.aborted) return
    text += event.text
    if (text.length > PROBE_TEXT_MAX) enough.abort()
  }
  try {
    return readProbeAnswer(await unlessAborted(model.run(PROBE_REQUEST, sink, signal), signal), usual)
  } catch (cause) {
    if (enough.signal.aborted) return readProbeText(text, usual)
    return refusesTools(cause) ? { type: 'prompted', reason: 'refused', format: usual } : undefined
  }
}

/** @throws BatonError `cancelled` */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignalLike): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(cancelledError(signal))
    const end = (): void => signal.removeEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    work.then(resolve, reject).then(end, end)
  })
}
