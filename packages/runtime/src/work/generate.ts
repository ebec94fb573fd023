// A tool's request to a model, without the conversation and without tools, over the turn's models in fallback order.
import type {
  AbortSignalLike,
  Generated,
  GenerateRequest,
  JsonObject,
  Message,
  Model,
  ModelRequest,
  Schema,
  Usage,
} from '@baton/core/internal'
import {
  addUsage,
  BatonError,
  checkFields,
  checkKinds,
  decodeModelAnswer,
  decodeModelSettings,
  decodeUserInput,
  isBatonError,
  toObjectSchema,
} from '@baton/core/internal'
import { describeFailure } from '../describe-thrown.ts'
import type { ToolJob } from './jobs.ts'
import { addPrice, joinText } from './model-work.ts'
import { createOutputReader } from './output.ts'
import { addOutput } from './request.ts'
import type { ToolIo, WorkContext } from './work.ts'

/** Maximum requests of one run of a tool. */
const TIMES = 20
const WHAT = 'context.generate'
const FIELDS = new Set(['prompt', 'instructions', 'output', 'model', 'maxOutputTokens'])

/** The tool run that makes the request. */
interface Asking {
  readonly context: WorkContext
  readonly job: ToolJob
  readonly io: Pick<ToolIo, 'used'>
  /** The tool's signal, whose listeners may throw. */
  readonly signal: AbortSignalLike
}

/** Adds up the cost of every answer, including unusable ones. */
interface Spending {
  usage: Usage | undefined
}

/**
 * @param times number of requests of this run, including this one
 * @throws BatonError as documented on `ToolContext.generate`
 */
export async function generate(asking: Asking, request: GenerateRequest, times: number): Promise<Generated> {
  const { context, job } = asking
  if (times > TIMES) throw refuse(`a tool may call generate ${TIMES} times per run`)
  const asked = createAsked(asking, request)
  const schema = request.output && toObjectSchema(`${WHAT}: output`, request.output)
  const models = request.model === undefined ? job.models : [request.model]
  if (models.length === 0)
    throw new BatonError({
      code: 'unknown_model',
      message: `${WHAT}: no turn is running, so name a model in \`model\``,
    })
  const spending: Spending = { usage: undefined }
  for (const [index, id] of models.entries())
    try {
      return await askModel(asking, { id, output: request.output, schema, asked, spending })
    } catch (cause) {
      // An answer that does not fit is not the model's failure, and a cancelled tool calls no other model.
      if (isBatonError(cause) && (cause.code === 'invalid_output' || cause.code === 'cancelled')) throw cause
      const { code, message, retryable, retryAfterMs } = describeFailure(cause, context.secrets)
      context.log.warn('a model request of a tool failed', {
        session: job.session,
        callId: job.callId,
        model: id,
        code,
      })
      if (retryable && index < models.length - 1) continue
      const data = retryAfterMs === undefined ? {} : { retryAfterMs }
      throw new BatonError({ code, message, retryable, data, cause })
    }
  throw refuse('no model is configured') // unreachable: the last one answered or failed
}

interface Question {
  readonly id: string
  readonly output: Schema | undefined
  /** The schema as JSON Schema. */
  readonly schema: JsonObject | undefined
  readonly asked: ModelRequest
  readonly spending: Spending
}

async function askModel(asking: Asking, { id, output, schema, asked, spending }: Question): Promise<Generated> {
  const { context } = asking
  const model = context.modelOf(id)
  const ask = async (messages: readonly Message[]): Promise<string> => {
    const plain = { ...asked, messages }
    const whole = schema ? addOutput({ name: context.agent.name, model, schema }, plain) : plain
    return await askOnce(asking, { model, id, spending }, whole)
  }
  const text = await ask(asked.messages)
  const give = (said: string, value: unknown): Generated => ({
    text: said,
    value,
    model: id,
    usage: spending.usage ?? {},
  })
  if (!output) return give(text, undefined)
  const reader = createOutputReader(output, context.validator)
  const { issue } = await reader.check(text)
  if (issue === null) return give(text, await reader.read(text))
  const again = await ask([
    ...asked.messages,
    { role: 'assistant', parts: [{ type: 'text', text: text === '' ? '(nothing)' : text }] },
    { role: 'user', parts: [{ type: 'text', text: `That answer is wrong: ${issue}\nGive the whole answer again.` }] },
  ])
  return give(again, await reader.read(again))
}

/** Returns the text of one answer. */
async function askOnce(
  { context, io, signal }: Asking,
  { model, id, spending }: { readonly model: Model; readonly id: string; readonly spending: Spending },
  request: ModelRequest,
): Promise<string> {
  const answer = await unlessAborted(signal, async () => await model.run(request, () => {}, signal))
  const decoded = decodeModelAnswer(answer, context.agent.limits)
  if (!decoded.ok) throw new BatonError(decoded.refusal)
  const usage = addPrice(context, { model: id }, decoded.value.usage)
  spending.usage = addUsage(spending.usage, usage)
  io.used(id, usage)
  return joinText(decoded.value.parts)
}

/** Stops waiting on abort, since a model may ignore its signal. */
async function unlessAborted<Value>(signal: AbortSignalLike, run: () => Promise<Value>): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = (): void => reject(new BatonError({ code: 'cancelled', message: 'the call has ended' }))
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([promise, signal.aborted ? promise : run()])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** @throws BatonError `invalid_option` */
function createAsked({ context, job }: Asking, request: GenerateRequest): ModelRequest {
  checkFields(request, { what: WHAT, code: 'invalid_option', fields: FIELDS })
  const kinds = { instructions: 'text', model: 'text' } as const
  checkKinds(request, { what: WHAT, code: 'invalid_option', kinds })
  const decoded = decodeUserInput(request.prompt)
  if (!decoded.ok) throw refuse(`prompt: ${decoded.refusal.message}`)
  if (decoded.value.every((part) => part.type === 'text' && part.text === '')) throw refuse('prompt must not be empty')
  const { instructions = '', maxOutputTokens } = request
  const own = decodeModelSettings({ ...(maxOutputTokens !== undefined && { maxOutputTokens }) })
  if (!own.ok) throw refuse(own.refusal.message)
  // Provider tools and tool choice belong to the agent's own steps.
  const { serverTools: _, toolChoice: _choice, ...settings } = context.agent.settings
  return {
    instructions,
    messages: [{ role: 'user', parts: decoded.value }],
    tools: [],
    toolChoice: { type: 'none' },
    settings: { ...settings, ...own.value, cache: 'off' },
    session: job.session,
  }
}

function refuse(message: string): BatonError {
  return new BatonError({ code: 'invalid_option', message: `${WHAT}: ${message}` })
}
