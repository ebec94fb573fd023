// Wire ids of one request's calls: the server's own id if the call came from there, otherwise Baton's id made valid.
// Each is unique, although servers repeat or omit ids.
import type { CallPart, ResultPart } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import { sha256 } from '@noble/hashes/sha2.js'
import type { OpenAiChatQuirks } from './quirks.ts'

export interface CallIds {
  callId(call: CallPart): string
  resultId(result: ResultPart): string
}

/** `responses`: the rule of the Responses API. */
export type CallIdRule = OpenAiChatQuirks['callIds'] | 'responses'

const LEGAL: Readonly<Record<CallIdRule, RegExp>> = {
  // 400 "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40".
  any: /^[a-zA-Z0-9_-]{1,40}$/,
  // 400 "Invalid 'input[1].call_id': string too long. Expected a string with maximum length 64".
  responses: /^[a-zA-Z0-9_-]{1,64}$/,
  mistral: /^[a-zA-Z0-9]{9}$/,
}

export function createCallIds(provider: string, rule: CallIdRule): CallIds {
  const wireIds = new Map<string, string>()
  const taken = new Set<string>()
  const assign = (callId: string, wish: string): string => {
    let id = LEGAL[rule].test(wish) ? wish : hashed(wish, rule)
    for (let count = 2; taken.has(id); count++) id = hashed(`${count} ${callId} ${wish}`, rule)
    taken.add(id)
    wireIds.set(callId, id)
    return id
  }
  return {
    callId(call) {
      const data = call.state?.provider === provider ? call.state.data : undefined
      const own = isJsonObject(data) && typeof data['id'] === 'string' && data['id'] !== '' ? data['id'] : call.callId
      return assign(call.callId, own)
    },
    resultId: (result) => wireIds.get(result.callId) ?? assign(result.callId, result.callId),
  }
}

/** Depends on the id alone, so that a history and a server's cache stay valid across requests. */
function hashed(id: string, rule: CallIdRule): string {
  const hex = Array.from(sha256(new TextEncoder().encode(id)), (byte) => byte.toString(16).padStart(2, '0')).join('')
  return rule === 'mistral' ? hex.slice(0, 9) : `call_${hex.slice(0, 24)}`
}
