// Passes a delivery on to the server that holds its session. That server checks Slack's signature itself.
import type { Timers } from '@baton/core/internal'
import { isBatonError } from '@baton/core/internal'

/** Returns the other server's answer; undefined if `cause` names no server, or it did not take the delivery. Never rejects. */
export type PassOn = (cause: unknown) => Promise<Response | undefined>

/** A delivery that came from another server is not passed on again. */
const PASSED = 'x-baton-passed-on'
const HEADERS = ['content-type', 'x-slack-signature', 'x-slack-request-timestamp']
/** Milliseconds for the other server, of the 3,000 that Slack waits. */
const ANSWER_MS = 2000

export function createPassOn(
  { headers, url }: Pick<Request, 'headers' | 'url'>,
  body: Uint8Array<ArrayBuffer>,
  timers: Timers,
): PassOn {
  return async (cause) => {
    const holder = headers.has(PASSED) ? undefined : findHolder(cause)
    if (!holder) return undefined
    const sent = Object.fromEntries(HEADERS.map((name) => [name, headers.get(name) ?? '']))
    const late = new AbortController()
    const stop = timers.start(ANSWER_MS, () => late.abort())
    try {
      const answer = await fetch(new URL(new URL(url).pathname, holder), {
        method: 'POST',
        headers: { ...sent, [PASSED]: '1' },
        body,
        redirect: 'error',
        signal: late.signal,
      })
      const type = answer.headers.get('content-type')
      const text = await answer.text()
      return answer.ok ? new Response(text, { headers: type === null ? {} : { 'content-type': type } }) : undefined
    } catch {
      return undefined
    } finally {
      stop()
    }
  }
}

/** The address of the host that holds the session, for HTTP: servers may publish `ws:` or `wss:`. */
function findHolder(cause: unknown): URL | undefined {
  const address = isBatonError(cause) && cause.code === 'session_held' ? cause.data['address'] : undefined
  return typeof address === 'string' ? (URL.parse(address.replace(/^ws(s?):/, 'http$1:')) ?? undefined) : undefined
}
