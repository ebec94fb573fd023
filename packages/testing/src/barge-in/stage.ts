// A world with the agent of the barge-in tests, and the results read at its end.
import type { Message, Tool } from '@baton/core/internal'
import { readText, tool } from '@baton/core/internal'
import type { ContractWorld, ContractWorldOptions, HostKind } from '../host-contract/host-kind.ts'
import type { Cell, ToolKind } from './cells.ts'
import { STEPS, TOOL_MS, WORD_MS } from './cells.ts'

export interface BargeStage {
  readonly world: ContractWorld
  /** How often a server tool was started. */
  readonly runs: () => number
}

/** The model's answer to everything else. */
const REPLY = 'You said'

const INPUT = { type: 'object', properties: {} } as const

/** The tool waits in the world's time, which starts with the world. */
export async function createBargeStage(kind: HostKind, { tool: name }: Cell): Promise<BargeStage> {
  let runs = 0
  const made: { world?: ContractWorld } = {}
  const execute = async (): Promise<string> => {
    runs += 1
    await made.world?.time.wait(TOOL_MS)
    return 'booked'
  }
  const server = { name: 'act', description: 'Acts', input: INPUT, execute, timeoutMs: 60_000 }
  const tools: Readonly<Record<ToolKind, Tool>> = {
    cancel: tool({ ...server, effect: 'pure' }),
    finish: tool({ ...server, effect: 'idempotent', onInterrupt: 'finish' }),
    detach: tool({ ...server, effect: 'once', onInterrupt: 'detach' }),
    once: tool({ ...server, effect: 'once', onInterrupt: 'cancel' }),
    approval: tool({ ...server, effect: 'pure', approval: true }),
    client: tool({ name: 'act', description: 'Acts', input: INPUT, effect: 'once' }),
  }
  const steps: ContractWorldOptions['steps'] = ({ messages }) => {
    const last = messages.at(-1)
    if (last?.role === 'tool') return { text: STEPS[1], pieceMs: WORD_MS }
    if (last?.role === 'user' && readText(last.parts).endsWith('go'))
      return { text: STEPS[0], pieceMs: WORD_MS, calls: [{ name: 'act', arguments: {} }] }
    return { text: `${REPLY} ${last?.role === 'user' ? readText(last.parts) : ''}.` }
  }
  const world = await kind.createWorld({ tools: [tools[name]], steps, retry: { baseMs: 1 } })
  made.world = world
  return { world, runs: () => runs }
}

export interface Asked {
  /** Id of the interrupted answer. */
  readonly text: string
  readonly calls: number
  readonly results: readonly string[]
  readonly users: readonly string[]
}

/** The model request that contains the input with this text: its history up to the answers to later inputs. */
export function readAsked({ world }: BargeStage, text: string): Asked | undefined {
  const request = world.model.requests.find(({ messages }) => endsWith(messages.at(-1), text))
  if (!request) return undefined
  const { messages } = request
  const said = messages.flatMap((message) => (message.role === 'assistant' ? message.parts : []))
  const texts = said.flatMap((part) => (part.type === 'text' && !part.text.startsWith(REPLY) ? [part.text] : []))
  return {
    text: texts.join('\n\n'),
    calls: said.filter(({ type }) => type === 'call').length,
    results: messages.flatMap((message) =>
      message.role === 'tool' ? message.parts.map(({ content }) => readText(content)) : [],
    ),
    users: messages.flatMap((message) => (message.role === 'user' ? [readText(message.parts)] : [])),
  }
}

function endsWith(message: Message | undefined, text: string): boolean {
  return message?.role === 'user' && readText(message.parts).endsWith(text)
}
