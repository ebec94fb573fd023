// Turns approvals and questions of a call into MCP elicitations: each becomes a form, and the client's answer decides
// it.
import type { CallView, JsonObject, JsonValue, Session } from '@baton/core/internal'
import { BatonError, isBatonError, isJsonObject, parseJson } from '@baton/core/internal'
import type { ElicitRequestFormParams } from '@modelcontextprotocol/server'

export type Waiting = {
  readonly id: string
  readonly callId: string
  /** The number of this request in the turn, from 1; a new one each time it is repeated for a task. */
  readonly n: number
} & (
  | { readonly type: 'approval'; readonly call: CallView }
  | { readonly type: 'question'; readonly message: string; readonly schema: JsonObject }
)

/** Maximum characters of a call's input and of its title in an approval. */
const INPUT_CHARS = 4_000
const REASON_CHARS = 1_000
const KEY = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

/** A name for the request, unique in its call: the title of a question's schema, if it is a valid name. */
export function nameRequest(waiting: Waiting): string {
  const title = waiting.type === 'question' ? waiting.schema['title'] : undefined
  const usual = waiting.type === 'question' ? 'answer' : 'approval'
  const name = typeof title === 'string' && KEY.test(title) ? title : usual
  return waiting.n === 1 ? name : `${name}_${waiting.n}`
}

export function toElicitation(waiting: Waiting): ElicitRequestFormParams {
  if (waiting.type === 'approval')
    return { mode: 'form', message: describeApproval(waiting.call), requestedSchema: APPROVAL }
  const { message, schema } = waiting
  // `toForm` has checked its properties, which the SDK's type cannot express.
  return { mode: 'form', message, requestedSchema: toForm(schema) as ElicitRequestFormParams['requestedSchema'] }
}

const APPROVAL: ElicitRequestFormParams['requestedSchema'] = {
  type: 'object',
  properties: {
    approve: { type: 'boolean', title: 'Allow the call' },
    reason: { type: 'string', title: 'Reason, if you deny it', maxLength: REASON_CHARS },
  },
  required: ['approve'],
}

function describeApproval({ name: tool, title, input, diff, path = [] }: CallView): string {
  const name = [...path.map(({ agent }) => agent), tool].join(' › ')
  const files = diff?.map(({ path }) => path) ?? []
  const lines = [
    `May ${title === undefined ? name : `${title} (${name})`} be called?`,
    JSON.stringify(input).slice(0, INPUT_CHARS),
    ...(files.length > 0 ? [`It changes ${files.join(', ')}.`] : []),
  ]
  return lines.join('\n')
}

/**
 * Returns what is wrong with the answer if the client may answer again, and `undefined` if it was accepted or
 * arrived too late.
 */
export async function decideWaiting(session: Session, waiting: Waiting, answer: unknown): Promise<string | undefined> {
  const { action, content } = isJsonObject(answer) ? answer : {}
  const given = action === 'accept' && isJsonObject(content) ? content : undefined
  if (action === 'accept' && !given) return 'the answer has no content'
  if (action !== 'accept' && action !== 'decline' && action !== 'cancel')
    return 'the action of an answer must be "accept", "decline" or "cancel"'
  try {
    if (waiting.type === 'approval') await decideApproval(session, waiting.id, given, action)
    else await answerQuestion(session, waiting, given, action)
    return undefined
  } catch (cause) {
    if (!isBatonError(cause)) throw cause
    const isOpen = await stillWaits(session, waiting)
    return isOpen ? cause.message : undefined
  }
}

async function stillWaits(session: Session, { type, id }: Waiting): Promise<boolean> {
  if (type === 'approval') return (await session.approvals()).some(({ approvalId }) => approvalId === id)
  return (await session.questions()).some(({ questionId }) => questionId === id)
}

async function decideApproval(
  session: Session,
  approvalId: string,
  given: JsonObject | undefined,
  action: string,
): Promise<void> {
  const approve = given?.['approve']
  if (given && typeof approve !== 'boolean')
    throw new BatonError({ code: 'approval_refused', message: 'the answer needs "approve": true or false' })
  const said = given?.['reason']
  const reason = action === 'cancel' ? 'the question was dismissed' : typeof said === 'string' ? said.trim() : ''
  await session.decide({
    approvalId,
    decision: approve === true ? 'approve' : 'deny',
    ...(reason !== '' && { reason: reason.slice(0, REASON_CHARS) }),
  })
}

async function answerQuestion(
  session: Session,
  { id: questionId, schema }: Extract<Waiting, { readonly type: 'question' }>,
  given: JsonObject | undefined,
  action: string,
): Promise<void> {
  if (!given) {
    const dismissed = action === 'cancel' ? { reason: 'the question was dismissed' } : {}
    await session.answer({ questionId, decline: true, ...dismissed })
    return
  }
  await session.answer({ questionId, value: isForm(schema) ? given : readJsonField(given) })
}

function readJsonField({ json }: JsonObject): JsonValue {
  const parsed = parseJson(typeof json === 'string' ? json : '')
  if (parsed.ok) return parsed.value
  throw new BatonError({ code: 'question_refused', message: 'the field "json" is not JSON' })
}

/** Schema keywords that MCP allows in a form. Others are dropped; Baton checks the answer against the whole schema. */
const FORM_FIELDS: ReadonlySet<string> = new Set([
  'type',
  'title',
  'description',
  'default',
  'enum',
  'enumNames',
  'oneOf',
  'items',
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
])
const FORMATS: ReadonlySet<unknown> = new Set(['email', 'uri', 'date', 'date-time'])
const PRIMITIVES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean'])

/** MCP forms are flat. A schema that is not flat becomes one field that takes JSON. */
function toForm(schema: JsonObject): JsonObject {
  const properties = readProperties(schema)
  if (!properties)
    return {
      type: 'object',
      properties: {
        json: {
          type: 'string',
          title: 'The answer as JSON',
          description: `Must match this schema: ${JSON.stringify(schema).slice(0, INPUT_CHARS)}`,
        },
      },
      required: ['json'],
    }
  const { required } = schema
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, pickFields(property)])),
    ...(Array.isArray(required) && { required }),
  }
}

function pickFields(property: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(property).filter(
      ([name, value]) => FORM_FIELDS.has(name) || (name === 'format' && FORMATS.has(value)),
    ),
  )
}

function isForm(schema: JsonObject): boolean {
  return readProperties(schema) !== undefined
}

/** Returns `undefined` if a property is not text, a number, a boolean or a choice. */
function readProperties({ properties = {} }: JsonObject): Readonly<Record<string, JsonObject>> | undefined {
  if (!isJsonObject(properties)) return undefined
  const found: Record<string, JsonObject> = {}
  for (const [name, property] of Object.entries(properties)) {
    if (!isJsonObject(property)) return undefined
    const { type, items } = property
    const isChoice = type === 'array' && isJsonObject(items) && ('enum' in items || 'anyOf' in items)
    if (!PRIMITIVES.has(type) && !isChoice) return undefined
    found[name] = property
  }
  return found
}
