// A conversation of a soak through a version 2 client, like a transcribing browser.
import type { NotifyOptions, SentInput } from '@baton/client'
import { openSession } from '@baton/client'
import type { Talk } from './converse.ts'

export interface ClientTalkOptions {
  readonly url: string
  readonly session: string
  /** Called with every error except that of an input sent while the agent was stopped. */
  readonly onError: (code: string) => void
}

/** Resolves immediately: messages wait for the connection. */
export async function openClientTalk({ url, session, onError }: ClientTalkOptions): Promise<Talk> {
  const client = openSession({ url, session, asks: false })
  client.on('error', ({ code }) => {
    if (code !== 'session_stopped') onError(code)
  })
  let isStopped = false
  let answer = Promise.resolve(true)
  const follow = async (sent: SentInput): Promise<void> => {
    answer = sent.answer.then(
      () => true,
      () => false,
    )
    await sent.accepted
  }
  return {
    push: (speaker, text) => follow(client.hear(speaker, text)),
    event: ({ name, detail, isInterrupt }) => {
      const event: NotifyOptions = { name, detail, label: 'Negotiation Event' }
      return follow(client.notify(isInterrupt ? { ...event, delivery: 'interrupt' } : event))
    },
    pause: () => client.control('pause'),
    stop: async () => {
      isStopped = true
      await client.control('stop')
    },
    start: async () => {
      await client.control(isStopped ? 'start' : 'continue')
      isStopped = false
    },
    rest: () => answer,
    close: async () => client.close(),
  }
}
