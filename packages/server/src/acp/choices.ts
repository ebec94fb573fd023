// A user's choices for a session in an editor: the model, its thinking effort, and how freely it may act.
import type { Agent, Effort, ModelSettings, PrepareStep, StepChange, StepToPrepare } from '@baton/core/internal'
import { BatonError, describeValue } from '@baton/core/internal'
import type { ShownChoice } from './updates.ts'

/**
 * `ask`: as the agent is configured. `read`: only tools without effects. `allow`: grants approvals that no policy
 * requires.
 */
export type Mode = 'ask' | 'read' | 'allow'

export const MODES: readonly { readonly id: Mode; readonly name: string; readonly description: string }[] = [
  { id: 'ask', name: 'Ask', description: 'Asks before it acts, if its tools require it' },
  { id: 'read', name: 'Read only', description: 'Uses only tools that change nothing' },
  {
    id: 'allow',
    name: 'Allow',
    description: 'Acts without asking, unless a policy requires it because of untrusted data',
  },
]

const THINKING: readonly { readonly value: Effort | 'default'; readonly name: string }[] = [
  { value: 'default', name: 'Agent default' },
  { value: 'none', name: 'None' },
  { value: 'low', name: 'Low' },
  { value: 'medium', name: 'Medium' },
  { value: 'high', name: 'High' },
  { value: 'max', name: 'Most' },
]

export interface Chosen {
  readonly model: string
  readonly models: readonly string[]
  readonly thinking: string
  readonly mode: Mode
  /** The models that may be chosen. */
  readonly allowed: readonly string[] | 'any'
}

export function listChoicesOf({ model, models, thinking, mode, allowed }: Chosen): readonly ShownChoice[] {
  const known = models.filter((id) => id === model || allowed === 'any' || allowed.includes(id))
  const all: readonly ShownChoice[] = [
    {
      id: 'mode',
      name: 'Mode',
      description: 'How freely the agent acts',
      category: 'mode',
      current: mode,
      options: MODES.map(({ id, name, description }) => ({ value: id, name, description })),
    },
    {
      id: 'model',
      name: 'Model',
      description: 'The model that answers, starting with the next turn',
      category: 'model',
      current: model,
      options: (known.includes(model) ? known : [model, ...known]).map((id) => ({ value: id, name: id })),
    },
    {
      id: 'thinking',
      name: 'Thinking',
      description: 'How much the model thinks before it answers, if it can',
      category: 'thought_level',
      current: thinking,
      options: THINKING,
    },
  ]
  return allowed === 'any' ? all : all.filter(({ id }) => id !== 'thinking')
}

/** @throws BatonError `invalid_option` for an option or value that is not offered */
export function checkChoice(choices: readonly ShownChoice[], id: string, value: unknown): ShownChoice['id'] {
  const found = choices.find((choice) => choice.id === id)
  const wrong = (message: string): BatonError => new BatonError({ code: 'invalid_option', message })
  if (!found)
    throw wrong(`there is no option ${show(id)}; the options are ${choices.map((choice) => choice.id).join(', ')}`)
  if (found.options.some((option) => option.value === value)) return found.id
  throw wrong(`${id} can be ${found.options.map((option) => option.value).join(', ')}, not ${show(value)}`)
}

function show(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : describeValue(value)
}

export function isMode(value: unknown): value is Mode {
  return MODES.some(({ id }) => id === value)
}

/** @throws BatonError `invalid_option` */
export function readMode(value: unknown): Mode {
  if (isMode(value)) return value
  const modes = MODES.map(({ id }) => id).join(', ')
  throw new BatonError({ code: 'invalid_option', message: `there is no mode ${show(value)}; the modes are ${modes}` })
}

/** Null removes the session's own settings. */
export function readThinking(value: string): ModelSettings | null {
  const found = THINKING.find((level) => level.value === value)
  return !found || found.value === 'default' ? null : { effort: found.value }
}

/** Wraps an agent for a session whose mode may change at any time. */
export function obeyMode(agent: Agent, modeOf: () => Mode): Agent {
  const harmless = new Set(agent.tools.filter(({ effect }) => effect === 'pure').map(({ name }) => name))
  const own = agent.prepareStep
  const narrow = (step: StepToPrepare, change: StepChange | undefined): StepChange | undefined => {
    if (modeOf() !== 'read') return change
    // The effects of dynamic tools are not known here.
    const tools = (change?.tools ?? step.tools).filter((name) => harmless.has(name))
    const { toolChoice, ...rest } = change ?? {}
    const isTaken = toolChoice?.type === 'tool' && !tools.includes(toolChoice.name)
    return { ...rest, tools, ...(toolChoice && !isTaken && { toolChoice }) }
  }
  const prepareStep: PrepareStep = (step) => {
    const change = own?.(step)
    return change instanceof Promise ? change.then((later) => narrow(step, later)) : narrow(step, change)
  }
  return { ...agent, prepareStep }
}
