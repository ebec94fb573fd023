// Errors sent to an app of version 1 reveal nothing about the server's machine.
import type { ErrorCode, Host } from '@baton/core/internal'
import { BatonError, ERROR_CODES } from '@baton/core/internal'
import { afterEach, expect, test } from 'vitest'
import { encodeAppError } from '../shared/app-errors.ts'
import { connectApp, startServer } from './test-server.test-kit.ts'

let stop = (): Promise<void> => Promise.resolve()
afterEach(() => stop())

const SECRETS = [
  'the store /var/lib/baton/sessions.db failed: SQLITE_IOERR',
  'session s is held by host h1 at ws://10.0.0.5:8080',
  'INSERT INTO baton.records violates "records_pkey" (postgres://baton@db.internal/baton)',
]
/** Codes about the machine, the store, the provider or the program. */
const UNTOLD = [
  ...(['store_failed', 'store_gone', 'store_locked', 'store_conflict', 'session_held', 'log_damaged'] as const),
  ...(['log_version_unknown', 'clock_implausible', 'connection_failed', 'host_stopped', 'internal'] as const),
  ...(['invalid_agent', 'invalid_tool', 'invalid_option', 'context_overflow', 'model_auth_failed'] as const),
] satisfies readonly ErrorCode[]

test.each(UNTOLD)('the text of a %s stays on the server, the code goes to the app', async (code) => {
  for (const message of SECRETS) {
    const host: Host = {
      session: () => Promise.reject(new BatonError({ code, message })),
      stop: () => Promise.resolve(),
    }
    const server = await startServer({ host, limits: { heldMs: 0 } })
    stop = server.stop
    const app = await connectApp(server.url)
    const { payload } = await app.until(({ type }) => type === 'error')
    const told = code.startsWith('model_') ? 'model_provider_failed' : code
    expect(payload).toEqual({
      code: told,
      message: code === 'internal' ? 'the server failed' : ERROR_CODES[code].meaning,
    })
    expect(JSON.stringify(app.frames)).not.toContain(message)
    const line = server.logged.find((one) => one.startsWith('a frame could not be processed'))
    expect(line).toContain(JSON.stringify(message))
    expect(line).toContain(`"code":"${code}"`)
    app.socket.terminate()
    await server.stop()
  }
})

test('mistakes of the app are reported with their values; an unknown code gets no detail', () => {
  const tooMuch = { code: 'quota_exceeded', message: 'an address may have 3 turns at once' }
  expect(encodeAppError(tooMuch)).toEqual(tooMuch)
  expect(encodeAppError({ code: 'toString', message: '/etc/passwd' })).toEqual({
    code: 'toString',
    message: 'the server failed',
  })
})
