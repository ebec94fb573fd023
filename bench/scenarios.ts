// The measured scenarios: the provider's path, how turns are started, the expected results of each, and the unit of its
// cost. A path is `text-<deltas>-<mode>` or `tools-<rounds>-<calls at once>-<deltas at the end>-<mode>`; modes: b all
// in one write, e one write per event, p one write per event 2 ms apart, l the same with the write time in each delta.
import { PIECE_CHARS } from './provider/wire.ts'

export interface Scenario {
  readonly name: string
  readonly says: string
  readonly path: string
  readonly atOnce: number
  /** Characters and calls that a turn must produce; the characters of timed streams vary. */
  readonly chars?: number
  readonly tools: number
  /** Approximate duration of a batch in milliseconds. */
  readonly batchMs: number
  readonly unit: Unit
  readonly clients: readonly ClientName[]
  /** The client that the others are compared with. */
  readonly floor: ClientName
}

/** `cpu`: CPU time of the client's process divided by `per`; less is better for all but `turns/s`. */
export type Unit =
  | { readonly type: 'cpu'; readonly per: number; readonly label: string; readonly scale: number }
  | { readonly type: 'turns/s'; readonly label: string }
  | { readonly type: 'delay'; readonly label: string }

export const BARE_CLIENTS = ['floor-http', 'floor-dispatch', 'floor-fetch'] as const
export const BATON_CLIENTS = ['baton', 'baton-new-session', 'baton-sqlite'] as const
export const PEERS = ['pi-agent', 'anthropic-tool-runner', 'openai-agents', 'ai-sdk'] as const
export const SERVERS = ['relay', 'baton-websocket'] as const
/**
 * Chats over HTTP with the AI SDK's stream, compared with version 1, which sends the whole text at most once in 50 ms.
 */
export const CHAT_SERVERS = ['relay-chat', 'baton-chat', 'baton-websocket'] as const
/** Wires whose adapter is measured alone, compared with a bare reader of the same wire. */
export const WIRES = ['messages', 'responses', 'chat', 'gemini', 'converse'] as const
export type WireName = (typeof WIRES)[number]
/** Wires whose vendor SDK can also pass on the bare events, without concatenating the answer. */
const EVENTS_WIRES = ['messages', 'responses', 'chat'] as const
export type EventsWireName = (typeof EVENTS_WIRES)[number]
export type ClientName =
  | `adapter:${WireName}`
  | `bare:${WireName}`
  | `sdk:${WireName}`
  | `sdk-events:${EventsWireName}`
  | (typeof BARE_CLIENTS)[number]
  | (typeof BATON_CLIENTS)[number]
  | (typeof PEERS)[number]
  | (typeof SERVERS)[number]
  | (typeof CHAT_SERVERS)[number]

const DELTAS = 2000
const PACED_DELTAS = 200
const TIMED_DELTAS = 20
const ROUNDS = 5
const CALLS = 2
const LAST_DELTAS = 50
const TOOLS_PATH = `tools-${ROUNDS}-${CALLS}-${LAST_DELTAS}-b`

const IN_PROCESS = { clients: [...BARE_CLIENTS, ...BATON_CLIENTS, ...PEERS], floor: 'floor-fetch' } as const
const OVER_WEBSOCKET = { clients: SERVERS, floor: 'relay' } as const
const OVER_HTTP = { clients: CHAT_SERVERS, floor: 'relay-chat' } as const
const ONE_BY_ONE = { atOnce: 1, tools: 0, batchMs: 250 } as const
const perDelta = (deltas: number): Unit => ({ type: 'cpu', per: deltas, label: 'µs of CPU a delta', scale: 1000 })
const PER_ROUND: Unit = { type: 'cpu', per: ROUNDS, label: 'ms of CPU a tool round', scale: 1 }
const PER_TURN: Unit = { type: 'cpu', per: 1, label: 'ms of CPU a turn', scale: 1 }
const TURNS: Unit = { type: 'turns/s', label: 'turns a second' }

