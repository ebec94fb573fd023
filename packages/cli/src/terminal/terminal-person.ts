// The person at a terminal. While a turn runs, keys are kept for the next line and not shown, so that they do not
// appear within the answer.
import type { ChatHistory } from './chat-history.ts'
import type { TerminalOutput } from '../console.ts'
import type { Person } from './conversation.ts'
import type { LineEditorOptions } from './line-editor.ts'
import { createLineEditor } from './line-editor.ts'

export interface TerminalPersonOptions {
  readonly input: LineEditorOptions['input']
  readonly output: TerminalOutput
  readonly prompt: string
  /** Words completed by the tab key. */
  readonly completions: readonly string[]
  /** Called at Ctrl+C; `hadText` if it discarded a started line. */
  readonly onInterrupt: (hadText: boolean) => void
  /** History of this and earlier chats. */
  readonly history?: ChatHistory
}

const WAITING_MAX = 100

export function createTerminalPerson({ prompt, ...init }: TerminalPersonOptions): Person {
  /** Messages that were finished while a turn was running. */
  const waiting: string[] = []
  const editor = createLineEditor({
    ...init,
    onLine: (line) => {
      if (waiting.length < WAITING_MAX) waiting.push(line)
    },
    onEnd: () => {},
  })
  return {
    next: async () => {
      const [first] = waiting
      if (first === undefined) return await editor.readMessage(prompt)
      init.output.write(`${prompt}${first}\r\n`)
      return waiting.shift()
    },
    ask: (question, signal) => editor.readAnswer(question, signal),
    close: () => editor.close(),
  }
}
