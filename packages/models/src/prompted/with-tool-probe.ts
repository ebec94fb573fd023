// A model of which nobody knows whether its server takes tools: before the first request that has some a small one finds out,
// for all sessions. A server that does not is asked for calls in words from then on.
import type { AbortSignalLike, Model, ModelAnswer, ModelEvent, ModelRequest } from '@baton/core'
import { BatonError } from '@baton/core'
import { cancelledError } from '../transport/transport-errors.ts'
import type { PromptedFormatName } from './formats.ts'
import { chooseFormat, promptedFormat } from './formats.ts'
import type { ToolVerdict } from './tool-probe.ts'
import { PROBE_REQUEST, PROBE_TEXT_MAX, readProbeAnswer, readProbeText, refusesTools } from './tool-probe.ts'
import { asksForTools, withPromptedTools } from './with-prompted-tools.ts'

export interface ToolProbeOptions {
  /** How calls are written where tools are asked for in words; by default as the model wrote one to the probe, else by its name. */
  readonly format?: PromptedFormatName
  /** Milliseconds for the probe, 180 s by default: a local server loads its model first. */
  readonly deadlineMs?: number
  /** Told once what was found, and again if the server refuses tools later. */
  readonly onVerdict?: (verdict: ToolVerdict) => void
}

const DEADLINE_MS = 180_000
/** Longest wait of a timer: 24 days. */
const DEADLINE_MS_MAX = 2 ** 31 - 1
/** Requests that go without a probe after several in a row have found nothing: 0, 2, 6, 14 … at most so many. */
const UNPROBED_MAX = 62

/**
 * The model, with calls of its own where its server takes tools and with `withPromptedTools` where not. What was found is
 * kept with this object: a server that is started anew with other flags is asked by a new one. A probe that fails (network,
 * key, limits, deadline) finds nothing; then the request goes as it is, and a later one probes again.
 *
 * Requests without tools go at once. The probe's tokens are in no request's usage.
 * @throws BatonError `invalid_option` for an option that cannot be; from a request: `cancelled` when the caller's signal aborts while it waits for the probe; as the model does
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

function checkOptions({ format, deadlineMs = DEADLINE_MS }: ToolProbeOptions): void {
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

/** One model for each format, which keeps what it has written. */
function createInWords(model: Model): Probed['inWords'] {
  const models = new Map<PromptedFormatName, Model>()
  return (format) => {
    const known = models.get(format) ?? withPromptedTools(model, { format })
    models.set(format, known)
    return known
  }
}

/** Real requests are evidence too: one that is answered with a call, and one that is refused for its tools. */
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
    // Streamed text cannot be taken back.
    if (!isSilent || refused.type === 'native') throw cause
    return await inWords(refused.format).run(request, sink, signal)
  }
}

interface Probe {
  /** Resolves with the verdict, after the probe if there was none. Undefined: it found nothing, or it is not its turn. @throws `cancelled` */
  verdict(signal: AbortSignalLike): Promise<ToolVerdict | undefined>
  /** Sets the verdict from now on. */
  settle(found: ToolVerdict): ToolVerdict
}

/** One probe under way, and who waits for it. */
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

  /** A server that refuses tools is believed also after it took some: it was started anew. Words are not: it may answer so. */
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

  /** A probe outlives whoever began it as long as somebody else waits. */
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

/** Never rejects. A model that rambles is cut short; one that does not hear its signal is left alone. */
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
