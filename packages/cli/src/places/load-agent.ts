// Loads an agent from a file: its default export, an agent or a function that creates one for a folder. Node strips the
// types of TypeScript files.
import type { Agent } from '@baton/core'
import { BatonError } from '@baton/core'
import type { WorkspaceEditor } from '@baton/tools/workspace'
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { adviseImport } from '../words/advise-import.ts'
import { locateError } from '../words/locate-error.ts'

/** The working folder of an agent. */
export interface AgentPlace {
  /** An absolute path. */
  readonly cwd: string
  readonly additionalDirectories?: readonly string[]
  /** The services of an editor for files and commands; pass it to `workspaceTools`. */
  readonly editor?: WorkspaceEditor
}

export interface LoadedAgent {
  /** Whether the file creates an agent for each folder. */
  readonly isMade: boolean
  /** @throws BatonError `invalid_agent` */
  make(place: AgentPlace): Promise<Agent>
}

/**
 * Loads the agent of `folder`. @throws BatonError `invalid_agent`, in one line with its location, for any problem with
 * the file
 */
export async function loadAgent(file: string, folder: string): Promise<Agent> {
  const { make } = await loadAgentFile(file, folder)
  return await make({ cwd: folder })
}

/** @throws BatonError `invalid_agent`, in one line with its location, for any problem with the file */
export async function loadAgentFile(file: string, folder: string): Promise<LoadedAgent> {
  const path = resolve(folder, file)
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) throw wrong(file, 'does not exist')
  if (found.isDirectory()) throw wrong(file, 'is a folder; name the TypeScript or JavaScript file in it')
  let module: { readonly default?: unknown }
  try {
    // The exports of a module are unknown before it is loaded.
    module = (await import(pathToFileURL(path).href)) as { readonly default?: unknown }
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause)
    // This is the package.json written by `npm init -y`.
    const isCommon = cause instanceof SyntaxError && /import statement outside a module|token 'export'/.test(said)
    const place = isCommon ? undefined : locateError(cause, path, folder)
    const why = isCommon
      ? `it is an ES module, loaded as CommonJS; run "npm pkg set type=module", or name it .mts`
      : `${place === undefined ? '' : `${place}: `}${said}${adviseImport(said)}`
    throw wrong(file, `could not be loaded: ${why}`, cause)
  }
  const made = module.default
  if (isAgent(made)) return { isMade: false, make: () => Promise.resolve(made) }
  if (typeof made !== 'function')
    throw wrong(file, 'must have an agent as its default export: export default defineAgent({ ... })')
  return { isMade: true, make: (place) => makeAgent(file, made, place) }
}

/** @throws BatonError `invalid_agent`, and the function's own errors */
async function makeAgent(file: string, make: Function, place: AgentPlace): Promise<Agent> {
  const agent: unknown = await make(place)
  if (isAgent(agent)) return agent
  throw wrong(file, 'has a function as its default export that returns no agent: return defineAgent({ ... })')
}

/** Checked by its shape, because the file may use another copy of the package. */
function isAgent(value: unknown): value is Agent {
  if (typeof value !== 'object' || value === null) return false
  const fields = value as Partial<Record<keyof Agent, unknown>>
  const { name, models, tools, limits, window } = fields
  return (
    typeof name === 'string' &&
    Array.isArray(models) &&
    Array.isArray(tools) &&
    typeof limits === 'object' &&
    typeof window === 'object'
  )
}

function wrong(file: string, why: string, cause?: unknown): BatonError {
  return new BatonError({ code: 'invalid_agent', message: `the agent file ${file} ${why}`, cause })
}
