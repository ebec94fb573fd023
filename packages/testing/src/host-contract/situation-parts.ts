// Building blocks of situations: tools, steps of the scripted model, and what each party observed.
import type { Accepted, ContentPart, Refused, Session, SessionEvent, Tool, ToolContext } from '@baton/core/internal'
import { frontOf, tool } from '@baton/core/internal'
import type { Outcome, UserCommand } from '@baton/core/machine'
import type { ScriptedModel, ScriptedStep } from '@baton/core/testing'

/** A tool named `act` that accepts any object as arguments. */
export function act(
  execute: (input: unknown, context: ToolContext) => unknown,
  more: Partial<Omit<Tool, 'execute' | 'name'>> & { readonly name?: string } = {},
): Tool {
  const { name = 'act', ...rest } = more
  const made = tool({ name, description: name, input: { type: 'object' }, effect: 'pure', execute })
  return { ...made, ...rest }
}

/** A client tool. */
export function createClientTool(name: string, effect: 'pure' | 'once' = 'pure'): Tool {
  return tool({ name, description: name, input: { type: 'object' }, effect })
}

/** A value that JSON cannot represent. */
export function createCyclic(): object {
  const cyclic: { self?: object } = {}
  cyclic.self = cyclic
  return cyclic
}

/** A step that calls tools by name, with `{}`. */
export function listCalls(...names: readonly string[]): ScriptedStep {
  return { calls: names.map((name) => ({ name, arguments: {} })) }
}

/** Results of the model's last calls, as it read them. */
export function resultsTold(model: ScriptedModel): readonly { readonly isError: boolean; readonly text: string }[] {
  const last = model.requests.at(-1)?.messages.findLast((message) => message.role === 'tool')
  return (last?.parts ?? []).map(({ isError, content }) => ({
    isError,
    text: content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join(''),
  }))
}

/** Texts that the model read, newest last. */
export function textsTold(model: ScriptedModel, role: 'user' | 'assistant'): readonly string[] {
  return (model.requests.at(-1)?.messages ?? [])
    .filter((message) => message.role === role)
    .map((message) => message.parts.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join(''))
}

/** Collects events as they arrive. */
export function collect(stream: AsyncIterable<SessionEvent>): {
  readonly events: readonly SessionEvent[]
  readonly done: Promise<void>
} {
  const seen: SessionEvent[] = []
  const read = async (): Promise<void> => {
    for await (const event of stream) seen.push(event)
  }
  return { events: seen, done: read() }
}

/** A promise that never settles. */
export function never(): Promise<never> {
  return new Promise(() => {})
}

/** Id of the first call of the first turn: worlds count their ids, and a host takes one for itself. */
export const CALL = 'call_id2_1_0'

type Submitted = Promise<Accepted | Refused>

/** An app of an anonymous user, whose front submits each of its messages as an input; it can do nothing by default. */
export function connectApp(
  session: Session,
  {
    connection,
    ...can
  }: {
    readonly connection: string
    /** It runs its calls one after another. */
    readonly sequential?: boolean
    readonly claims?: boolean
    readonly asks?: boolean
  },
) {
  const { submit } = frontOf(session)
  const abilities = { sequential: false, claims: false, asks: false, reportsPlayback: false, ...can }
  const { asks } = abilities
  return {
    attach: (): Submitted => submit({ type: 'client-attached', connection, principal: 'anonymous', ...abilities }),
    detach: (): Submitted => submit({ type: 'client-detached', connection }),
    say: (
      inputId: string,
      parts: readonly ContentPart[],
      options: Partial<Extract<UserCommand, { type: 'user-input' }>> = {},
    ): Submitted => submit({ type: 'user-input', inputId, parts, asks, ...options }),
    result: (callId: string, outcome: Outcome): Submitted =>
      submit({ type: 'tool-result', callId, connection, outcome }),
    reached: (callId: string, offer: number): Submitted => submit({ type: 'call-reached', callId, offer }),
    display: (turn: number, chars?: number): Submitted =>
      submit({ type: 'display-written', turn, ...(chars !== undefined && { chars }) }),
  }
}
