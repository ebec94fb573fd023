// A connected app, as its front represents it: each method submits one input to the session.
import type { Accepted, ClientConnection, ConnectionOptions, Principal, Refused } from '@baton/core/internal'
import type { ClientReport, UserCommand } from '@baton/core/machine'

type Submit = (input: UserCommand | ClientReport) => Promise<Accepted | Refused>

export function openConnection(submit: Submit, principal: Principal, init: ConnectionOptions): ClientConnection {
  const { connection, sequential = false, claims = false, reportsPlayback = false, asks = false } = init
  const can = { sequential, claims, reportsPlayback, asks }
  return {
    attach: () => submit({ type: 'client-attached', connection, principal: principal.id, ...can }),
    detach: () => submit({ type: 'client-detached', connection }),
    say: (inputId, parts, options) => submit({ type: 'user-input', inputId, parts, asks, ...options }),
    interrupt: (reason, heard) => submit({ type: 'interrupt', reason, heard }),
    result: (callId, outcome) => submit({ type: 'tool-result', callId, connection, outcome }),
    reached: (callId, offer) => submit({ type: 'call-reached', callId, offer }),
    missed: (callId, offer) => submit({ type: 'offer-failed', callId, offer }),
    display: (turn, chars) => submit({ type: 'display-written', turn, ...(chars !== undefined && { chars }) }),
  }
}
