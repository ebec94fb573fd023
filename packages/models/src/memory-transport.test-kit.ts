// An in-memory provider for tests of single adapters: records requests and answers with one body.
import type { BatonError, HttpHead, HttpRequest, ModelRequest, Transport } from '@baton/core/internal'
import { isBatonError } from '@baton/core/internal'

export const HELLO: ModelRequest = {
  instructions: '',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
  tools: [],
  toolChoice: { type: 'auto' },
  settings: { maxOutputTokens: 512 },
  session: 's',
}

export const JSON_TYPE = { headers: { 'content-type': 'application/json' } }

export interface Provider {
  readonly transport: Transport
  readonly clock: { nowMs(): number }
  readonly sent: readonly HttpRequest[]
}

/** An answer in one or more pieces, by default a stream with status 200. */
export function answerWith(head: Partial<HttpHead>, ...pieces: readonly (string | Uint8Array)[]): Provider {
  const sent: HttpRequest[] = []
  const answered: HttpHead = {
    status: 200,
    headers: { 'content-type': 'text/event-stream', 'x-request-id': 'req_1', 'request-id': 'req_1' },
    ...head,
  }
  const transport: Transport = {
    post(http, _signal, onBytes) {
      sent.push(http)
      return new Promise((resolve) => {
        for (const piece of pieces) onBytes(Buffer.from(piece), answered)
        resolve(answered)
      })
    },
  }
  return { transport, clock: { nowMs: () => 0 }, sent }
}

export async function takeError(answer: Promise<unknown>): Promise<BatonError> {
  const thrown = await answer.catch((error: unknown) => error)
  if (!isBatonError(thrown)) throw new Error('no BatonError')
  return thrown
}
