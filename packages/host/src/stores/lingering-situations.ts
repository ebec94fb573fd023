// Chats that linger in one of two processes over a store, for each store that processes share.
import { expect } from 'vitest'
import type { ChatProcess, Said } from './chat-process.test-kit.ts'
import { startChatProcess } from './chat-process.test-kit.ts'

/** Situations by name. `place` is that of an empty store. */
export const LINGERING_SITUATIONS: Readonly<Record<string, (place: string) => Promise<void>>> = {
  'messages in one process read no log, and another process continues the chat with its first message': (place) =>
    withProcesses(place, async (one, two) => {
      await one.say('m1')
      for (const messages of [2, 3, 4])
        expect(await one.say(`m${messages}`)).toEqual({ outcome: 'answer', messages, acquired: 0, read: 0 })
      for (let messages = 5; messages < 15; messages++) {
        const said = await (messages % 2 ? two : one).say(`m${messages}`)
        expect(said).toMatchObject({ outcome: 'answer', messages, acquired: 1 })
      }
    }),
  'a chat of a process that was killed while it lingered continues in another at once': (place) =>
    withProcesses(place, async (one, two) => {
      await two.say('m1')
      await two.say('m2')
      await two.kill()
      expect(await one.say('m3')).toMatchObject({ outcome: 'answer', messages: 3 })
    }),
  'two messages in the same moment: one process answers, the other one answers or says that the session is held': (
    place,
  ) =>
    withProcesses(place, async (one, two) => {
      let answered = 0
      for (let round = 0; round < 15; round++) {
        const said: readonly Said[] = await Promise.all([one.say(`a${round}`), two.say(`b${round}`)])
        const outcomes = said.map(({ outcome }) => outcome)
        expect(['answer', 'session_held']).toEqual(expect.arrayContaining(outcomes))
        expect(outcomes).toContain('answer')
        answered += outcomes.filter((outcome) => outcome === 'answer').length
      }
      const last = await one.say('last')
      expect(last).toMatchObject({ outcome: 'answer', messages: answered + 1 })
    }),
}

async function withProcesses(place: string, act: (one: ChatProcess, two: ChatProcess) => Promise<void>): Promise<void> {
  const one = await startChatProcess(place)
  const two = await startChatProcess(place)
  try {
    await act(one, two)
  } finally {
    for (const process of [one, two]) await process.stop()
  }
}
