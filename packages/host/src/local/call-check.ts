// What the host finds out about a call before the machine sees it: are its arguments valid, must a person approve it?
// Both ask code of others, which may throw or hang; such a call does not run, and the model is told why.
import type { Environment, Logger, Tool } from '@baton/core'
import { BatonError } from '@baton/core'
import type { CallCheck, State } from '@baton/core/machine'
import { listClientTools } from '@baton/core/machine'
import type { ArgumentValidator } from './arguments.ts'
import { hashArguments } from './arguments.ts'
import { within } from './deadline.ts'
import { messageOf } from './thrown-message.ts'

export interface CallCheckInit {
  readonly session: string
  readonly tools: readonly Tool[]
  readonly validator: ArgumentValidator
  readonly environment: Environment
  readonly log: Logger
  readonly tokenHash: (callKey: string) => string
}

/** Milliseconds that a schema and an approval function may take together. */
const CHECK_MS = 10_000

/** Never rejects. */
export async function checkCall(
  init: CallCheckInit,
  state: State,
  call: { readonly name: string; readonly arguments: string },
): Promise<CallCheck> {
  const { name } = call
  const argumentsHash = hashArguments(call.arguments)
  const tool = init.tools.find((candidate) => candidate.name === name)
  const input = tool?.input ?? clientSchema(state, name)
  if (!input) return { argumentsHash }
  const look = async (): Promise<CallCheck> => {
    const checked = await init.validator.validate({ input }, call.arguments)
    if (!checked.ok) return { argumentsHash, invalid: checked.issues }
    const asks = typeof tool?.approval === 'function' ? await tool.approval(checked.value) : tool?.approval
    if (!asks) return { argumentsHash }
    return { argumentsHash, asks: true }
  }
  try {
    return await within(init.environment.timers, { timeoutMs: CHECK_MS, error: tooSlow }, look())
  } catch (cause) {
    const why = messageOf(cause)
    init.log.warn('a call could not be checked', { session: init.session, tool: name, cause: why })
    return { argumentsHash, invalid: `the call was not run, because it could not be checked: ${why}` }
  }
}

function tooSlow(): BatonError {
  return new BatonError({ code: 'internal', message: `its schema or its approval took longer than ${CHECK_MS} ms` })
}

function clientSchema(state: State, name: string): Tool['inputSchema'] | undefined {
  // Checked by the front that brought it: the root is an object.
  return listClientTools(state).find((tool) => tool.name === name)?.inputSchema as Tool['inputSchema'] | undefined
}
