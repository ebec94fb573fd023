// Measurements other than turns: long histories, requests with many messages, idle connections, reopening a session,
// messages of a chat over HTTP, agents that ask others, pages of messages, lists of sessions, retained memory, reading calls in words.
import type { Measured } from '../measure.ts'
import { measureAcquires } from './acquires.ts'
import { measureChat, measureChatTime } from './chat.ts'
import { measureChildren } from './children.ts'
import { measureEncode } from './encode.ts'
import { measureHistory } from './history.ts'
import { measureIdle } from './idle.ts'
import { measureLists } from './lists.ts'
import { measurePages } from './pages.ts'
import { measurePostgres } from './postgres.ts'
import { measureResume } from './resume.ts'
import { measureRetained } from './retained.ts'
import { measureWords } from './words.ts'

export interface SessionMeasurement {
  readonly name: string
  /** The unit. */
  readonly label: string
  measure(origin: string, rounds: number): Promise<readonly Measured[]>
}

export const SESSION_MEASUREMENTS: readonly SessionMeasurement[] = [
  { name: 'history', label: 'µs an input', measure: measureHistory },
  { name: 'encode', label: 'µs a request', measure: measureEncode },
  { name: 'idle', label: 'KiB a connection', measure: measureIdle },
  { name: 'acquires', label: 'ms for 500', measure: measureAcquires },
  { name: 'postgres', label: 'ms for 500', measure: measurePostgres },
  { name: 'resume', label: 'ms to open', measure: measureResume },
  { name: 'chat', label: 'ms of CPU a message', measure: measureChat },
  { name: 'chat-time', label: 'ms a message', measure: measureChatTime },
  { name: 'children', label: 'ms of CPU for eight tasks', measure: measureChildren },
  { name: 'pages', label: 'ms a page', measure: measurePages },
  { name: 'lists', label: 'ms of CPU a page', measure: measureLists },
  { name: 'retained', label: 'KiB', measure: measureRetained },
  { name: 'words', label: 'ms an answer', measure: measureWords },
]
