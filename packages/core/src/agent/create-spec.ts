// The plain-data part of an agent that the session machine sees: its limits, and what each tool may do.
import type { Spec, ToolSpec } from '../machine/spec.ts'
import { DEFAULT_INTERRUPT_MS } from '../machine/spec.ts'
import type { Agent } from './agent.ts'
import { RESERVED_NAME } from './reserved-name.ts'
import type { Tool } from './tool.ts'
import { runsWhere } from './tool.ts'

/** Characters per token if no better estimate is known. */
const CHARS_PER_TOKEN = 4

/**
 * The part of an agent that the machine sees. `models` are the candidates' ids as the host resolved them; `interruptMs`
 * is the host's setting (1,000): milliseconds for an aborted model to report its partial answer.
 */
export function createSpec(
  agent: Agent,
  models: readonly string[],
  contextTokens?: number,
  interruptMs = DEFAULT_INTERRUPT_MS,
): Spec {
  const schemas = agent.tools.map((tool) => JSON.stringify([tool.name, tool.description, tool.inputSchema]))
  // `result.read` is left out: a request has it after a result was too long.
  const offered = schemas.filter((_, at) => agent.tools[at]?.name !== RESERVED_NAME)
  const overheadChars = agent.instructions.length + offered.join('').length
  const windowTokens = agent.window.contextTokens ?? contextTokens
  const ending = agent.tools.filter(({ endsTurn }) => endsTurn).map(({ name }) => ({ tool: name }))
  const stopWhen = [...(agent.stopWhen ?? []), ...ending]
  const plain = {
    agent: agent.name,
    models,
    tools: agent.tools.map(createToolSpec),
    limits: agent.limits,
    window: {
      ...agent.window,
      overheadTokens: agent.window.overheadTokens || Math.ceil(overheadChars / CHARS_PER_TOKEN),
      ...(windowTokens !== undefined && {
        contextTokens: windowTokens,
        // In the window of a small model, the default reserve would leave no room for a question.
        reserveTokens: Math.min(agent.window.reserveTokens, Math.floor(windowTokens / 2)),
      }),
    },
    retry: agent.retry,
    batch: agent.batch,
    emptyAnswer: agent.emptyAnswer,
    ...(agent.firstTool !== undefined && { firstTool: agent.firstTool }),
    ...(agent.order && { order: agent.order }),
    ...(stopWhen.length > 0 && { stopWhen }),
    ...(agent.checkAnswer && { checksAnswer: true as const }),
  }
  return {
    ...plain,
    interruptMs,
    hash: shortHash(JSON.stringify([plain, agent.instructions, schemas, agent.settings, agent.outputSchema])),
  }
}

function createToolSpec(tool: Tool): ToolSpec {
  const { name, effect, timeoutMs, awayMs, fallback, parallel, onInterrupt, wake } = tool
  const { trust = 'trusted', source } = tool
  const provenance =
    trust === 'trusted' && source === undefined ? undefined : { trust, ...(source !== undefined && { source }) }
  return {
    name,
    effect,
    runs: runsWhere(tool),
    timeoutMs,
    parallel,
    onInterrupt,
    ...(awayMs !== undefined && { awayMs }),
    ...(fallback && { fallback: true }),
    ...(wake && { wake }),
    ...(provenance && { provenance }),
  }
}

/** 64 bits as 16 hexadecimal digits: two FNV-1a hashes with different offsets. */
export function shortHash(text: string): string {
  return fnv1a(text, 0x811c9dc5) + fnv1a(text, 0x7ee3623a)
}

function fnv1a(text: string, offset: number): string {
  let hash = offset
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
