// Controls of a session on a server: go back, copy, show usage, answer questions.
import type { SessionClient, SessionMessage } from '@baton/client'
import type { Usage } from '@baton/core/internal'
import { addUsage, BatonError } from '@baton/core/internal'
import type { SessionControls } from '../terminal/conversation.ts'
import type { RemoteTurns } from './remote-turns.ts'

/** Messages per page from the server. */
const PAGE = 200

export function createRemoteControls(client: SessionClient, turns: RemoteTurns): SessionControls {
  return {
    retry: async () => {
      findLast(client, 'assistant')
      const sent = client.regenerate()
      const turn = turns.begin(sent, 'anew')
      await sent.accepted
      return turn
    },
    undo: async () => {
      const last = findLast(client, 'user')
      await client.rewind({ message: last.id }).accepted
      if (last.role !== 'user') return ''
      return last.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
    },
    fork: () => client.fork(),
    tools: () => ['the tools run on the server; their calls are shown here'],
    status: async () => {
      const { model, context } = await client.info()
      return { model, context }
    },
    usage: async () => {
      while (await client.older(PAGE));
      let usage: Usage | undefined
      for (const message of client.getSnapshot().messages)
        if (message.role === 'assistant' && message.usage) usage = addUsage(usage, message.usage)
      return usage ?? {}
    },
    answer: (answer) => client.answer(answer),
  }
}

/** @throws BatonError `unknown_input` if there is no message yet */
function findLast(client: SessionClient, role: SessionMessage['role']): SessionMessage {
  const last = client.getSnapshot().messages.findLast((message) => message.role === role)
  if (last) return last
  throw new BatonError({
    code: 'unknown_input',
    message: 'this session has no messages yet',
    hint: 'Send a message first.',
  })
}
