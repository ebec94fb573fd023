// An editor over a WebSocket of the server: the SDK's own client, and sessions of one principal only.
import { client, methods } from '@agentclientprotocol/sdk'
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client'
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost } from '@baton/host'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createWebSocketFront } from '../websocket/index.ts'
import { createAcpSocket } from './socket.ts'

async function start() {
  const model = createScriptedModel({ steps: () => ({ text: 'Hello.' }) })
  const agent = defineAgent({ name: 'coder', model })
  const host = createHost({ agent })
  const front = createWebSocketFront(host, {
    port: 0,
    authenticate: (request) => ({
      id: new URL(request.url ?? '/', 'http://localhost').searchParams.get('who') ?? 'nobody',
    }),
    editors: createAcpSocket(host, { agent, models: [] }),
  })
  const { url } = await front.listen()
  const address = (who: string): string => `${url.replace(/\/ws$/, '/acp')}?who=${who}`
  const stop = async (): Promise<void> => {
    await front.close()
    await host.stop()
  }
  return { address, stop }
}

test('a turn over a WebSocket; another principal has other sessions', async () => {
  const { address, stop } = await start()
  const texts: string[] = []
  const play = async (who: string) => {
    const stream = createWebSocketStream(address(who), { WebSocket: WebSocket as never })
    const app = client().onNotification(methods.client.session.update, ({ params }) => {
      texts.push(JSON.stringify(params.update))
    })
    return await app.connectWith(stream, async (agent) => {
      const { agentCapabilities } = await agent.request(methods.agent.initialize, { protocolVersion: 1 })
      expect(agentCapabilities?.mcpCapabilities).toEqual({ http: false, sse: false })
      const { sessionId, configOptions } = await agent.request(methods.agent.session.new, {
        cwd: '/work',
        mcpServers: [],
      })
      // Remote users must not make choices that affect the server's costs.
      expect(configOptions?.map(({ id }) => id)).toEqual(['mode', 'model'])
      const prompt = [{ type: 'text' as const, text: 'Hi' }]
      expect(await agent.request(methods.agent.session.prompt, { sessionId, prompt })).toEqual({
        stopReason: 'end_turn',
      })
      const { sessions } = await agent.request(methods.agent.session.list, {})
      return { sessionId, listed: sessions.map((session) => session.sessionId) }
    })
  }
  const ann = await play('ann')
  const bob = await play('bob')
  expect(ann.listed).toEqual([ann.sessionId])
  expect(bob.listed).toEqual([bob.sessionId])
  expect(texts.join()).toContain('Hello.')
  await stop()
})

test.each([
  ['an option that does not exist', { modles: [] }, 'modles'],
  ['no agent', { agent: undefined }, 'needs an agent'],
])('%s is refused when the server is set up, not when the first editor connects', async (_what, wrong, words) => {
  const agent = defineAgent({ name: 'coder', model: createScriptedModel({ steps: [] }) })
  const host = createHost({ agent })
  const options = { agent, ...wrong } as { readonly agent: typeof agent } // wrong on purpose
  expect(() => createAcpSocket(host, options)).toThrow(
    expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining(words) }),
  )
  await host.stop()
})

test('frames that are not messages are answered', async () => {
  const { address, stop } = await start()
  const socket = new WebSocket(address('ann'))
  await once(socket, 'open')
  socket.send('nonsense')
  const [answer] = (await once(socket, 'message')) as [Buffer]
  expect(JSON.parse(answer.toString())).toMatchObject({ id: null, error: { code: -32_700 } })
  socket.close()
  await stop()
})
