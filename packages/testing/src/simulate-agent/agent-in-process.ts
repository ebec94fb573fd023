// The user's own agent inside a simulated process: its models and tools really run, in a process that may die around
// them. While one of them is working, no virtual time passes.
import type { Agent, ClientHandlers, Model, Tool, ToolContext } from '@baton/core'
import type { SimulatedProcess } from '../simulator/process.ts'

/** Real effects, whatever the log says. */
export interface RealWork {
  /** Starts of each call's tool, by call id. */
  readonly starts: Map<string, { readonly tool: string; readonly effect: string; count: number }>
  /** Number of models and tools working right now. */
  busy: number
}

export function putInProcess(agent: Agent, process: SimulatedProcess, work: RealWork): Agent {
  return {
    ...agent,
    models: agent.models.map((model) => (typeof model === 'string' ? model : putModel(model, process, work))),
    tools: agent.tools.map((tool) => putTool(tool, process, work)),
  }
}

export function putModel(model: Model, process: SimulatedProcess, work: RealWork): Model {
  const run: Model['run'] = async (...asked) => {
    await process.point('model, before the request')
    const answer = await whileBusy(work, () => model.run(...asked))
    await process.point('model, at its end')
    return answer
  }
  const { id, provider, capabilities } = model
  return { id, provider, capabilities, run }
}

function putTool(tool: Tool, process: SimulatedProcess, work: RealWork): Tool {
  const { execute } = tool
  if (!execute) return tool
  return {
    ...tool,
    execute: async (input, context) => {
      await process.point('tool, before its effect')
      noteStart(work, context.callId, tool)
      const ask: ToolContext['ask'] = async (question) => {
        work.busy -= 1
        try {
          return await context.ask(question)
        } finally {
          work.busy += 1
        }
      }
      const result = await whileBusy(work, async () => await execute(input, { ...context, ask }))
      await process.point('tool, after its effect')
      return result
    },
  }
}

/** Wraps a client's handlers so that their starts count too. */
export function watchHandlers(handlers: ClientHandlers, { tools }: Agent, work: RealWork): ClientHandlers {
  const watched = Object.entries(handlers).map(([name, handle]): [string, ClientHandlers[string]] => [
    name,
    (input, call) => {
      const tool = tools.find((each) => each.name === name)
      if (tool) noteStart(work, call.callId, tool)
      return whileBusy(work, async () => await handle(input, call))
    },
  ])
  return Object.fromEntries(watched)
}

function noteStart({ starts }: RealWork, callId: string, { name, effect }: Tool): void {
  const known = starts.get(callId) ?? { tool: name, effect, count: 0 }
  starts.set(callId, known)
  known.count += 1
}

async function whileBusy<Value>(work: RealWork, act: () => Promise<Value>): Promise<Value> {
  work.busy += 1
  try {
    return await act()
  } finally {
    work.busy -= 1
  }
}
