// Calls of agents below, as people see them: whose they are, and what of them only that agent knows.
import type { CallView } from '@baton/core/internal'

/** The title of a call; that of a call below begins with the names of its agents. */
export function showTitle({ name, title, path }: Pick<CallView, 'name' | 'title' | 'path'>): string | undefined {
  return path ? nameAgents(path, title ?? name) : title
}

/** The names of the agents on a path, followed by what the last one asks or does. */
export function nameAgents(path: NonNullable<CallView['path']>, what: string): string {
  return [...path.map(({ agent }) => agent), what].join(' › ')
}

/**
 * Words for a call below that was approved and is over: its result is in the log of its agent. Undefined for all others.
 */
export function showEndBelow({ path, runs, result }: CallView): string | undefined {
  if (!path || runs === 'client' || result?.type !== 'unknown') return undefined
  return `The agent "${path.at(-1)?.agent ?? ''}" has the result.`
}
