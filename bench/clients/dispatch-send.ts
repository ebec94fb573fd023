// Sends with undici's `dispatch`, its cheapest API, which Baton's own transport also uses.
import { Agent } from 'undici'
import type { Send } from './bare-turn.ts'
import { HEADERS } from './bare-turn.ts'

export function createDispatchSend(
  base: string,
  path = 'v1/messages',
): { readonly send: Send; readonly close: () => Promise<void> } {
  const agent = new Agent({ keepAliveTimeout: 60_000 })
  const { origin, pathname } = new URL(`${base}/${path}`)
  const send: Send = (body, onBytes) =>
    new Promise((resolve, reject) => {
      agent.dispatch(
        { origin, path: pathname, method: 'POST', headers: HEADERS, body },
        {
          onRequestStart: () => {},
          onResponseStart: () => {},
          onResponseData: (_controller, bytes) => onBytes(bytes),
          onResponseEnd: () => resolve(),
          onResponseError: (_controller, error) => reject(error),
        },
      )
    })
  return { send, close: () => agent.close() }
}
