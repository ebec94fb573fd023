// Checks an answer before the machine sees it: the agent's `checkAnswer` accepts it or not. That is foreign code, which
// may throw or hang; then the answer is not accepted, and the turn ends.
import type {
  AnsweredCall,
  AnswerVerdict,
  FinishReason,
  JsonValue,
  Message,
  ModelRequest,
  Principal,
} from '@baton/core/internal'
import { BatonError, describeValue, isJsonObject, isLegalName, parseJson } from '@baton/core/internal'
import type { AnswerCheck, OutputCheck } from '@baton/core/machine'
import { findMissing, TEXT_SEPARATOR } from '@baton/core/machine'
import { within } from '../deadline.ts'
import { describeThrown, hideSecrets } from '../describe-thrown.ts'
import { copyMessage, readConversation } from './request.ts'
import type { ModelJob } from './jobs.ts'
import type { OutputReader } from './output.ts'
import type { ModelIo, WorkContext } from './work.ts'

/** Time limit of `checkAnswer`, in milliseconds. */
const CHECK_MS = 30_000
/** UTF-16 units of a reason, and of the title that a person sees. */
const REASON_CHARS = 4000
const TITLE_CHARS = 200
/** People who may decide on one answer. */
const PEOPLE_MAX = 32

export interface SaidAnswer {
  readonly job: ModelJob
  readonly io: Pick<ModelIo, 'history'>
  readonly request: Pick<ModelRequest, 'messages'>
  /** The step's text. */
  readonly text: string
  readonly finish: FinishReason
  readonly reader: OutputReader | undefined
}

interface Judged {
  readonly output?: OutputCheck
  readonly answer?: AnswerCheck
}

/** Never rejects. Validates the schema first: an answer that does not fit is not checked. */
export async function judgeAnswer(context: WorkContext, said: SaidAnswer): Promise<Judged> {
  const output = await said.reader?.check(said.text)
  const isFit = typeof output?.issue !== 'string' && said.finish !== 'refusal' && said.text.trim() !== ''
  const answer = isFit ? await checkAnswer(context, said) : undefined
  return { ...(output && { output }), ...(answer && { answer }) }
}

/** Returns undefined if the agent checks nothing, or a required tool has not run. */
async function checkAnswer(context: WorkContext, said: SaidAnswer): Promise<AnswerCheck | undefined> {
  const { agent, timers, log } = context
  if (!agent.checkAnswer || findMissing(agent, said.job.done).length > 0) return undefined
  const error = (): BatonError => new BatonError({ code: 'internal', message: `it timed out after ${CHECK_MS} ms` })
  try {
    return readVerdict(await within(timers, { timeoutMs: CHECK_MS, error }, ask(context, said)))
  } catch (cause) {
    const why = hideSecrets(describeThrown(cause), context.secrets)
    log.warn('an answer could not be checked', { session: said.job.session, cause: why })
    return { verdict: 'failed', message: `checkAnswer of agent "${agent.name}" failed: ${why}` }
  }
}

async function ask(context: WorkContext, said: SaidAnswer): Promise<unknown> {
  const { agent, services } = context
  const { job, io, request, text, reader } = said
  const { session, principal, refusals = 0 } = job
  const told = await readConversation(context, session, io.history.turnMessages())
  return await agent.checkAnswer?.(
    reader
      ? { text, output: await reader.read(text) }
      : { text: [...io.history.turnTexts().map((step) => step.text), text].join(TEXT_SEPARATOR), output: undefined },
    {
      session,
      agent: agent.name,
      principal: { id: principal },
      services,
      refusals,
      calls: listCalls(told),
      messages: request.messages.map(copyMessage),
    },
  )
}

function listCalls(messages: readonly Message[]): readonly AnsweredCall[] {
  const inputs = new Map<string, JsonValue>()
  const calls: AnsweredCall[] = []
  for (const { parts } of messages)
    for (const part of parts)
      if (part.type === 'call') inputs.set(part.callId, readInput(part.arguments))
      else if (part.type === 'result') {
        const { callId, name, isError, content } = part
        calls.push({ callId, name, input: inputs.get(callId) ?? {}, ok: !isError, content })
      }
  return calls
}

function readInput(text: string): JsonValue {
  const parsed = parseJson(text)
  return parsed.ok ? parsed.value : text
}

/** Validates the verdict, since it goes into a record. @throws BatonError `invalid_agent` */
function readVerdict(given: unknown): AnswerCheck {
  const verdict = given as AnswerVerdict | undefined // of any shape: each field is checked
  if (verdict === 'accept') return { verdict: 'accept' }
  if (isJsonObject(verdict) && Object.keys(verdict).length > 0) {
    const { again, ask: asks, title, by, ...rest } = verdict as Readonly<Record<string, unknown>>
    const isPlain = Object.keys(rest).length === 0
    if (isPlain && isReason(again) && asks === undefined && title === undefined && by === undefined)
      return { verdict: 'again', reason: again.slice(0, REASON_CHARS).toWellFormed() }
    if (isPlain && isReason(asks) && again === undefined && isTitle(title) && isPeople(by))
      return {
        verdict: 'ask',
        reason: asks.slice(0, REASON_CHARS).toWellFormed(),
        ...(title !== undefined && { title: title.slice(0, TITLE_CHARS).toWellFormed() }),
        ...(by && { by: by.map(({ id }) => id) }),
      }
  }
  throw new BatonError({
    code: 'invalid_agent',
    message: `it returned ${describeValue(given)}, which is not a verdict; use 'accept', { again: 'why' } or { ask: 'why', title, by: [{ id: 'who' }] }`,
  })
}

function isReason(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}

function isTitle(value: unknown): value is string | undefined {
  return value === undefined || isReason(value)
}

function isPeople(value: unknown): value is readonly Principal[] | undefined {
  if (value === undefined) return true
  const isPrincipal = (one: unknown): boolean => isJsonObject(one) && isLegalName(one['id'])
  return Array.isArray(value) && value.length > 0 && value.length <= PEOPLE_MAX && value.every(isPrincipal)
}
