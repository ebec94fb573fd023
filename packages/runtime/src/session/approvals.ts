// Approvals that wait for a person, own ones and those of sessions below, as they are shown.
import type { JsonObject, PendingApproval } from '@baton/core/internal'
import { isJsonObject, parseJson, readAbout } from '@baton/core/internal'
import type { History, Relayed, State } from '@baton/core/machine'
import { findRelayed, openTasks } from '@baton/core/machine'

/** An approval of a folded session. */
export type OpenApproval = PendingApproval & { readonly askedMs: number }

export function listApprovals(state: State, history: History): readonly OpenApproval[] {
  const calls = [...openTasks(state), ...(state.step?.calls ?? [])]
  const own = calls.flatMap(({ callId, name, state: is, approval, ...rest }) => {
    if (is !== 'awaiting-approval' || !approval) return []
    const { id: approvalId, askedMs, deadline } = approval
    const call = history.openCall(callId)
    const who = describeDeciders(rest)
    return [{ ...describeAsked(call), approvalId, callId, name, askedMs, expiresAtMs: deadline.atMs, ...who }]
  })
  const below = listOpen(state, history).flatMap(
    ({ id: approvalId, asking, path, expiresAtMs }): readonly OpenApproval[] => {
      if (asking.type !== 'approval') return []
      const { callId, name } = asking
      const { askedMs = 0, asked = {} } = findRelayed(state, approvalId) ?? {}
      const who = describeDeciders(asked)
      return [{ ...describeAsked(asking), approvalId, callId, name, askedMs, expiresAtMs, ...who, path }]
    },
  )
  return [...own, ...below]
}

/** The people of `checkAnswer` decide an answer. */
function describeDeciders({
  deciders,
  given,
  answer,
}: Pick<NonNullable<Relayed['asked']>, 'deciders' | 'given' | 'answer'>) {
  const who = answer?.by ? { people: answer.by } : deciders
  return { ...(who && { deciders: who }), ...(given && { given: given.map((id) => ({ id })) }) }
}

/** Requests of sessions below that wait for a person here. */
export function listOpen({ relayed }: State, history: History) {
  if (relayed.length === 0) return []
  const waiting = new Set(relayed.flatMap(({ id, isDecided }) => (isDecided ? [] : id)))
  return history
    .relayed()
    .flatMap(({ expiresAtMs, ...one }) =>
      expiresAtMs !== undefined && waiting.has(one.id) ? [{ ...one, expiresAtMs }] : [],
    )
}

function describeAsked(call: { readonly arguments: string; readonly about?: JsonObject } | undefined) {
  const parsed = parseJson(call?.arguments ?? '{}')
  const input = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
  return { ...(call?.about && readAbout(call.about)), input }
}
