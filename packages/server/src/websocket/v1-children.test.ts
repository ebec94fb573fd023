// An app of version 1 in front of an agent that asks others: it runs client tools of agents below that its own agent has
// too, and a call below that needs a person is denied at once.
import { expect, test } from 'vitest'
import { callsOf, createApproved, createTeam, lastRead, place } from '../shared/team.test-kit.ts'
import { connectApp, startForTest } from './test-server.test-kit.ts'

const SAID = 'user.audio.transcript.final'

test('a client tool of an agent below is a tool.call with the id of its call', async () => {
  const { agent, helper } = createTeam({
    steps: [callsOf('place'), { text: 'Seen.' }],
    tools: [place],
    boss: { tools: [place] },
  })
  const { url } = await startForTest({ agent })
  const app = await connectApp(url)
  app.send(SAID, { text: 'Where?' })
  const { payload } = await app.until(({ type, payload: { name } }) => type === 'tool.call' && name === 'place')
  app.send('tool.result', { callId: payload['callId'], result: 'Rome' })
  const { payload: answer } = await app.until(({ type }) => type === 'assistant.speech.final')
  expect(answer['text']).toBe('Done.')
  expect(lastRead(helper)).toContain('Rome')
  app.socket.close()
})

test('an app that connects again runs the call below that it had not answered', async () => {
  const { agent, helper } = createTeam({
    steps: [callsOf('place'), { text: 'Seen.' }],
    tools: [place],
    boss: { tools: [place] },
  })
  const { url } = await startForTest({ agent })
  const first = await connectApp(url)
  first.send(SAID, { text: 'Where?' })
  const isCall = ({
    type,
    payload: { name },
  }: {
    readonly type: string
    readonly payload: Readonly<Record<string, string>>
  }) => type === 'tool.call' && name === 'place'
  const { payload: before } = await first.until(isCall)
  first.socket.close()
  await first.ended
  const second = await connectApp(url)
  second.send('tool.result', { callId: before['callId'], result: 'Rome' })
  await second.until(({ type }) => type === 'assistant.speech.final')
  expect(lastRead(helper)).toContain('Rome')
  second.socket.close()
})

test('a call below that needs a person is denied at once, since an app of version 1 cannot show it', async () => {
  const ran: string[] = []
  const { agent, helper } = createTeam({
    steps: [callsOf('pay'), { text: 'I may not.' }],
    tools: [createApproved(ran, 'pay')],
  })
  const { url } = await startForTest({ agent })
  const app = await connectApp(url)
  app.send(SAID, { text: 'Pay.' })
  await app.until(({ type }) => type === 'assistant.speech.final')
  expect(ran).toEqual([])
  expect(lastRead(helper)).toContain('"isError":true')
  app.socket.close()
})
