// What users import from @baton/tools/coding-sessions.
import type { Tool } from '@baton/core'
import { analyzeSessionsTool } from './analyze-sessions.ts'
import { listSessionsTool } from './list-sessions.ts'
import { readSessionTool } from './read-session.ts'
import { searchSessionsTool } from './search-sessions.ts'
import type { CodingSessionOptions } from './session-kit.ts'
import { openSessionKit } from './session-kit.ts'

export type { CodingSessionOptions } from './session-kit.ts'

/**
 * `session.list`, `session.search`, `session.read` and `session.analyze` over the sessions that Claude Code and Codex keep on this machine.
 * All are pure, and show only sessions of the workspace unless `scope` is `all`.
 * @throws BatonError `invalid_option`
 */
export function codingSessionTools(options: CodingSessionOptions): readonly Tool[] {
  const kit = openSessionKit(options)
  return [listSessionsTool(kit), searchSessionsTool(kit), readSessionTool(kit), analyzeSessionsTool(kit)]
}
