// The inbox over HTTP: requests that the caller may decide in sessions of all owners, and the decisions. The caller reads a
// conversation only if the deciders of its request may.
import type { ApprovalPage, ApprovalQuery, Decision, FrontSession, WaitingApproval } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import { encodeEvent } from './event-response.ts'
import type { Call, HandlerParts } from './handler-parts.ts'
import { answerJson, answerRefusal, answerView } from './http-errors.ts'
import { answerLive } from './live-answer.ts'
import { refuseHidden } from './operator-powers.ts'
import { openFor } from './operators.ts'
import { readFlag, readNumber, readObjectBody, readWords } from './requests.ts'
import { createInvalid } from './ui-messages.ts'

/** Methods of an address below `/approvals`; none if it does not exist. */
export function listApprovalMethods(session?: string, approval?: string, part?: string): readonly string[] {
  if (session === undefined) return ['GET']
  if (approval === undefined) return []
  return part === undefined ? ['GET', 'POST'] : part === 'messages' ? ['GET'] : []
}

export async function answerApprovals(
  parts: HandlerParts,
  call: Call,
  [, session, approval = '', part]: readonly string[],
): Promise<Response> {
  if (!parts.host.approvals) return answerRefusal(501, 'invalid_option', 'this host has no inbox')
  if (session === undefined) {
    const wantsEvents = call.request.headers.get('accept')?.includes('text/event-stream') === true
    return wantsEvents ? watchInbox(parts, call) : answerView(call, await parts.host.approvals(readQuery(call)))
  }
  if (call.request.method === 'POST') return await decide(parts, call, { session, approval })
  const found = await findRequest(parts, call, { session, approval })
  return part === 'messages'
    ? await showMessages(parts, call, found)
    : answerView(call, await readWhole(parts, call, found))
}

interface Place {
  readonly session: string
  readonly approval: string
}

async function decide(parts: HandlerParts, call: Call, { session, approval }: Place): Promise<Response> {
  const { decide: decideIn } = parts.host
  if (!decideIn) return answerRefusal(501, 'invalid_option', 'this host has no inbox')
  const body = await readObjectBody(call)
  if ('approvalId' in body) throw createInvalid('the address names the request; leave approvalId out')
  const decision = { ...body, approvalId: approval } as unknown as Decision // the session decodes it
  refuseHidden(decision, call.powers)
  if (call.powers.has('decide')) await decideAsOwner(parts, call, session, decision)
  else await decideIn(session, decision, { by: call.principal })
  return answerJson(200, { ok: true })
}

async function decideAsOwner(parts: HandlerParts, call: Call, id: string, decision: Decision): Promise<void> {
  const session = (await openFor(parts, call, id, 'decide')) as FrontSession // it is opened for an act
  try {
    await session.decide(decision)
  } finally {
    await session.close()
  }
}

/** @throws BatonError `approval_refused` */
async function findRequest(
  { host }: HandlerParts,
  { principal, powers }: Call,
  place: Place,
): Promise<WaitingApproval> {
  const query = { session: place.session, limit: 200 }
  const isIt = ({ approvalId }: WaitingApproval): boolean => approvalId === place.approval
  const isOperator = powers.has('see') || powers.has('decide')
  for (const whose of isOperator ? [{}] : [{ decider: principal }, { principal }]) {
    const found = (await host.approvals?.({ ...query, ...whose }))?.approvals.find(isIt)
    if (found) return found
  }
  throw new BatonError({
    code: 'approval_refused',
    message: `${place.approval}: there is no such request that this principal may decide`,
    hint: 'It was decided, withdrawn or has expired, or others decide it. List the open ones again.',
  })
}

/**
 * Adds the arguments and differences that lists leave out. Opens the session as its owner, for a caller who may see the
 * request.
 */
async function readWhole({ host }: HandlerParts, { powers }: Call, found: WaitingApproval): Promise<WaitingApproval> {
  if (!found.cut) return found
  const view = powers.size > 0 && (await host.views?.open(found.session))
  const session = view || (await host.session(found.session, { principal: found.principal, existing: true }))
  try {
    const open = (await session.approvals()).find(({ approvalId }) => approvalId === found.approvalId)
    if (!open) return found
    const { cut: _, ...rest } = found
    return { ...rest, ...open }
  } finally {
    await session.close()
  }
}

async function showMessages(parts: HandlerParts, call: Call, found: WaitingApproval): Promise<Response> {
  const { url, principal, powers } = call
  if (!powers.has('see') && !found.deciders?.reads && found.principal.id !== principal.id)
    return answerRefusal(403, 'unauthorized', 'the deciders of this request may not read its conversation')
  const before = url.searchParams.get('before')
  const limit = readNumber(url, 'limit')
  const session = powers.has('see')
    ? await openFor(parts, call, found.session, 'see')
    : await parts.host.session(found.session, { principal: found.principal, existing: true })
  try {
    const page = await session.messages({ ...(before !== null && { before }), ...(limit !== undefined && { limit }) })
    return answerView(call, { messages: page.messages.map(call.show), more: page.more })
  } finally {
    await session.close()
  }
}

/** Streams the first page, now and whenever it changes. */
function watchInbox(parts: HandlerParts, call: Call): Response {
  const { host } = parts
  if (!host.watchApprovals) return answerRefusal(501, 'invalid_option', 'this host has no inbox')
  const { cursor, ...query } = readQuery(call)
  if (cursor !== undefined) throw createInvalid('an event stream has the first page; leave cursor out')
  const pages = host.watchApprovals(query)[Symbol.asyncIterator]()
  return answerLive<ApprovalPage>(parts, call, {
    next: async () => {
      const { done, value } = await pages.next()
      return done === true ? undefined : [value]
    },
    encode: (page) => encodeEvent(call.write(page)),
    leave: () => void pages.return?.(),
  })
}

/** The caller's requests to decide; with `asked=true` those of the caller's own sessions, whoever decides them. */
function readQuery({ url, principal, powers }: Call): ApprovalQuery {
  const limit = readNumber(url, 'limit')
  const isOperator = powers.has('see') || powers.has('decide')
  const whose = readFlag(url, 'asked') ? { principal } : { decider: principal }
  return {
    ...(isOperator && readFlag(url, 'all') ? {} : whose),
    ...readWords(url, ['agent', 'tool', 'order', 'cursor']), // the host checks them
    ...(limit !== undefined && { limit }),
  }
}
