// Calls in the background: which calls run there, and the tools for tasks. The session itself runs those; here are only their
// descriptions and arguments.
import type { Agent, JsonObject, Tool } from '@baton/core/internal'
import { BatonError, isJsonObject, makeTool, matchesPattern, parseJson, withFlag } from '@baton/core/internal'
import type { TaskOperation } from '@baton/core/machine'
import { BACKGROUND_FLAG, readGiven, RULES } from '@baton/core/machine'

type Background = NonNullable<Tool['background']>

/** Whether calls of a tool run in the background. `tool`: absent for a client's. */
export function findBackground({ background = {} }: Agent, name: string, tool?: Tool): Background {
  if (tool?.background !== undefined) return tool.background
  // The turn waits for a tool that runs alone, or whose result ends it.
  if (tool && (tool.source === undefined || !tool.parallel || tool.endsTurn)) return false
  return Object.entries(background).find(([pattern]) => matchesPattern(pattern, name))?.[1] ?? false
}

/** Whether a tool has an argument of this name itself; then no model chooses where its calls run. */
export function hasFlag({ properties }: JsonObject): boolean {
  return isJsonObject(properties) && Object.hasOwn(properties, BACKGROUND_FLAG)
}

export interface BackgroundCall {
  readonly isWanted: boolean
  /** Without the argument that is not the tool's. */
  readonly arguments: string
  readonly chooses?: true
}

export function readBackground(background: Background, text: string): BackgroundCall {
  if (background !== 'model') return { isWanted: background, arguments: text }
  if (!text.includes(BACKGROUND_FLAG)) return { isWanted: false, arguments: text }
  const parsed = parseJson(text)
  if (!parsed.ok || !isJsonObject(parsed.value)) return { isWanted: false, arguments: text }
  const isWanted = parsed.value[BACKGROUND_FLAG] === true
  return { isWanted, arguments: readGiven(text, true), chooses: true }
}

/** The tools of a session: with the argument for the background where the agent says so, and with the tools for tasks. */
export function withTaskTools(agent: Agent, tools: readonly Tool[]): readonly Tool[] {
  const all = agent.background ? tools.map((one) => offerBackground(agent, one)) : tools
  if (!hasTasks(agent, all)) return tools
  const made = createTaskTools()
  const taken = all.find(({ name }) => isTaskTool(name))
  if (taken)
    throw new BatonError({
      code: 'invalid_agent',
      message: `agent "${agent.name}": a tool is named "${taken.name}", which Baton needs for calls in the background`,
    })
  return [...all, ...made]
}

/** Whether a session with these tools gets the tools for tasks. */
export function hasTasks({ background: byName }: Agent, tools: readonly Tool[]): boolean {
  const isForBackground = ({ background = false, onInterrupt }: Tool): boolean =>
    background !== false || onInterrupt === 'background'
  return byName !== undefined || tools.some(isForBackground)
}

/** Whether a tool for tasks has the name. */
export function isTaskTool(name: string): boolean {
  return /^tasks\.(list|read|wait|cancel)$/.test(name)
}

function offerBackground(agent: Agent, one: Tool): Tool {
  const background = findBackground(agent, one.name, one)
  if (background === (one.background ?? false)) return one
  if (background !== 'model') return { ...one, background }
  // Its source may not keep a session from opening.
  if (hasFlag(one.inputSchema)) return { ...one, background: false }
  return { ...one, background, inputSchema: withFlag(one.name, one.inputSchema) }
}

const TASK: JsonObject = {
  type: 'string',
  minLength: 1,
  maxLength: 200,
  description: 'Id of the task, from its receipt',
}

function createTaskTools(): readonly Tool[] {
  const make = (
    operation: TaskOperation['type'],
    description: string,
    properties: JsonObject,
    required: string[],
  ): Tool => {
    const input = { type: 'object', properties, required, additionalProperties: false }
    const name = `tasks.${operation}`
    return { ...makeTool({ name, description, input, effect: 'pure', polls: true, defer: false }), operation }
  }
  const seconds: JsonObject = {
    type: 'integer',
    minimum: 1,
    maximum: RULES.waitSeconds,
    description: `How long to wait at most; ${WAIT_SECONDS} by default`,
  }
  const tasks: JsonObject = {
    type: 'array',
    items: TASK,
    minItems: 1,
    maxItems: RULES.endedTasks,
    description: 'Which tasks; all by default',
  }
  const all: JsonObject = { type: 'boolean', description: 'True: until all have ended. By default until one has' }
  return [
    make('list', 'Lists the tasks in the background, and what became of the last ones.', {}, []),
    make('read', 'Says how a task is doing, or all of its outcome once it has ended.', { task: TASK }, ['task']),
    make(
      'wait',
      'Waits until a task ends, and says its outcome. Use it only if you cannot go on without; else you are told when a task ends.',
      { tasks, all, seconds },
      [],
    ),
    make('cancel', 'Ends a task that is no longer needed.', { task: TASK }, ['task']),
  ]
}

/** Seconds of a wait that names none. */
const WAIT_SECONDS = 60

/** The arguments fit the tool's schema. */
export function readOperation(type: TaskOperation['type'], input: unknown): TaskOperation {
  const { task, tasks, all, seconds } = input as {
    readonly task: string
    readonly tasks?: readonly string[]
    readonly all?: boolean
    readonly seconds?: number
  } // validated
  switch (type) {
    case 'list':
      return { type }
    case 'read':
    case 'cancel':
      return { type, task }
    case 'wait':
      return { type, ...(tasks && { tasks }), ...(all === true && { all }), seconds: seconds ?? WAIT_SECONDS }
    default:
      return type satisfies never
  }
}