const text = { path: `text-${DELTAS}-b`, chars: DELTAS * PIECE_CHARS, unit: perDelta(DELTAS) }
const tools = { path: TOOLS_PATH, chars: LAST_DELTAS * PIECE_CHARS, tools: ROUNDS * CALLS, unit: PER_ROUND }
const tiny = { path: 'text-1-b', chars: PIECE_CHARS, unit: PER_TURN }
const paced = {
  path: `text-${PACED_DELTAS}-p`,
  atOnce: 10,
  batchMs: 1000,
  chars: PACED_DELTAS * PIECE_CHARS,
  unit: perDelta(PACED_DELTAS),
}

/** One scenario for each wire, all with the same name: the wires are not compared with each other. */
const ADAPTERS = WIRES.map((wire): Scenario => {
  const floor = `bare:${wire}` as const
  const events = EVENTS_WIRES.filter((one) => one === wire).map((one) => `sdk-events:${one}` as const)
  const clients = [floor, `adapter:${wire}`, ...events, `sdk:${wire}`] as const
  return { name: 'adapters', says: 'text, the model adapter alone', ...ONE_BY_ONE, ...text, clients, floor }
})

export const SCENARIOS: readonly Scenario[] = [
  { name: 'text', says: '2,000 deltas in one write', ...ONE_BY_ONE, ...IN_PROCESS, ...text },
  {
    name: 'texte',
    says: '2,000 deltas, a write each',
    ...ONE_BY_ONE,
    ...IN_PROCESS,
    ...text,
    path: `text-${DELTAS}-e`,
  },
  { name: 'paced', says: '10 streams of 200 deltas, 2 ms apart', ...ONE_BY_ONE, ...IN_PROCESS, ...paced },
  { name: 'tools', says: '5 rounds of 2 calls, then 50 deltas', ...ONE_BY_ONE, ...IN_PROCESS, ...tools },
  { name: 'tiny', says: 'a turn of one delta', ...ONE_BY_ONE, ...IN_PROCESS, ...tiny },
  {
    name: 'conc',
    says: 'text, 50 turns at once',
    ...ONE_BY_ONE,
    ...IN_PROCESS,
    ...text,
    atOnce: 50,
    batchMs: 1000,
    unit: TURNS,
  },
  {
    name: 'conct',
    says: 'tools, 50 turns at once',
    ...ONE_BY_ONE,
    ...IN_PROCESS,
    ...tools,
    atOnce: 50,
    batchMs: 1000,
    unit: TURNS,
  },
  {
    name: 'lat',
    says: 'from the provider’s write to the user',
    ...ONE_BY_ONE,
    ...IN_PROCESS,
    path: `text-${TIMED_DELTAS}-l`,
    unit: { type: 'delay', label: 'µs of delay, median of the deltas' },
  },
  { name: 'ws-text', says: 'text, over a WebSocket', ...ONE_BY_ONE, ...OVER_WEBSOCKET, ...text },
  { name: 'ws-paced', says: 'paced, over WebSockets', ...ONE_BY_ONE, ...OVER_WEBSOCKET, ...paced },
  { name: 'ws-tools', says: 'tools, run by the app', ...ONE_BY_ONE, ...OVER_WEBSOCKET, ...tools },
  { name: 'ws-tiny', says: 'tiny, over a WebSocket', ...ONE_BY_ONE, ...OVER_WEBSOCKET, ...tiny },
  {
    name: 'chat-text',
    says: 'chat over HTTP (AI SDK stream): 2,000 deltas, a write each',
    ...ONE_BY_ONE,
    ...OVER_HTTP,
    ...text,
    path: `text-${DELTAS}-e`,
  },
  { name: 'chat-joined', says: 'the same in one write', ...ONE_BY_ONE, ...OVER_HTTP, ...text },
  { name: 'chat-paced', says: 'paced, as chats over HTTP', ...ONE_BY_ONE, ...OVER_HTTP, ...paced },
  ...ADAPTERS,
]
