// Messages that may have to be sent again: the user's, until the server shows that it has them, and results of the turn.
import type { Connection } from './connection.ts'
import type { ToolResult } from './tool-calls.ts'

export interface Outbox {
  /** @throws Error when too many texts wait */
  say(text: string): void
  /** The server has this text: it need not be sent again. */
  forget(text: string): void
  /** Kept until `settle`: version 1 acknowledges nothing, and a call with an effect is never sent a second time. */
  answer(result: ToolResult): void
  /** Tells that a display call is done. Nobody waits for it, so it is not kept. */
  acknowledge(result: ToolResult): void
  /** The turn is over: its results need not be sent again. */
  settle(): void
  /** There is a connection again. Texts keep their ids and results those of their calls, so the server takes each once. */
  flush(): void
}

/** Texts and results that may wait. */
const WAITING_MAX = 100

export function createOutbox(send: Connection['send'], newId: () => string): Outbox {
  let said: readonly { readonly id: string; readonly text: string }[] = []
  let results: readonly ToolResult[] = []

  const sendText = (id: string, text: string): boolean =>
    send(id, { type: 'user.audio.transcript.final', payload: { text } })

  const sendResult = (result: ToolResult): boolean => send(newId(), { type: 'tool.result', payload: result })
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
