// A tool's context for tests: everything is there, and nothing comes of it.
import type { ToolContext } from '../agent/tool.ts'
import { BatonError } from '../errors.ts'

/** `ask` is declined, as where nobody can be asked; `generate` has no model; `signal` never aborts, and nothing was said before. What `change` names is taken in its place. */
export function createToolContext(change: Partial<ToolContext> = {}): ToolContext {
  return {
    session: 'session',
    agent: 'agent',
    principal: { id: 'anonymous' },
    callId: 'call_1_0',
    turn: 1,
    attempt: 1,
    idempotencyKey: 'session/call_1_0',
    signal: NEVER as unknown as ToolContext['signal'], // the platform's own where it has one
    services: {},
    log: { info: () => {}, warn: () => {} },
    messages: () => Promise.resolve([]),
    progress: () => {},
    plan: () => {},
    ask: () => Promise.reject(new BatonError({ code: 'question_declined', message: 'nobody is here to be asked' })),
    generate: () => Promise.reject(new BatonError({ code: 'unknown_model', message: 'there is no model here' })),
    ...change,
  }
}

const NEVER = {
  aborted: false,
  reason: undefined,
  addEventListener: () => {},
  removeEventListener: () => {},
}
