// What waits for a connection: what the user said, until the server shows that it has it, and results.
import type { Connection } from './connection.ts'
import type { ToolResult } from './tool-calls.ts'

export interface Outbox {
  /** @throws Error when too many texts wait */
  say(text: string): void
  /** The server has this text: it need not be sent again. */
  forget(text: string): void
  answer(result: ToolResult): void
  /** There is a connection again. Texts keep their ids, so the server takes each once. */
  flush(): void
}

/** Texts and results that may wait. */
const WAITING_MAX = 100

export function createOutbox(send: Connection['send'], newId: () => string): Outbox {
  let said: readonly { readonly id: string; readonly text: string }[] = []
  let results: readonly ToolResult[] = []

  const sendText = (id: string, text: string): boolean =>
    send(id, { type: 'user.audio.transcript.final', payload: { text } })

  const answer = (result: ToolResult): void => {
    if (send(newId(), { type: 'tool.result', payload: result })) return
    results = [...results, result].slice(-WAITING_MAX)
  }
  return {
    say: (text) => {
      if (said.length >= WAITING_MAX) throw new Error(`${WAITING_MAX} texts wait for the server already`)
      const id = newId()
      said = [...said, { id, text }]
      sendText(id, text)
    },
    forget: (text) => {
      const known = said.findIndex((waiting) => waiting.text === text)
      said = said.filter((_, index) => index !== known)
    },
    answer,
    flush: () => {
      for (const { id, text } of said) sendText(id, text)
      const waiting = results
      results = []
      for (const result of waiting) answer(result)
    },
  }
}
