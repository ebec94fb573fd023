// Exports of @baton/kits/coding-sessions.
import type { KitTool } from '@baton/tools/internal'
import { analyzeSessionsTool } from './analyze-sessions.ts'
import { listSessionsTool } from './list-sessions.ts'
import { readSessionTool } from './read-session.ts'
import { searchSessionsTool } from './search-sessions.ts'
import type { CodingSessionOptions } from './session-kit.ts'
import { openSessionKit } from './session-kit.ts'

export type { CodingSessionOptions } from './session-kit.ts'

/** Call events of these tools have typed arguments and results. */
export type CodingSessionTool = KitTool<
  ReturnType<typeof listSessionsTool | typeof searchSessionsTool | typeof readSessionTool | typeof analyzeSessionsTool>
>

/**
 * `session.list`, `session.search`, `session.read` and `session.analyze` over the sessions that Claude Code, Codex,
 * Gemini CLI and OpenCode store on this machine. All are pure and show only sessions of the workspace unless `scope` is
 * `all`.
 * @throws BatonError `invalid_option`
 */
export function codingSessionTools(options: CodingSessionOptions): readonly CodingSessionTool[] {
  const kit = openSessionKit(options)
  return [listSessionsTool(kit), searchSessionsTool(kit), readSessionTool(kit), analyzeSessionsTool(kit)]
}
