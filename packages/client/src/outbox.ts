// Messages that may have to be sent again: the user's, until the server shows that it has them, and results of the
// turn.
import type { Connection } from './connection.ts'
import type { ToolResult } from './tool-calls.ts'

export interface Outbox {
  /** @throws Error if too many texts are waiting */
  say(text: string): void
  /** The server has this text: it need not be sent again. */
  forget(text: string): void
  /** Kept until `settle`: version 1 acknowledges nothing, and a call with an effect is never sent a second time. */
  answer(result: ToolResult): void
  /** Reports that a display call is done. It is not kept, because no caller waits for it. */
  acknowledge(result: ToolResult): void
  /** The turn has ended: its results need not be sent again. */
  settle(): void
  /** The connection is back. Texts keep their ids and results those of their calls, so the server accepts each once. */
  flush(): void
}

/** Maximum waiting texts and results. */
const WAITING_MAX = 100

export function createOutbox(send: Connection['send'], newId: () => string): Outbox {
  let said: readonly { readonly id: string; readonly text: string }[] = []
  let results: readonly ToolResult[] = []

  const sendText = (id: string, text: string): boolean =>
    send(id, { type: 'user.audio.transcript.final', payload: { text } })

  const sendResult = (result: ToolResult): boolean => send(newId(), { type: 'tool.result', payload: result })
  return {
    say: (text) => {
      if (said.length >= WAITING_MAX) throw new Error(`${WAITING_MAX} texts are already waiting`)
      const id = newId()
      said = [...said, { id, text }]
      sendText(id, text)
    },
    forget: (text) => {
      const known = said.findIndex((waiting) => waiting.text === text)
      said = said.filter((_, index) => index !== known)
    },
    answer: (result) => {
      results = [...results, result].slice(-WAITING_MAX)
      sendResult(result)
    },
    acknowledge: sendResult,
    settle: () => {
      results = []
    },
    flush: () => {
      for (const { id, text } of said) sendText(id, text)
      for (const result of results) sendResult(result)
    },
  }
}
