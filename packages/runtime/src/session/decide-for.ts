// Decisions of people about requests in sessions of other owners. The inbox says who may decide; the machine checks it
// again.
import type { Host, SessionDirectory } from '@baton/core/internal'
import { checkFields, decodeDecision, BatonError } from '@baton/core/internal'
import { readPerson } from './details.ts'
import type { Directory } from './session-directory.ts'
import { createPrincipalError } from './session-list.ts'

const FIELDS = {
  what: 'the third argument of decide',
  code: 'invalid_option',
  fields: new Set(['by']),
  elsewhere: { principal: 'by', decider: 'by' },
} as const

/** Decides over a host's sessions. */
export function decideFor(host: Pick<Host, 'session'>, directory: Directory): SessionDirectory['decide'] {
  return async (id, decision, options) => {
    checkFields({ ...options }, FIELDS) // programs without types may leave them out
    const by = readPerson({ ...options }.by, 'by')
    if (!by) throw createPrincipalError(by, 'by')
    const decoded = decodeDecision(decision)
    if (!decoded.ok) throw new BatonError(decoded.refusal)
    const owner = await directory.findRequest(id, decoded.value.approvalId, by)
    const session = await host.session(id, { principal: owner, existing: true })
    try {
      return await session.decide(decision, { principal: by })
    } finally {
      await session.close()
    }
  }
}
