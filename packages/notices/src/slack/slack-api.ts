// Slack's Web API: one method at a time over `fetch`. It does not try again; the outbox of notices and Slack's own retries do.
import type { Clock, JsonObject, Timers } from '@baton/core/internal'
import { BatonError, isBatonError, isJsonObject, parseJson } from '@baton/core/internal'
import { readRetryAfter } from '../shared/retry-after.ts'

export interface SlackApiOptions {
  readonly botToken: string
  readonly apiUrl: string
  readonly fetch: typeof fetch
  readonly clock: Clock
  readonly timers: Timers
}

export interface SlackApi {
  /**
   * @throws BatonError `api_refused` (Slack's word for it in `data.error`), `api_unauthorized` (the token), `api_rate_limited`
   * (`data.retryAfterMs`), `api_failed`, `api_unavailable`, `api_malformed`
   */
  call(method: string, args: JsonObject, signal?: AbortSignal): Promise<JsonObject>
}

/** Milliseconds for a call without a signal. */
const TIMEOUT_MS = 15_000
/** Slack's words that say that the token does not work. */
const TOKEN_ERRORS: ReadonlySet<string> = new Set([
  'invalid_auth',
  'not_authed',
  'account_inactive',
  'token_revoked',
  'token_expired',
])
const WORDS = 300

export function createSlackApi({ botToken, apiUrl, fetch: send, clock, timers }: SlackApiOptions): SlackApi {
  /** The time until which Slack wants no call of a method. */
  const limitedMs = new Map<string, number>()
  return {
    call: async (method, args, given) => {
      const waitMs = (limitedMs.get(method) ?? 0) - clock.nowMs()
      if (waitMs > 0) throw limited(method, waitMs)
      const headers = { authorization: `Bearer ${botToken}`, 'content-type': 'application/json; charset=utf-8' }
      const own = new AbortController()
      const stop = given ? undefined : timers.start(TIMEOUT_MS, () => own.abort(new Error('it did not answer in time')))
      const signal = given ?? own.signal
      const init = { method: 'POST', headers, body: JSON.stringify(args), redirect: 'error', signal } as const
      let response: Response
      let text: string
      try {
        response = await send(`${apiUrl}${method}`, init)
        text = await response.text()
      } catch (cause) {
        const why = cause instanceof Error ? cause.message : String(cause)
        throw new BatonError({ code: 'api_unavailable', message: `Slack could not be reached: ${why.slice(0, WORDS)}` })
      } finally {
        stop?.()
      }
      const answer = readAnswer(method, { response, text, nowMs: clock.nowMs() })
      if (!isBatonError(answer)) return answer
      const { retryAfterMs } = answer.data
      if (typeof retryAfterMs === 'number') limitedMs.set(method, clock.nowMs() + retryAfterMs)
      throw answer
    },
  }
}

interface Answered {
  readonly response: Pick<Response, 'status' | 'headers'>
  readonly text: string
  readonly nowMs: number
}

/** Slack says with status 200 that it refuses. */
function readAnswer(method: string, { response, text, nowMs }: Answered): JsonObject | BatonError {
  const { status, headers } = response
  const parsed = parseJson(text)
  const answer = parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined
  const error = typeof answer?.['error'] === 'string' ? answer['error'] : undefined
  if (status === 429 || error === 'ratelimited' || error === 'rate_limited')
    return limited(method, readRetryAfter(headers.get('retry-after'), nowMs))
  if (status >= 500) return new BatonError({ code: 'api_failed', message: `Slack answered ${method} with ${status}` })
  if (answer?.['ok'] === true) return answer
  if (error === undefined)
    return new BatonError({ code: 'api_malformed', message: `Slack answered ${method} with ${status} and no result` })
  const code = TOKEN_ERRORS.has(error) ? 'api_unauthorized' : 'api_refused'
  const details = JSON.stringify(answer?.['response_metadata'] ?? '').slice(0, WORDS)
  const more = details === '""' ? '' : `: ${details}`
  return new BatonError({ code, message: `Slack refused ${method}: ${error}${more}`, data: { error } })
}

function limited(method: string, retryAfterMs: number | undefined): BatonError {
  const data = retryAfterMs === undefined ? {} : { retryAfterMs }
  return new BatonError({ code: 'api_rate_limited', message: `Slack limits ${method}`, data })
}
