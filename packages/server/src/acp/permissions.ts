// Approvals as permission requests: the choices offered, and the decision that an answer means.
import type { Decision, JsonObject, JsonValue, PendingApproval } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import { nameAgents } from '../shared/calls-below.ts'

export interface PermissionChoice {
  readonly optionId: 'allow' | 'allow-always' | 'reject' | 'reject-always'
  readonly name: string
  readonly kind: 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always'
}

/** The call as a person sees it. */
export type AskedCall = Omit<PendingApproval, 'approvalId' | 'expiresAtMs' | 'input'> & { readonly input: JsonValue }

export interface PermissionAsked {
  readonly approvalId: string
  readonly call: AskedCall
  readonly choices: readonly PermissionChoice[]
}

/** Key in `_meta` where a client may put a changed input for a call it allows. */
export const EDITED_INPUT = 'baton/input'
/** Key in `_meta` for a reason. */
export const REASON = 'baton/reason'
const REASON_CHARS = 1000

/** An "always" decision applies to calls of the same tool in this session, made by the same agent. */
export function listChoices({ name: tool, asked, path }: AskedCall): readonly PermissionChoice[] {
  const name = path ? nameAgents(path, tool) : tool
  return [
    { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
    // A policy's question is remembered per destination; without a destination, the approval covers just this call.
    ...(asked === undefined || asked.destination !== undefined
      ? [{ optionId: 'allow-always', name: nameAlways(name, asked?.destination), kind: 'allow_always' } as const]
      : []),
    { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
    { optionId: 'reject-always', name: `Always reject ${name} in this session`, kind: 'reject_always' },
  ]
}

function nameAlways(name: string, destination: string | undefined): string {
  const where = destination === undefined ? '' : ` for ${destination.slice(0, 80)}`
  return `Always allow ${name}${where} in this session`
}

/** Reads the client's answer, whatever its shape. A dismissed request is denied. */
export function readDecision({ approvalId, choices }: PermissionAsked, answer: unknown): Decision {
  const { outcome, _meta: meta } = isJsonObject(answer) ? answer : {}
  const { outcome: how, optionId } = isJsonObject(outcome) ? outcome : {}
  const chosen = how === 'selected' ? choices.find((choice) => choice.optionId === optionId) : undefined
  if (!chosen) return { approvalId, decision: 'deny', reason: 'the request was dismissed' }
  const said = readMeta(meta)
  const reason = said.reason === undefined ? {} : { reason: said.reason }
  const remember = chosen.kind.endsWith('always') ? ({ remember: 'tool' } as const) : {}
  if (chosen.kind.startsWith('reject')) return { approvalId, decision: 'deny', ...reason, ...remember }
  // The person saw the changed input for this one call.
  if (said.input) return { approvalId, decision: 'edit', input: said.input, ...reason }
  return { approvalId, decision: 'approve', ...reason, ...remember }
}

function readMeta(meta: unknown): { readonly input?: JsonObject; readonly reason?: string } {
  if (!isJsonObject(meta)) return {}
  const { [EDITED_INPUT]: input, [REASON]: reason } = meta
  return {
    ...(isJsonObject(input) && { input }),
    ...(typeof reason === 'string' && reason.trim() !== '' && { reason: reason.slice(0, REASON_CHARS) }),
  }
}
