// A tool's context for tests: complete, and without effect.
import type { ToolContext } from '../agent/tool.ts'
import { BatonError } from '../errors.ts'

/**
 * `ask` is declined, as if no user can be asked; `generate` has no model, `openSession` no host; `signal` never aborts,
 * and the conversation is empty. `change` overrides fields.
 */
export function createToolContext(change: Partial<ToolContext> = {}): ToolContext {
  return {
    session: 'session',
    agent: 'agent',
    principal: { id: 'anonymous' },
    callId: 'call_1_0',
    turn: 1,
    attempt: 1,
    idempotencyKey: 'session/call_1_0',
    signal: NEVER as unknown as ToolContext['signal'], // the platform's own if it has one
    services: {},
    log: { info: () => {}, warn: () => {} },
    messages: () => Promise.resolve([]),
    progress: () => {},
    plan: () => {},
    ask: () => Promise.reject(new BatonError({ code: 'question_declined', message: 'no user can be asked here' })),
    generate: () => Promise.reject(new BatonError({ code: 'unknown_model', message: 'no model is available here' })),
    reminders: () => Promise.reject(new BatonError({ code: 'illegal_input', message: 'there is no host here' })),
    openSession: () => Promise.reject(new BatonError({ code: 'illegal_input', message: 'there is no host here' })),
    ...change,
  }
}

const NEVER = {
  aborted: false,
  reason: undefined,
  addEventListener: () => {},
  removeEventListener: () => {},
}
