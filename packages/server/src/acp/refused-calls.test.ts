// An editor that answers a client tool call with a JSON-RPC error, as the SDK does when its handler throws. The model
// reads the editor's own words at once. Expected: docs/editors.md.
import type { ClientApp } from '@agentclientprotocol/sdk'
import { RequestError } from '@agentclientprotocol/sdk'
import type { CallView, Session } from '@baton/core'
import { frontOf } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { defineAgent, tool } from '@baton/host'
import { afterEach, expect, test } from 'vitest'
import type { TestEditor } from './acp.test-kit.ts'
import { startEditor } from './acp.test-kit.ts'
import { CALL_TOOL, CLIENT_TOOLS } from './wire.ts'
import { createEditor } from './editor.ts'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

type Answer = (signal: AbortSignal) => object | Promise<object>

interface Called extends TestEditor {
  readonly session: Session
  /** Resolves when the turn has ended, or the connection. */
  readonly ended: Promise<unknown>
  call(): Promise<CallView | undefined>
}

/** Starts a turn whose one call, with ten minutes to run, is sent to an editor. */
async function call(answer?: Answer): Promise<Called> {
  const pick = tool({ name: 'pick', description: 'p', input: { type: 'object' }, effect: 'once', timeoutMs: 600_000 })
  const model = createScriptedModel({ steps: [{ calls: [{ name: 'pick', arguments: {} }] }, { text: 'Well.' }] })
  const listen = (app: ClientApp): ClientApp =>
    answer
      ? app.onRequest(
          CALL_TOOL,
          (params: unknown) => params,
          ({ signal }) => answer(signal),
        )
      : app
  const editor = await startEditor({
    agent: defineAgent({ name: 'shop', model, tools: [pick] }),
    capabilities: { _meta: { [CLIENT_TOOLS]: true } },
    app: listen,
  })
  ends.push(() => editor.stop())
  const id = await editor.open()
  const ended = editor.prompt(id, 'Pick').catch(() => {})
  const session = await editor.host.session(id, { principal: { id: 'local' } })
  const find = async (): Promise<CallView | undefined> => {
    const { messages } = await session.messages()
    return messages.flatMap((one) => (one.role === 'assistant' ? one.steps : [])).flatMap(({ calls }) => calls)[0]
  }
  return Object.assign(editor, { session, ended, call: find })
}

const REFUSALS: Readonly<Record<string, readonly [Answer | undefined, string]>> = {
  'its handler threw': [() => Promise.reject(new Error('the browser is gone')), 'Internal error: the browser is gone'],
  'it does not have the request': [undefined, `"Method not found": ${CALL_TOOL}`],
  'it refused with an error of its own': [
    () => Promise.reject(new RequestError(-32_000, 'no window is open', { code: 7 })),
    'no window is open',
  ],
  'it cancelled the call by itself': [() => Promise.reject(RequestError.requestCancelled()), 'Request cancelled'],
}

test.each(Object.entries(REFUSALS))(
  'a call that an editor refuses ends with its words: %s',
  async (_, [answer, words]) => {
    const { ended, call: find } = await call(answer)
    await ended
    expect(await find()).toMatchObject({
      status: 'settled',
      result: { type: 'error', code: 'tool_failed', message: words },
    })
  },
)

test('a long refusal is cut as a long error is', async () => {
  const { ended, call: find } = await call(() => Promise.reject(new RequestError(-32_000, 'x'.repeat(20_000))))
  await ended
  expect(await find()).toMatchObject({ result: { code: 'tool_failed', message: 'x'.repeat(10_000) } })
})

test('a call whose output is nested too deep ends with what is wrong with it', async () => {
  let output: unknown = 'red'
  for (let level = 0; level < 150; level += 1) output = [output]
  const { ended, call: find } = await call(() => ({ output }))
  await ended
  expect(await find()).toMatchObject({
    result: { code: 'result_invalid', message: expect.stringContaining('100 levels') as string },
  })
})

test('a call whose editor disconnects stays open, because it may still run there', async () => {
  const asked = Promise.withResolvers<void>()
  const { connection, call: find } = await call(() => {
    asked.resolve()
    return new Promise(() => {})
  })
  await asked.promise
  connection.close()
  await connection.ended
  expect(await find()).toMatchObject({ status: 'running' })
})

test('a call that was cancelled, and that the editor then refuses, has no second result', async () => {
  const asked = Promise.withResolvers<void>()
  const editor = await call(async (signal) => {
    asked.resolve()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    throw RequestError.requestCancelled()
  })
  await asked.promise
  await frontOf(editor.session).control('stop')
  await expect.poll(() => editor.wire.some(({ message }) => 'error' in message)).toBe(true)
  expect(await editor.call()).toMatchObject({ status: 'settled', result: { type: 'unknown' } })
  expect(editor.logged.filter((line) => line.includes('client tool'))).toEqual([])
})

test('a file that an editor cannot read is refused with its words', async () => {
  const gone = RequestError.internalError({ details: 'EACCES: /work/a is locked' })
  const { readTextFile } = createEditor({
    client: { request: () => Promise.reject(gone) },
    session: 's',
    capabilities: { fs: { readTextFile: true } },
    fileMs: 1000,
    timers: { start: () => () => {} },
    onTerminal: () => Promise.resolve(),
  })
  await expect(readTextFile?.('/work/a')).rejects.toMatchObject({
    code: 'tool_failed',
    message: 'the editor could not read the file: Internal error: EACCES: /work/a is locked',
  })
})
